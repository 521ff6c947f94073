/** The terms of one event: a small hash table that stays in the processor's nearest memory. */
import type { PlatformEvent } from "../syntax/eventFields.ts"
import { WordRow } from "../syntax/WordRow.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { EVERY_EVENT, GRAM, innerSpace, PLACED_EVENT, type Reading, type Spaces, startSpace } from "./spaces.ts"

const FIRST_SLOTS = 256
const SLOT = 4

/**
 * Terms are numbered from 1 in the order they are met. Words of text also have places, rising through the values of a
 * field; between two values lie as many empty places as the longest phrase can reach over.
 */
export class EventTerms {
  /** How far apart the first and the last word of a phrase can be, over all phrases asked for. */
  reach = 1
  count = 0
  /** [high, low] of each term; the pair of term `n` begins at `2 * n`. */
  pairs = new Int32Array(2 * (FIRST_SLOTS / 2 + 1))
  private readonly fingerprints: Fingerprints
  private readonly row = new WordRow()
  /** [high, low, stamp, term]; a slot with an earlier stamp is free. */
  private slots = new Int32Array(FIRST_SLOTS * SLOT)
  private mask = FIRST_SLOTS * SLOT - 1
  private stamp = 0
  /** The place where a term was met last, by term. */
  private lastPlaces = new Int32Array(FIRST_SLOTS / 2 + 1)
  /** The term at a place, 0 for none; and the place of the same term before it, 0 for none. */
  private termAt = new Int32Array(1_024)
  private placeBefore = new Int32Array(1_024)
  private places = 0

  constructor(fingerprints: Fingerprints) {
    this.fingerprints = fingerprints
  }

  get bytes(): number {
    const { slots, pairs, lastPlaces, termAt, placeBefore } = this
    return 4 * (slots.length + pairs.length + lastPlaces.length + termAt.length + placeBefore.length)
  }

  read(event: PlatformEvent, spaces: Spaces): void {
    this.begin()
    if (spaces.isUsed(EVERY_EVENT)) this.addWord(EVERY_EVENT, 0, 0)
    if (spaces.isUsed(PLACED_EVENT) && event.places().length > 0) this.addWord(PLACED_EVENT, 0, 0)
    for (const reading of spaces.keywords) {
      for (const value of event.values(reading.field)) {
        this.row.write(value)
        if (reading.values) this.addWord(reading.space, 0, value.length)
        this.addGrams(reading, 0, value.length)
      }
    }
    for (const reading of spaces.texts) {
      for (const text of event.texts(reading.field)) {
        event.writeWords(this.row, text, reading.field)
        this.addRow(reading)
      }
    }
  }

  has(high: number, low: number): boolean {
    return this.termOf(high, low) !== 0
  }

  /** Whether some term of the event begins with this half: never wrongly false. */
  mayHave(high: number): boolean {
    const { slots, mask, stamp } = this
    for (let slot = (high << 2) & mask; slots[slot + 2] === stamp; slot = (slot + SLOT) & mask) {
      if (slots[slot] === high) return true
    }
    return false
  }

  /** 0 if the event has no such term. */
  termOf(high: number, low: number): number {
    const { slots, mask, stamp } = this
    for (let slot = (high << 2) & mask; slots[slot + 2] === stamp; slot = (slot + SLOT) & mask) {
      if (slots[slot] === high && slots[slot + 1] === low) return slots[slot + 3] ?? 0
    }
    return 0
  }

  /** The last place of a term, then the one before each; 0 at the end. */
  lastPlaceOf(term: number): number {
    return this.lastPlaces[term] ?? 0
  }
  placeBeforeThat(place: number): number {
    return this.placeBefore[place] ?? 0
  }

  isAt(place: number, high: number, low: number): boolean {
    if (place <= 0 || place > this.places) return false
    const term = this.termAt[place] ?? 0
    return this.pairs[2 * term] === high && this.pairs[2 * term + 1] === low
  }

  private begin(): void {
    this.count = 0
    this.places = 0
    if (this.stamp === 0x7fffffff) {
      this.slots.fill(0)
      this.stamp = 0
    }
    this.stamp++
  }

  /** The words of one value, with their places. */
  private addRow(reading: Reading<unknown>): void {
    const { space, values } = reading
    const { codes, length } = this.row
    let place = this.places + this.reach
    this.reservePlaces(place + length)
    this.termAt.fill(0, this.places + 1, place + 1)
    for (let start = 0; start < length; start++) {
      let end = start
      while (codes[end] !== 0) end++
      place++
      if (end === start || !values) {
        this.termAt[place] = 0
      } else {
        const term = this.addWord(space, start, end)
        this.termAt[place] = term
        this.placeBefore[place] = this.lastPlaces[term] ?? 0
        this.lastPlaces[term] = place
      }
      this.addGrams(reading, start, end)
      start = end
    }
    this.places = place
  }

  private addGrams({ space, starts, inners }: Reading<unknown>, start: number, end: number): void {
    if (starts && end - start >= GRAM) this.addWord(startSpace(space), start, start + GRAM)
    if (inners) for (let to = start + GRAM; to <= end; to++) this.addWord(innerSpace(space), to - GRAM, to)
  }

  /** The code units of the row from `start` up to `end` as a term. */
  private addWord(space: number, start: number, end: number): number {
    this.fingerprints.read(space, this.row.codes, start, end)
    const { high, low } = this.fingerprints
    const { slots, mask, stamp } = this
    let slot = (high << 2) & mask
    for (; slots[slot + 2] === stamp; slot = (slot + SLOT) & mask) {
      if (slots[slot] === high && slots[slot + 1] === low) return slots[slot + 3] ?? 0
    }
    const term = ++this.count
    slots[slot] = high
    slots[slot + 1] = low
    slots[slot + 2] = stamp
    slots[slot + 3] = term
    this.pairs[2 * term] = high
    this.pairs[2 * term + 1] = low
    this.lastPlaces[term] = 0
    if (term * SLOT * 2 >= slots.length) this.grow()
    return term
  }

  private grow(): void {
    const slots = new Int32Array(this.slots.length * 2)
    const mask = slots.length - 1
    for (let term = 1; term <= this.count; term++) {
      const high = this.pairs[2 * term] ?? 0
      let slot = (high << 2) & mask
      while (slots[slot + 2] === this.stamp) slot = (slot + SLOT) & mask
      slots[slot] = high
      slots[slot + 1] = this.pairs[2 * term + 1] ?? 0
      slots[slot + 2] = this.stamp
      slots[slot + 3] = term
    }
    this.slots = slots
    this.mask = mask
    this.pairs = longer(this.pairs, slots.length / SLOT + 2)
    this.lastPlaces = longer(this.lastPlaces, slots.length / SLOT / 2 + 1)
  }

  private reservePlaces(last: number): void {
    if (last < this.termAt.length) return
    this.termAt = longer(this.termAt, 2 * last)
    this.placeBefore = longer(this.placeBefore, 2 * last)
  }
}

// ---- helpers ----

const longer = (words: Int32Array, length: number): Int32Array<ArrayBuffer> => {
  const copy = new Int32Array(length)
  copy.set(words)
  return copy
}
