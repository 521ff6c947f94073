/**
 * The terms of the event at hand, in a hash table that stays in the processor's nearest memory. There is one for all
 * engines, good until the next event is read; that its arrays are constants of the module makes it twice as fast.
 *
 * Terms are numbered from 1 in the order they are met. Words of text also have places, rising through the values of a
 * field; between two values lie as many empty places as the longest phrase can reach over.
 */
import type { PlatformEvent } from "../syntax/eventFields.ts"
import { codes, MOST_CODES, writeWord } from "../syntax/wordRow.ts"
import { endHigh, endLow, type Fingerprints, stepHigh, stepLow } from "./fingerprints.ts"
import {
  EVERY_EVENT,
  GRAM,
  gramCell,
  innerSpace,
  PLACED_EVENT,
  type Reading,
  type Spaces,
  START_CELLS,
  startCell,
  startSpace
} from "./spaces.ts"

/** Terms beyond are not read: more than any event that is taken in can have. */
export const MOST_TERMS = 1 << 18
/** Also for an event of nothing but short values, each kept apart from the next. */
const MOST_PLACES = 2 * MOST_CODES

/** By the last bits of a first half: `eventTrace()` if the event has such a term, and for 0. */
export const TRACE_BITS = 0x3fff
const traces = new Uint8Array(TRACE_BITS + 1)
export const eventTraces = traces
export const eventTrace = (): number => trace
/** 1 or 0. Of two bytes. */
export const isEqual = (one: number, other: number): number => ((one ^ other) - 1) >>> 31

/** [high, low] of each term; the pair of term `n` begins at `2 * n`. */
const terms = new Int32Array(2 * MOST_TERMS + 2)
export const pairs = terms

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not.
const row = codes
const takeHigh = stepHigh
const takeLow = stepLow
const finishHigh = endHigh
const finishLow = endLow
const cellOf = startCell

export interface Source {
  readonly spaces: Spaces
  readonly fingerprints: Fingerprints
  /** How far apart the first and the last word of a phrase can be, over all phrases asked for. */
  readonly reach: number
}

/** Gives the number of terms. */
export const readTerms = (event: PlatformEvent, source: Source): number => {
  begin()
  const { spaces, fingerprints } = source
  if (spaces.isUsed(EVERY_EVENT)) addText(fingerprints, EVERY_EVENT, "")
  if (spaces.isUsed(PLACED_EVENT) && event.places().length > 0) addText(fingerprints, PLACED_EVENT, "")
  for (const reading of spaces.keywords) {
    for (const value of event.values(reading.field)) {
      if (reading.values) addText(fingerprints, reading.space, value)
      const length = reading.starts || reading.inners ? writeWord(value) : 0
      if (reading.starts) addStarts(source, reading.space, length)
      if (reading.inners) addInnerGrams(source, reading, length + 1)
    }
  }
  for (const reading of spaces.texts) {
    for (const text of event.texts(reading.field)) {
      const length = event.writeWords(text, reading.field)
      if (reading.values || reading.starts) addRow(source, reading, length)
      if (reading.inners) addInnerGrams(source, reading, length)
    }
  }
  return count
}

/** 0 if the event has no such term. */
export const termOf = (high: number, low: number): number => {
  const slot = slotFrom((high << 2) & mask, high, low)
  return slots[slot + 2] === stamp ? (slots[slot + 3] ?? 0) : 0
}

/** The last place of a term, then the one before each; 0 at the end. */
export const lastPlaceOf = (term: number): number => lastPlaces[term] ?? 0
export const placeBeforeThat = (place: number): number => placeBefore[place] ?? 0

export const isAt = (place: number, high: number, low: number): boolean => {
  if (place <= 0 || place > places) return false
  const term = termAt[place] ?? 0
  return terms[2 * term] === high && terms[2 * term + 1] === low
}

// ---- helpers ----

const SLOT = 4
const FIRST_SLOTS = 256

/** [high, low, stamp, term]; a slot with an earlier stamp is free. */
const slots = new Int32Array(2 * MOST_TERMS * SLOT)
/** Only as many slots are in use as keep half of them free: small events stay in little memory. */
let mask = FIRST_SLOTS * SLOT - 1
let stamp = 0
let trace = 0
let count = 0
/** The place where a term was met last, by term. */
const lastPlaces = new Int32Array(MOST_TERMS + 1)
/** The term at a place, 0 for none; and the place of the same term before it, 0 for none. */
const termAt = new Int32Array(MOST_PLACES)
const placeBefore = new Int32Array(MOST_PLACES)
let places = 0
/** Starts that some rule may want, before their end. */
const startHighs = new Int32Array(MOST_CODES + 1)
const startLows = new Int32Array(MOST_CODES + 1)
const noStarts = new Uint8Array(START_CELLS)

function begin(): void {
  count = 0
  places = 0
  mask = FIRST_SLOTS * SLOT - 1
  if (stamp >= 0x7fffff00) {
    slots.fill(0)
    stamp = 0
  }
  stamp++
  if (++trace > 0xff) {
    traces.fill(0)
    trace = 1
  }
  traces[0] = trace
}

/**
 * The words of one value, with their places. The busiest loop of all: the steps of `Fingerprints` and of `add` are
 * written out in it, and there is no loop inside: V8 knows where the arrays of the module are only in the outermost one.
 */
function addRow(source: Source, { space, starts }: Reading<unknown>, rowLength: number): void {
  const { fingerprints, reach } = source
  const wanted = starts ? source.spaces.starts : noStarts
  let found = 0
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  const endKey = fingerprints.endKeys[space] ?? 0
  const first = places + reach
  const length = Math.min(rowLength, MOST_PLACES - first - 1)
  // At most every second code unit ends a word.
  makeRoom(count + (length >> 1) + 1)
  const last = Math.min(count + (length >> 1) + 1, MOST_TERMS)
  const event = stamp
  const ownTrace = trace
  const bits = mask
  let known = count
  let place = first
  let start = 0
  let high = highKey
  let low = lowKey
  for (let at = 0; at < length; at++) {
    const code = row[at] ?? 0
    if (code !== 0) {
      high = takeHigh(high, code)
      low = takeLow(low, high)
      startHighs[found] = high
      startLows[found] = low
      found += isAny(wanted[cellOf(high)] ?? 0)
      continue
    }
    if (known === last) break
    place++
    if (at === start) {
      termAt[place] = 0
      start++
      continue
    }
    low = finishLow(low, endKey)
    high = finishHigh(high, low)
    let slot = (high << 2) & bits
    if (slots[slot + 2] === event && (slots[slot] !== high || slots[slot + 1] !== low)) slot = slotFrom(slot, high, low)
    let term = slots[slot + 3] ?? 0
    if (slots[slot + 2] !== event) {
      term = ++known
      slots[slot] = high
      slots[slot + 1] = low
      slots[slot + 2] = event
      slots[slot + 3] = term
      terms[2 * term] = high
      terms[2 * term + 1] = low
      traces[high & TRACE_BITS] = ownTrace
      lastPlaces[term] = 0
    }
    termAt[place] = term
    placeBefore[place] = lastPlaces[term] ?? 0
    lastPlaces[term] = place
    start = at + 1
    high = highKey
    low = lowKey
  }
  for (let empty = places + 1; empty <= first; empty++) termAt[empty] = 0
  count = known
  places = place
  addFound(source, space, found)
}

/** Where the term is or is to be, from the slot that is its first choice. */
function slotFrom(first: number, high: number, low: number): number {
  let slot = first
  while (slots[slot + 2] === stamp && (slots[slot] !== high || slots[slot + 1] !== low)) slot = (slot + SLOT) & mask
  return slot
}

/** What the first `length` code units of the row begin with. */
function addStarts(source: Source, space: number, length: number): void {
  const { spaces, fingerprints } = source
  let found = 0
  let high = fingerprints.highKeys[space] ?? 0
  let low = fingerprints.lowKeys[space] ?? 0
  for (let at = 0; at < length; at++) {
    high = takeHigh(high, row[at] ?? 0)
    low = takeLow(low, high)
    startHighs[found] = high
    startLows[found] = low
    found += isAny(spaces.starts[cellOf(high)] ?? 0)
  }
  addFound(source, space, found)
}

/** The starts found, of values of a space. */
function addFound({ spaces, fingerprints }: Source, space: number, found: number): void {
  const endKey = fingerprints.endKeys[startSpace(space)] ?? 0
  for (let index = 0; index < found; index++) {
    const low = finishLow(startLows[index] ?? 0, endKey)
    const high = finishHigh(startHighs[index] ?? 0, low)
    if (spaces.endedStarts[cellOf(high)] !== 0) add(high, low)
  }
}

/** 0 for 0, 1 for any other byte. */
function isAny(byte: number): number {
  return (byte + 0xff) >> 8
}

function addInnerGrams(source: Source, { space }: Reading<unknown>, length: number): void {
  for (let at = 0; at + GRAM <= length; at++) addGram(source, innerSpace(space), at)
}

/** Nothing if a word ends within. */
function addGram({ spaces, fingerprints }: Source, space: number, start: number): void {
  if (spaces.grams[cellAt(start)] === 0) return
  if (row[start] === 0 || row[start + 1] === 0 || row[start + 2] === 0) return
  fingerprints.read(space, row, start, GRAM)
  add(fingerprints.high, fingerprints.low)
}

function cellAt(start: number): number {
  return gramCell(row[start] ?? 0, row[start + 1] ?? 0, row[start + 2] ?? 0)
}

function addText(fingerprints: Fingerprints, space: number, text: string): void {
  fingerprints.readText(space, text)
  add(fingerprints.high, fingerprints.low)
}

function add(high: number, low: number): void {
  makeRoom(count + 1)
  const slot = slotFrom((high << 2) & mask, high, low)
  if (slots[slot + 2] === stamp || count === MOST_TERMS) return
  const term = ++count
  fill(slot, high, low, term)
  terms[2 * term] = high
  terms[2 * term + 1] = low
  traces[high & TRACE_BITS] = trace
  lastPlaces[term] = 0
}

function fill(slot: number, high: number, low: number, term: number): void {
  slots[slot] = high
  slots[slot + 1] = low
  slots[slot + 2] = stamp
  slots[slot + 3] = term
}

function makeRoom(number: number): void {
  if (2 * number * SLOT <= mask) return
  const most = Math.min(number, MOST_TERMS)
  while (2 * most * SLOT > mask + 1) mask = 2 * mask + 1
  // A new stamp frees all slots at once.
  stamp++
  for (let term = 1; term <= count; term++) {
    const high = terms[2 * term] ?? 0
    const low = terms[2 * term + 1] ?? 0
    fill(slotFrom((high << 2) & mask, high, low), high, low, term)
  }
}
