/** How often posts come, so that a stream that has gone deaf can be told from one with nothing to say. */

/** All in milliseconds. X has been seen to keep a connection alive for hours and send no post on it. */
export class PostRhythm {
  private lastAt: number | undefined
  private gaps = 0
  private meanGap = 0
  private quietSince = 0

  /** A connection was opened. */
  opened(now: number): void {
    this.quietSince = now
  }

  saw(now: number): void {
    if (this.lastAt !== undefined) {
      this.gaps++
      // Of about the last hundred gaps: rules come and go, and the rate with them.
      this.meanGap += (now - this.lastAt - this.meanGap) / Math.min(this.gaps, 100)
    }
    this.lastAt = now
    this.quietSince = now
  }

  quietFor(now: number): number {
    return now - this.quietSince
  }

  isTooQuiet(now: number): boolean {
    const usual = this.gaps === 0 ? LONGEST : 20 * this.meanGap
    return this.quietFor(now) >= Math.min(Math.max(usual, SHORTEST), LONGEST)
  }
}

// ---- helpers ----

const SHORTEST = 10 * 60_000
const LONGEST = 6 * 60 * 60_000
