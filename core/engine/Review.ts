/**
 * When rules are looked at again for better anchors, and which: some of those that hang on the terms of an event, after
 * many of the first events and ever fewer. So a term is relieved the sooner the more often it comes up and the more hangs
 * on it, and a rule that no event leads to costs nothing.
 */

/** One in so many rules, but not too many at a time, so that no event waits for long. */
const SHARE = 4
const AT_ONCE = 32
/** It is time again when there have been this part more events, but after so many at least and at most: what people talk about changes. */
const PART = 1 / 2_048
const SHORTEST = 4
const LONGEST = 1_024

export class Review {
  private events = 0
  private nextAt = 1

  /** To be asked after each event. */
  isDue(): boolean {
    this.events++
    if (this.events < this.nextAt) return false
    this.nextAt = this.events + Math.min(Math.max(SHORTEST, this.events * PART), LONGEST)
    return true
  }

  /** To be told how many of the last choice have better anchors now: as long as it is many, the next time is soon. */
  note(moved: number, chosen: number): void {
    if (SHARE * moved > chosen) this.nextAt = this.events + SHORTEST
  }

  /** Some of so many programs, others each time. */
  choice(programs: Int32Array, count: number): Int32Array {
    const length = Math.min(Math.ceil(count / SHARE), AT_ONCE)
    const step = count / length
    const first = (this.events % 97) / 97
    return Int32Array.from({ length }, (_, turn) => programs[Math.floor((first + turn) * step)] ?? 0)
  }
}
