/** A limit per minute of the clock, for all callers together. */
export class PerMinute {
  private window = 0
  private used = 0

  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** Counts one. 0 below the limit, otherwise the seconds until the next minute. */
  take(now: number): number {
    const window = Math.floor(now / MINUTE_MILLIS)
    if (window !== this.window) {
      this.window = window
      this.used = 0
    }
    return this.used++ < this.limit ? 0 : Math.ceil((MINUTE_MILLIS - (now % MINUTE_MILLIS)) / 1_000)
  }
}

// ---- helpers ----

const MINUTE_MILLIS = 60_000
