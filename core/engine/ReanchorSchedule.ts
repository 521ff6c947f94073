/**
 * Decides when to re-check anchors, and for which rules: a sample of the current event's candidates. Terms that are
 * frequent and have many rules are therefore relieved first, and a rule without candidates costs nothing.
 */

/** Re-checks one in SAMPLE_SHARE candidates, at most MAX_SAMPLE per event, to keep `match` short. */
const SAMPLE_SHARE = 4
const MAX_SAMPLE = 32
/** The interval grows with the number of events, within these limits: topics change. */
const INTERVAL_GROWTH = 1 / 2_048
const MIN_INTERVAL = 4
const MAX_INTERVAL = 1_024

export class ReanchorSchedule {
  private events = 0
  private nextAt = 1

  /** Call once per event. */
  isDue(): boolean {
    this.events++
    if (this.events < this.nextAt) return false
    this.nextAt = this.events + Math.min(Math.max(MIN_INTERVAL, this.events * INTERVAL_GROWTH), MAX_INTERVAL)
    return true
  }

  /** Shortens the interval while many of the sampled rules still move. */
  record(moved: number, chosen: number): void {
    if (SAMPLE_SHARE * moved > chosen) this.nextAt = this.events + MIN_INTERVAL
  }

  /** An evenly spaced sample. The start varies from call to call. */
  sample(programs: Int32Array, count: number): Int32Array {
    const length = Math.min(Math.ceil(count / SAMPLE_SHARE), MAX_SAMPLE)
    const step = count / length
    const first = (this.events % 97) / 97
    return Int32Array.from({ length }, (_, turn) => programs[Math.floor((first + turn) * step)] ?? 0)
  }
}
