/** From a term to the programs that wait for it. */
import { MOST_TERMS, pairs } from "./eventTerms.ts"
import type { Pool } from "./Pool.ts"

/** Independent tables, by the top bits of the term: one of them grows in microseconds, where one large table would stop the world. */
const SEGMENT_BITS = 6
const SEGMENT_SHIFT = 32 - SEGMENT_BITS
const FIRST_SLOTS = 8
const FIRST_GATE_BITS = 1

/** A slot is [high, low, program, filter] for one posting, [high, low, ~list, 0] for several; high 0 is a free slot. */
const SLOT = 4

/** A list is [count, capacity, (program, filter)...]. */
export const LIST_HEAD = 2

/** What `gather` found, good until it is called again. */
export const found = new Int32Array(2 * MOST_TERMS)

/**
 * A posting is the address of a program and a filter: the first half of another term that the event must hold, or 0.
 * The filter spares most programs from being looked at.
 */
export class AnchorIndex {
  private readonly pool: Pool
  private readonly segments: Array<Int32Array> = []
  /**
   * Which terms may be there, by one bit each; a part for each segment, all of the same size. Small enough to stay near
   * where the tables do not: it spares most terms of an event the way to them.
   */
  private gate: Int32Array
  /** Of words in the part of one segment. */
  private gateBits = FIRST_GATE_BITS
  /** Bits that no term needs any more. */
  private readonly stale = new Int32Array(1 << SEGMENT_BITS)
  private readonly counts = new Int32Array(1 << SEGMENT_BITS)
  private words = 0

  constructor(pool: Pool) {
    this.pool = pool
    for (let segment = 0; segment < 1 << SEGMENT_BITS; segment++) {
      this.segments.push(this.table(FIRST_SLOTS * SLOT))
    }
    this.gate = this.table(1 << (SEGMENT_BITS + FIRST_GATE_BITS))
  }

  get bytes(): number {
    return this.words * 4
  }

  segmentOf(high: number): Int32Array {
    return this.segments[high >>> SEGMENT_SHIFT] ?? nothing
  }

  /**
   * Writes to `found` what waits for the terms of the event at hand, as [program, filter] or [~list, 0], and gives the
   * number of words written. In two steps, so that what is far away in memory is fetched side by side.
   */
  gather(count: number): number {
    const { gate, gateBits, segments } = this
    const part = (1 << gateBits) - 1
    let open = 0
    for (let term = 1; term <= count; term++) {
      const low = terms[2 * term + 1] ?? 0
      const segment = (terms[2 * term] ?? 0) >>> SEGMENT_SHIFT
      candidates[open] = term
      open += ((gate[(segment << gateBits) | ((low >>> 5) & part)] ?? 0) >>> low) & 1
    }
    let written = 0
    for (let candidate = 0; candidate < open; candidate++) {
      const term = candidates[candidate] ?? 0
      const high = terms[2 * term] ?? 0
      const segment = segments[high >>> SEGMENT_SHIFT] ?? nothing
      const slot = this.find(segment, high, terms[2 * term + 1] ?? 0)
      if (slot < 0) continue
      waiting[written] = segment[slot + 2] ?? 0
      waiting[written + 1] = segment[slot + 3] ?? 0
      written += 2
    }
    return written
  }

  /** Where the term's slot begins in its segment; -1 if nothing waits for the term. */
  find(segment: Int32Array, high: number, low: number): number {
    for (let slot = homeOf(segment, high); ; slot = nextSlot(segment, slot)) {
      const found = segment[slot] ?? 0
      if (found === high && segment[slot + 1] === low) return slot
      if (found === 0) return -1
    }
  }

  add(high: number, low: number, program: number, filter: number): void {
    const segment = this.segmentOf(high)
    const slot = this.find(segment, high, low)
    if (slot < 0) {
      this.insert(high, low, program, filter)
      return
    }
    const held = segment[slot + 2] ?? 0
    if (held > 0) {
      const list = this.pool.take(LIST_HEAD + 2 * 2)
      const words = this.pool.chunkOf(list)
      const at = this.pool.offsetOf(list)
      words[at] = 2
      words[at + 1] = 2
      words[at + 2] = held
      words[at + 3] = segment[slot + 3] ?? 0
      words[at + 4] = program
      words[at + 5] = filter
      segment[slot + 2] = ~list
      segment[slot + 3] = 0
      return
    }
    segment[slot + 2] = ~this.append(~held, program, filter)
  }

  remove(high: number, low: number, program: number): void {
    const segment = this.segmentOf(high)
    const slot = this.find(segment, high, low)
    if (slot < 0) return
    const held = segment[slot + 2] ?? 0
    if (held > 0) {
      if (held === program) this.empty(high, segment, slot)
      return
    }
    const list = ~held
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    const count = words[at] ?? 0
    const last = at + LIST_HEAD + 2 * (count - 1)
    let found = at + LIST_HEAD
    while (found <= last && words[found] !== program) found += 2
    if (found > last) return
    words[found] = words[last] ?? 0
    words[found + 1] = words[last + 1] ?? 0
    words[at] = count - 1
    const capacity = words[at + 1] ?? 0
    if (count - 1 === 1) {
      segment[slot + 2] = words[at + LIST_HEAD] ?? 0
      segment[slot + 3] = words[at + LIST_HEAD + 1] ?? 0
      this.pool.giveBack(list, LIST_HEAD + 2 * capacity)
    } else if (count - 1 <= capacity >> 2) {
      segment[slot + 2] = ~this.moved(list, capacity >> 1)
    }
  }

  private append(list: number, program: number, filter: number): number {
    let place = list
    let words = this.pool.chunkOf(place)
    let at = this.pool.offsetOf(place)
    const count = words[at] ?? 0
    if (count === words[at + 1]) {
      place = this.moved(list, count * 2)
      words = this.pool.chunkOf(place)
      at = this.pool.offsetOf(place)
    }
    words[at + LIST_HEAD + 2 * count] = program
    words[at + LIST_HEAD + 2 * count + 1] = filter
    words[at] = count + 1
    return place
  }

  private moved(list: number, capacity: number): number {
    const from = this.pool.chunkOf(list)
    const start = this.pool.offsetOf(list)
    const count = from[start] ?? 0
    const place = this.pool.take(LIST_HEAD + 2 * capacity)
    const to = this.pool.chunkOf(place)
    const at = this.pool.offsetOf(place)
    for (let word = 0; word < LIST_HEAD + 2 * count; word++) {
      to[at + word] = from[start + word] ?? 0
    }
    to[at + 1] = capacity
    this.pool.giveBack(list, LIST_HEAD + 2 * (from[start + 1] ?? 0))
    return place
  }

  private insert(high: number, low: number, program: number, filter: number): void {
    const number = high >>> SEGMENT_SHIFT
    const count = (this.counts[number] ?? 0) + 1
    this.counts[number] = count
    let segment = this.segmentOf(high)
    this.cleanGate(number)
    if (count * SLOT * 8 > segment.length * 7) {
      segment = this.resized(number, segment.length + SLOT * (segment.length >> 3))
    }
    const slot = freeSlot(segment, high)
    segment[slot] = high
    segment[slot + 1] = low
    segment[slot + 2] = program
    segment[slot + 3] = filter
    this.open(number, low)
    // Sixteen bits and more for each term let through few that are not there.
    if (count > 2 << this.gateBits) this.widenGate()
  }

  private gateWord(number: number, low: number): number {
    return (number << this.gateBits) | ((low >>> 5) & ((1 << this.gateBits) - 1))
  }

  private open(number: number, low: number): void {
    const word = this.gateWord(number, low)
    this.gate[word] = (this.gate[word] ?? 0) | (1 << low)
  }

  /** Twice as wide, each half as it was: lets through whatever it let through before, until the parts are made anew. */
  private widenGate(): void {
    const old = this.gate
    const part = 1 << this.gateBits
    this.gate = this.table(2 * old.length)
    this.words -= old.length
    this.gateBits++
    for (let start = 0; start < old.length; start += part) {
      const words = old.subarray(start, start + part)
      this.gate.set(words, 2 * start)
      this.gate.set(words, 2 * start + part)
    }
    // So that each part is made anew with one of the next terms of its segment.
    this.stale.fill(0x3fffffff)
  }

  /** Entries behind the free place move up, so that no search ends too early. */
  private empty(high: number, segment: Int32Array, slot: number): void {
    const { length } = segment
    let hole = slot
    for (let next = nextSlot(segment, hole); segment[next] !== 0; next = nextSlot(segment, next)) {
      const home = homeOf(segment, segment[next] ?? 0)
      if ((next - home + length) % length >= (next - hole + length) % length) {
        segment.copyWithin(hole, next, next + SLOT)
        hole = next
      }
    }
    segment.fill(0, hole, hole + SLOT)
    const number = high >>> SEGMENT_SHIFT
    const count = (this.counts[number] ?? 0) - 1
    this.counts[number] = count
    this.stale[number] = (this.stale[number] ?? 0) + 1
    if (segment.length > FIRST_SLOTS * SLOT && count * SLOT * 4 < segment.length) {
      this.resized(number, Math.max(SLOT * (segment.length >> 3), FIRST_SLOTS * SLOT))
    }
    this.cleanGate(number)
  }

  private cleanGate(number: number): void {
    const segment = this.segments[number] ?? nothing
    if ((this.stale[number] ?? 0) * SLOT * 2 <= segment.length) return
    this.stale[number] = 0
    this.gate.fill(0, number << this.gateBits, (number + 1) << this.gateBits)
    for (let slot = 0; slot < segment.length; slot += SLOT) {
      if (segment[slot] !== 0) this.open(number, segment[slot + 1] ?? 0)
    }
  }

  private resized(number: number, length: number): Int32Array {
    const old = this.segments[number] ?? nothing
    this.words -= old.length
    const segment = this.table(length)
    for (let slot = 0; slot < old.length; slot += SLOT) {
      const high = old[slot] ?? 0
      if (high !== 0) {
        const place = freeSlot(segment, high)
        segment[place] = high
        segment[place + 1] = old[slot + 1] ?? 0
        segment[place + 2] = old[slot + 2] ?? 0
        segment[place + 3] = old[slot + 3] ?? 0
      }
    }
    this.segments[number] = segment
    return segment
  }

  private table(words: number): Int32Array<ArrayBuffer> {
    this.words += words
    return new Int32Array(words)
  }
}

// ---- helpers ----

const nothing = new Int32Array(0)

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not.
const terms = pairs

/** Terms of the event at hand that the gate lets through. */
const candidates = new Int32Array(MOST_TERMS + 1)
const waiting = found

/** Half as much again each time: a power of two would leave more places empty. */
const homeOf = (segment: Int32Array, high: number): number =>
  (((high & 0xffffff) * (segment.length / SLOT / 0x1000000)) | 0) * SLOT

const nextSlot = (segment: Int32Array, slot: number): number => (slot + SLOT < segment.length ? slot + SLOT : 0)

const freeSlot = (segment: Int32Array, high: number): number => {
  let slot = homeOf(segment, high)
  while (segment[slot] !== 0) slot = nextSlot(segment, slot)
  return slot
}
