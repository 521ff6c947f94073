/** How often terms come up in the stream, learned as events go by: what a rule's rarest term is. */
import { entries, isOnTop } from "./eventTerms.ts"

/** Counters are shared by terms that fall together; the smaller of a term's two counters is near the truth. */
const COUNTERS = 1 << 18
const MOST = 0xffff

/** All of the first events are learned from, then one in so many. */
const FIRST_EVENTS = 8_192
const STEP = 128

export class Frequencies {
  private readonly counters = new Uint16Array(COUNTERS)
  private events = 0
  /** Events whose terms were counted. */
  private learned = 0

  get bytes(): number {
    return this.counters.byteLength
  }

  /** In how many of the events counted the term was. */
  of(high: number, low: number): number {
    return Math.min(this.counters[high >>> SHIFT] ?? 0, this.counters[low >>> SHIFT] ?? 0)
  }

  /** What a term is held to be worth that is in this share of all events. */
  share(part: number): number {
    return part * this.learned
  }

  /** The terms of the event at hand, which has so many of them. */
  learn(count: number): void {
    this.events++
    if (this.events > FIRST_EVENTS && this.events % STEP !== 0) return
    this.learned++
    for (let term = 1; term <= count; term++) {
      const high = entries[4 * term] ?? 0
      const low = entries[4 * term + 1] ?? 0
      // Each once, however often the event has it. That a few are passed over makes no difference.
      if (!isOnTop(term, high)) continue
      this.raise(high >>> SHIFT)
      this.raise(low >>> SHIFT)
    }
  }

  private raise(counter: number): void {
    const value = (this.counters[counter] ?? 0) + 1
    this.counters[counter] = value
    if (value === MOST) this.halve()
  }

  /** Old times count for less and less. */
  private halve(): void {
    const { counters } = this
    for (let counter = 0; counter < COUNTERS; counter++) counters[counter] = (counters[counter] ?? 0) >>> 1
    this.learned /= 2
  }
}

// ---- helpers ----

const SHIFT = 32 - 18
