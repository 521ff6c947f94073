/** Estimates how many events contain a term, from a sample of the stream. Anchors are chosen by these counts. */
import { isSlotHead, termEntries } from "./eventTerms.ts"

/** A count-min sketch with two counters per term. Collisions only raise a counter, so the smaller one is used. */
const COUNTERS = 1 << 18
const MAX_COUNT = 0xffff

/** The first events are all counted, then one in SAMPLE_INTERVAL. */
const FIRST_EVENTS = 8_192
const SAMPLE_INTERVAL = 128

export class Frequencies {
  private readonly counters = new Uint16Array(COUNTERS)
  private events = 0
  /** Number of events counted, halved together with the counters. */
  private sampledEvents = 0

  get bytes(): number {
    return this.counters.byteLength
  }

  /** Estimated number of counted events that contain the term. */
  countOf(high: number, low: number): number {
    return Math.min(this.counters[high >>> SHIFT] ?? 0, this.counters[low >>> SHIFT] ?? 0)
  }

  /** The count of a term that is in this share of all events. */
  expectedCount(part: number): number {
    return part * this.sampledEvents
  }

  /** Counts the terms of the current event. `count`: how many terms it has. */
  learn(count: number): void {
    this.events++
    if (this.events > FIRST_EVENTS && this.events % SAMPLE_INTERVAL !== 0) return
    this.sampledEvents++
    for (let term = 1; term <= count; term++) {
      const high = termEntries[4 * term] ?? 0
      const low = termEntries[4 * term + 1] ?? 0
      // Count a term once per event. Terms that share a slot are skipped now and then, which does not matter.
      if (!isSlotHead(term, high)) continue
      this.increment(high >>> SHIFT)
      this.increment(low >>> SHIFT)
    }
  }

  private increment(counter: number): void {
    const value = (this.counters[counter] ?? 0) + 1
    this.counters[counter] = value
    if (value === MAX_COUNT) this.halve()
  }

  /** Halving makes old events count less. */
  private halve(): void {
    const { counters } = this
    for (let counter = 0; counter < COUNTERS; counter++) counters[counter] = (counters[counter] ?? 0) >>> 1
    this.sampledEvents /= 2
  }
}

// ---- helpers ----

const SHIFT = 32 - 18
