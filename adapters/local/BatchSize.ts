/**
 * The size of the batches in which one request stores its matches: as many as the store takes within a short time. While
 * others use the store too, a batch takes longer, and the next one is smaller: they get their turns in between.
 */
export class BatchSize {
  private size = START

  isReached(matches: number): boolean {
    return matches >= this.size
  }

  /** `millis`: how long a full batch took. */
  adapt(millis: number): void {
    if (millis > TARGET_MILLIS) this.size = Math.max(MIN, Math.floor(this.size * Math.max(0.5, TARGET_MILLIS / millis)))
    else if (millis < TARGET_MILLIS / 2) this.size = Math.min(MAX, this.size * 2)
  }
}

// ---- helpers ----

/** The embedded store blocks the process while it writes. */
const TARGET_MILLIS = 25

const START = 50
const MIN = 20
const MAX = 200
