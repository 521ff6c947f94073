/** How late posts arrive on the stream: the 99th percentile of the last hour, or the delay of the last post if it is longer. */

export class Delays {
  /** Posts of the last hour by delay, in whole seconds, rounded up. */
  private readonly counts: Array<number> = new Array(MAX_SECONDS + 1).fill(0)
  private total = 0
  /** Of the last post, in whole seconds: a stream that falls behind does so before the percentile shows it. */
  private last = 0
  /** Oldest first. */
  private minutes: Array<{ readonly minute: number; readonly counts: Array<number> }> = []

  /** For a post that was read as soon as it arrived. Times in milliseconds. */
  add(createdAt: number, now: number): void {
    const seconds = Math.min(Math.max(Math.ceil((now - createdAt) / 1_000), 0), MAX_SECONDS)
    const minute = Math.floor(now / 60_000)
    let current = this.minutes.at(-1)
    if (current?.minute !== minute) {
      this.forgetBefore(minute - KEPT_MINUTES)
      current = { minute, counts: new Array(MAX_SECONDS + 1).fill(0) }
      this.minutes.push(current)
    }
    for (const counts of [current.counts, this.counts]) counts[seconds] = (counts[seconds] ?? 0) + 1
    this.total++
    this.last = seconds
  }

  /** In milliseconds. Posts that were made longer ago than this have arrived. */
  get millis(): number {
    // With fewer posts, the percentile is not known.
    if (this.total < MIN_POSTS) return Math.max(UNKNOWN_MILLIS, this.percentile(1) * 1_000)
    return Math.max(MIN_MILLIS, Math.max(this.percentile(0.99), this.last) * 1_000)
  }

  private percentile(share: number): number {
    let seen = 0
    for (const [seconds, count] of this.counts.entries()) {
      seen += count
      if (seen >= this.total * share) return seconds
    }
    return MAX_SECONDS
  }

  private forgetBefore(minute: number): void {
    while ((this.minutes[0]?.minute ?? minute) < minute) {
      for (const [seconds, count] of (this.minutes.shift()?.counts ?? []).entries()) {
        this.counts[seconds] = (this.counts[seconds] ?? 0) - count
        this.total -= count
      }
    }
  }
}

// ---- helpers ----

const KEPT_MINUTES = 60

/** A later post waited somewhere, for instance for a store that was down. */
const MAX_SECONDS = 60

const MIN_POSTS = 100

const MIN_MILLIS = 2_000

/** X's own figure is 6 to 7 seconds; it once was 10. */
const UNKNOWN_MILLIS = 10_000
