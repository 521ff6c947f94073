/** Tracks the usual time between posts, to detect a stalled stream: X can send keep-alives for hours and no posts. */

/** All times in milliseconds. */
export class PostRate {
  private lastPostAt: number | undefined
  private intervals = 0
  private meanInterval = 0
  private quietSince = 0

  connectionOpened(now: number): void {
    this.quietSince = now
  }

  postReceived(now: number): void {
    if (this.lastPostAt !== undefined) {
      this.intervals++
      // A moving average over about 100 intervals: the rate changes when rules do.
      this.meanInterval += (now - this.lastPostAt - this.meanInterval) / Math.min(this.intervals, 100)
    }
    this.lastPostAt = now
    this.quietSince = now
  }

  quietFor(now: number): number {
    return now - this.quietSince
  }

  isTooQuiet(now: number): boolean {
    const threshold = this.intervals === 0 ? MAX_QUIET_MILLIS : 20 * this.meanInterval
    return this.quietFor(now) >= Math.min(Math.max(threshold, MIN_QUIET_MILLIS), MAX_QUIET_MILLIS)
  }
}

// ---- helpers ----

const MIN_QUIET_MILLIS = 10 * 60_000
const MAX_QUIET_MILLIS = 6 * 60 * 60_000
