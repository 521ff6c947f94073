/**
 * The terms of the event at hand, in a hash table that stays in the processor's nearest memory. There is one for all
 * engines, good until the next event is read; that its arrays are constants of the module makes it twice as fast.
 *
 * Terms are numbered from 1 in the order they are met. Words of text also have places, rising through the values of a
 * field; between two values lie as many empty places as the longest phrase can reach over.
 */
import type { PlatformEvent } from "../syntax/eventFields.ts"
import { GROUP as FOUR, groups, MOST_GROUPS, writeWord } from "../syntax/wordRow.ts"
import { endHigh, endLow, type Fingerprints, stepHigh, stepLow } from "./fingerprints.ts"
import { gramAt } from "./grams.ts"
import {
  EVERY_EVENT,
  GRAM,
  gramCell,
  innerSpace,
  LAST_LENGTH,
  PLACED_EVENT,
  type Reading,
  type Spaces,
  startCell,
  startSpace
} from "./spaces.ts"

/** Terms beyond are not read: more than any event that is taken in can have. */
const mostTerms = (1 << 18) - 1
export const MOST_TERMS = mostTerms
/** Also for an event of nothing but short values, each kept apart from the next. */
const MOST_PLACES = 2 * MOST_GROUPS

/** By the last bits of a first half: `eventTrace()` if the event has such a term, and for 0. */
const traceBits = 0x3fff
export const TRACE_BITS = traceBits
const traces = new Uint8Array(traceBits + 1)
export const eventTraces = traces
export const eventTrace = (): number => trace
/** 1 or 0. Of two bytes. */
export const isEqual = (one: number, other: number): number => ((one ^ other) - 1) >>> 31

/** [high, low] of each term; the pair of term `n` begins at `2 * n`. */
const terms = new Int32Array(2 * mostTerms + 2)
export const pairs = terms

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not.
const GROUP = FOUR
const row = groups
const nextHigh = stepHigh
const nextLow = stepLow
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
  // By their numbers: to walk an iterator costs more than what is done here.
  const { keywords } = spaces
  for (let index = 0; index < keywords.length; index++) {
    const reading = keywords[index]
    if (reading === undefined) continue
    const values = event.values(reading.field)
    for (let at = 0; at < values.length; at++) {
      const value = values[at] ?? ""
      if (reading.values) addText(fingerprints, reading.space, value)
      const length = reading.starts || reading.inners ? writeWord(value) : 0
      if (reading.starts) addStarts(source, reading.space, 1)
      if (reading.inners) addInnerGrams(source, reading, length)
    }
  }
  for (const reading of spaces.texts) {
    for (const text of event.texts(reading.field)) {
      const length = event.writeWords(text, reading.field)
      if (reading.values || reading.starts) addRow(source, reading, length)
      if (reading.inners) addInnerGrams(source, reading, length)
    }
  }
  addNoted()
  return count
}

/** 0 if the event has no such term. */
export const termOf = (high: number, low: number): number => {
  const held = slots[slotFrom(high & mask, high, low)] ?? 0
  return held >>> TERM_BITS === stamp ? held & mostTerms : 0
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

const FIRST_SLOTS = 256
const TERM_BITS = 18
const MOST_STAMPS = (1 << (32 - TERM_BITS)) - 1

/** The number of the term, and above it the stamp; a slot with an earlier stamp is free. */
const slots = new Int32Array(2 * (mostTerms + 1))
/** Only as many slots are in use as keep half of them free: small events stay in little memory. */
let mask = FIRST_SLOTS - 1
let stamp = 0
let trace = 0
let count = 0
/** The place where a term was met last, by term. */
const lastPlaces = new Int32Array(mostTerms + 1)
/** The term at a place, 0 for none; and the place of the same term before it, 0 for none. */
const termAt = new Int32Array(MOST_PLACES)
const placeBefore = new Int32Array(MOST_PLACES)
let places = 0
/** Words before their end, and the groups where they begin. */
const wordHighs = new Int32Array(MOST_GROUPS)
const wordLows = new Int32Array(MOST_GROUPS)
const wordStarts = new Int32Array(MOST_GROUPS + 1)
/** Words that some rule may want a start of: which group comes next, and what was read. */
const openAt = new Int32Array(MOST_GROUPS)
const openHighs = new Int32Array(MOST_GROUPS)
const openLows = new Int32Array(MOST_GROUPS)
/** Terms without places, until `addNoted`. */
const notedHighs = new Int32Array(MOST_GROUPS)
const notedLows = new Int32Array(MOST_GROUPS)
let noted = 0

const begin = (): void => {
  count = 0
  places = 0
  noted = 0
  mask = FIRST_SLOTS - 1
  nextStamp()
  if (++trace > 0xff) {
    traces.fill(0)
    trace = 1
  }
  traces[0] = trace
}

/** Frees all slots at once. */
const nextStamp = (): void => {
  if (++stamp > MOST_STAMPS) {
    slots.fill(0)
    stamp = 1
  }
}

/** The words of one value, with their places. */
const addRow = (source: Source, { space, starts }: Reading<unknown>, length: number): void => {
  const { fingerprints, reach } = source
  const words = readRow(fingerprints, space, length)
  const last = places + reach
  while (places < last && places + 1 < MOST_PLACES) termAt[++places] = 0
  makeRoom(count + words)
  addWords(fingerprints.endKeys[space] ?? 0, Math.min(words, MOST_PLACES - 1 - places))
  if (starts) addStarts(source, space, words)
}

/** Gives the number of words, and leaves them for the next step. There is no branch, as nobody can foresee where a word ends. */
const readRow = (fingerprints: Fingerprints, space: number, length: number): number => {
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  let words = 0
  let high = highKey
  let low = lowKey
  for (let at = 0; at < (length | 0); at++) {
    const group = row[at] ?? 0
    /** No bits at the end of a word, where all begins anew; else all. */
    const inside = (0 - (group >>> 24)) >> 31
    high = nextHigh(high, group)
    low = nextLow(low, high)
    wordHighs[words] = high
    wordLows[words] = low
    wordStarts[words + 1] = at + 1
    words += inside + 1
    high = (high & inside) | (highKey & ~inside)
    low = (low & inside) | (lowKey & ~inside)
  }
  return words
}

/** V8 knows where the arrays of the module are only in a loop that is in no other: hence `slotFrom`, and not its loop. */
const addWords = (endKey: number, words: number): void => {
  const event = stamp | 0
  const ownTrace = trace | 0
  const bits = mask | 0
  let known = count | 0
  let place = places | 0
  for (let word = 0; word < (words | 0) && known < mostTerms; word++) {
    const low = finishLow(wordLows[word] ?? 0, endKey)
    const high = finishHigh(wordHighs[word] ?? 0, low)
    let slot = high & bits
    if ((slots[slot] ?? 0) >>> TERM_BITS === event) slot = slotFrom(slot, high, low)
    let term = (slots[slot] ?? 0) & mostTerms
    if ((slots[slot] ?? 0) >>> TERM_BITS !== event) {
      known = (known + 1) | 0
      term = known
      slots[slot] = (event << TERM_BITS) | term
      terms[term << 1] = high
      terms[(term << 1) + 1] = low
      traces[high & traceBits] = ownTrace
      lastPlaces[term] = 0
    }
    place = (place + 1) | 0
    termAt[place] = term
    placeBefore[place] = lastPlaces[term] ?? 0
    lastPlaces[term] = place
  }
  count = known
  places = place
}

const addNoted = (): void => {
  makeRoom(count + noted)
  const event = stamp | 0
  const ownTrace = trace | 0
  const bits = mask | 0
  const end = noted | 0
  let known = count | 0
  for (let index = 0; index < end && known < mostTerms; index++) {
    const high = notedHighs[index] ?? 0
    const low = notedLows[index] ?? 0
    let slot = high & bits
    if ((slots[slot] ?? 0) >>> TERM_BITS === event) slot = slotFrom(slot, high, low)
    if ((slots[slot] ?? 0) >>> TERM_BITS === event) continue
    known = (known + 1) | 0
    slots[slot] = (event << TERM_BITS) | known
    terms[known << 1] = high
    terms[(known << 1) + 1] = low
    traces[high & traceBits] = ownTrace
    lastPlaces[known] = 0
  }
  count = known
  noted = 0
}

/** Where the term is or is to be, from the slot that is its first choice. */
const slotFrom = (first: number, high: number, low: number): number => {
  const event = stamp | 0
  const bits = mask | 0
  let slot = first | 0
  for (;;) {
    const held = slots[slot] ?? 0
    const term = held & mostTerms
    if (held >>> TERM_BITS !== event || (terms[term << 1] === high && terms[(term << 1) + 1] === low)) return slot
    slot = (slot + 1) & bits
  }
}

/** What the first words of the row begin with, as far as some rule may want it. */
const addStarts = (source: Source, space: number, words: number): void => {
  const { spaces, fingerprints } = source
  const { longestStart } = spaces
  const endKey = fingerprints.endKeys[startSpace(space)] ?? 0
  if (spaces.hasShortStarts) {
    openAll(fingerprints, space, words)
    addOpenStarts(spaces, endKey, words, 0)
  }
  if (longestStart < GROUP) return
  let open = openWords(source, space, words)
  // All words at a time, four bytes further each time.
  for (let length = GROUP; open > 0; length += GROUP) {
    addOpenStarts(spaces, endKey, open, length)
    if (length + GROUP > longestStart) return
    open = goOn(open)
  }
}

const openAll = (fingerprints: Fingerprints, space: number, words: number): void => {
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  for (let word = 0; word < (words | 0); word++) {
    openAt[word] = wordStarts[word] ?? 0
    openHighs[word] = highKey
    openLows[word] = lowKey
  }
}

/** Reads the first group of the words, and opens those that have it whole and in a cell in use. */
const openWords = ({ spaces, fingerprints }: Source, space: number, words: number): number => {
  const { bits } = spaces.starts
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  let open = 0
  for (let word = 0; word < (words | 0); word++) {
    const at = wordStarts[word] ?? 0
    const group = row[at] ?? 0
    const high = nextHigh(highKey, group)
    openAt[open] = at + 1
    openHighs[open] = high
    openLows[open] = nextLow(lowKey, high)
    open += isIn(bits, cellOf(group)) & isWhole(group)
  }
  return open
}

/** Reads one group more of the open words, and leaves open those that have it whole. */
const goOn = (words: number): number => {
  let open = 0
  for (let word = 0; word < (words | 0); word++) {
    const at = openAt[word] ?? 0
    const group = row[at] ?? 0
    const high = nextHigh(openHighs[word] ?? 0, group)
    openAt[open] = at + 1
    openHighs[open] = high
    openLows[open] = nextLow(openLows[word] ?? 0, high)
    open += isWhole(group)
  }
  return open
}

/** 1 or 0. */
const isWhole = (group: number): number => (0 - (group >>> 24)) >>> 31

/** Of the open words, the starts that have this many bytes, which were read, or up to three more. */
const addOpenStarts = (spaces: Spaces, endKey: number, words: number, length: number): void => {
  const { startLengths } = spaces
  for (let more = 0; more < GROUP; more++) {
    if (startLengths[Math.min(length + more, LAST_LENGTH)] === 1) addLongerStarts(spaces, endKey, words, more)
  }
}

/** Those that have this many bytes more than what was read. */
const addLongerStarts = ({ endedStarts }: Spaces, endKey: number, words: number, more: number): void => {
  const { bits } = endedStarts
  const mask = more === 0 ? 0 : -1 >>> (32 - 8 * more)
  if (noted + words > MOST_GROUPS) addNoted()
  let found = noted | 0
  for (let word = 0; word < (words | 0); word++) {
    const last = nextHigh(openHighs[word] ?? 0, (row[openAt[word] ?? 0] ?? 0) & mask)
    const low = finishLow(nextLow(openLows[word] ?? 0, last), endKey)
    const high = finishHigh(last, low)
    notedHighs[found] = high
    notedLows[found] = low
    found += isIn(bits, cellOf(high))
  }
  noted = found
}

/** 1 if the bit of the cell is set, or 0. */
const isIn = (bits: Int32Array, cell: number): number => ((bits[cell >>> 5] ?? 0) >>> (cell & 31)) & 1

const addInnerGrams = ({ spaces, fingerprints }: Source, { space }: Reading<unknown>, length: number): void => {
  for (let at = 0; at + GRAM < length * GROUP; at++) {
    const gram = gramAt(at)
    if (gram === 0 || spaces.grams[gramCell(gram)] === 0) continue
    fingerprints.readGroup(innerSpace(space), gram)
    note(fingerprints)
  }
}

const addText = (fingerprints: Fingerprints, space: number, text: string): void => {
  fingerprints.readText(space, text)
  note(fingerprints)
}

/** The fingerprint read last. */
const note = ({ high, low }: Fingerprints): void => {
  if (noted === MOST_GROUPS) addNoted()
  notedHighs[noted] = high
  notedLows[noted] = low
  noted++
}

const makeRoom = (number: number): void => {
  if (2 * number <= mask) return
  const most = Math.min(number, mostTerms)
  while (2 * most > mask + 1) mask = 2 * mask + 1
  nextStamp()
  for (let term = 1; term <= count; term++) {
    const high = terms[2 * term] ?? 0
    slots[slotFrom(high & mask, high, terms[2 * term + 1] ?? 0)] = (stamp << TERM_BITS) | term
  }
}
