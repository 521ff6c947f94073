/**
 * The terms of the event at hand, in a hash table that stays in the processor's nearest memory. There is one for all
 * engines, good until the next event is read; that its arrays are constants of the module makes it twice as fast.
 *
 * Terms are numbered from 1 in the order they are met, each time they are met: the numbers of the words of a text are
 * their places. Between two texts of a field lie as many numbers without a term as the longest phrase can reach over.
 */
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import { bounds, GROUP as FOUR, groups, MOST_WORDS, restAt, writeWord } from "../syntax/words/wordRow.ts"
import { isInUse } from "./Cells.ts"
import { endHigh, endLow, type Fingerprints, stepHigh, stepLow } from "./fingerprints.ts"
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

/** Terms beyond are not read: more than any event that is taken in can have, even one of nothing but short texts. */
const TERM_BITS = 21
const mostTerms = (1 << TERM_BITS) - 1
export const MOST_TERMS = mostTerms

/** By the last bits of a first half: `eventTrace()` if the event has such a term, and for 0. */
const traceBits = 0x3fff
export const TRACE_BITS = traceBits
const traces = new Uint8Array(traceBits + 1)
export const eventTraces = traces
export const eventTrace = (): number => trace
/** 1 or 0. Of two bytes. */
export const isEqual = (one: number, other: number): number => ((one ^ other) - 1) >>> 31

/** From now on the event at hand seems to have every term. */
export const passAll = (): void => {
  traces.fill(trace)
}

/** [high, low, what its slot held before, unused] of each term; those of term `n` begin at `4 * n`. 0 for a number without a term. */
const terms = new Int32Array(4 * mostTerms + 4)
export const entries = terms

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not, but for the
// first array that a loop reads from: it is a constant of the function.
const GROUP = FOUR
const row = groups
const ends = bounds
const rest = restAt
const nextHigh = stepHigh
const nextLow = stepLow
const finishHigh = endHigh
const finishLow = endLow
const cellOf = startCell
const isIn = isInUse

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
      if (reading.starts || reading.inners) {
        writeWord(value)
        addRow(source, reading, 1)
      } else addText(fingerprints, reading.space, value)
    }
  }
  const { texts: textual } = spaces
  for (let index = 0; index < textual.length; index++) {
    const reading = textual[index]
    if (reading === undefined) continue
    const texts = event.texts(reading.field)
    for (let at = 0; at < texts.length; at++) {
      const words = event.writeWords(texts[at] ?? "", reading.field)
      if (at > 0) skip(source.reach)
      addRow(source, reading, words)
    }
  }
  return count
}

/** As one more of the event at hand. */
export const addTerm = (high: number, low: number): void => {
  if (count === mostTerms) return
  count++
  enter(count, high, low, stamp, trace)
}

/** The number of the term where it was met last; 0 if the event has no such term. */
export const termOf = (high: number, low: number): number => newestFrom(slots[high & slotBits] ?? 0, high, low)

/** Whether the event has no term after that, neither the same nor another, that shares its slot. */
export const isOnTop = (term: number, high: number): boolean => ((slots[high & slotBits] ?? 0) & mostTerms) === term

/** The number of the same term where it was met before that; 0 if it was not. */
export const sameBefore = (term: number): number =>
  newestFrom(terms[(term << 2) + 2] ?? 0, terms[term << 2] ?? 0, terms[(term << 2) + 1] ?? 0)

export const isAt = (number: number, high: number, low: number): boolean =>
  number > 0 && number <= count && terms[number << 2] === high && terms[(number << 2) + 1] === low

// ---- helpers ----

const MOST_STAMPS = (1 << (32 - TERM_BITS)) - 1

const slotBits = 0xfff
/** By the last bits of a first half: the number of the last such term, and above it the stamp, which is another for each event. */
const slots = new Int32Array(slotBits + 1)
let stamp = 0
let trace = 0
let count = 0
/** Words that some rule may want a start of, by their numbers in the row. */
const open = new Int32Array(MOST_WORDS)
/** And for each where it goes on and ends, and what was read. */
const openAt = new Int32Array(MOST_WORDS)
const openEnds = new Int32Array(MOST_WORDS)
const openHighs = new Int32Array(MOST_WORDS)
const openLows = new Int32Array(MOST_WORDS)

const begin = (): void => {
  count = 0
  if (++stamp > MOST_STAMPS) {
    slots.fill(0)
    stamp = 1
  }
  if (++trace > 0xff) {
    traces.fill(0)
    trace = 1
  }
  traces[0] = trace
}

/** `event` is the stamp: loops have it at hand. */
const enter = (term: number, high: number, low: number, event: number, ownTrace: number): void => {
  terms[term << 2] = high
  terms[(term << 2) + 1] = low
  link(term, high, event, ownTrace)
}

const link = (term: number, high: number, event: number, ownTrace: number): void => {
  const slot = high & slotBits
  terms[(term << 2) + 2] = slots[slot] ?? 0
  slots[slot] = (event << TERM_BITS) | term
  traces[high & traceBits] = ownTrace
}

/** Of what a slot holds or held, and all that it held before. */
const newestFrom = (first: number, high: number, low: number): number => {
  const event = stamp | 0
  let held = first | 0
  while (held >>> TERM_BITS === event) {
    const term = held & mostTerms
    if (terms[term << 2] === high && terms[(term << 2) + 1] === low) return term
    held = terms[(term << 2) + 2] ?? 0
  }
  return 0
}

const skip = (numbers: number): void => {
  const last = Math.min(count + numbers, mostTerms)
  while (count < last) terms[++count << 2] = 0
}

/** Of the words of the row, all that is to be read of the field. */
const addRow = (source: Source, { space, values, starts, inners }: Reading<unknown>, words: number): void => {
  if (values || starts) {
    const opened = addWords(source, space, Math.min(words, mostTerms - count), starts)
    if (starts) addStarts(source, space, words, opened)
  }
  if (inners) addInnerGrams(source, space, words)
}

/** If starts are asked for, opens the words that have four bytes in a cell in use, and gives their number. */
const addWords = ({ spaces, fingerprints }: Source, space: number, words: number, starts: boolean): number => {
  const text = row
  const where = ends
  const { bits } = spaces.starts
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  const endKey = fingerprints.endKeys[space] ?? 0
  const event = stamp | 0
  const ownTrace = trace | 0
  const known = count | 0
  let opened = 0
  for (let word = 0; word < (words | 0); word++) {
    const end = where[2 * word + 1] ?? 0
    let at = where[2 * word] ?? 0
    let high = highKey
    let low = lowKey
    if (end - at >= GROUP) {
      const group = text.getInt32(at, true)
      at += GROUP
      high = nextHigh(high, group)
      low = nextLow(low, high)
      if (starts) {
        open[opened] = word
        opened += isIn(bits, cellOf(group))
      }
      for (; end - at >= GROUP; at += GROUP) {
        high = nextHigh(high, text.getInt32(at, true))
        low = nextLow(low, high)
      }
    }
    high = nextHigh(high, rest(at, end))
    low = finishLow(nextLow(low, high), endKey)
    enter(known + word + 1, finishHigh(high, low), low, event, ownTrace)
  }
  count = known + words
  return opened
}

/** What the words of the row begin with, as far as some rule may want it. */
const addStarts = ({ spaces, fingerprints }: Source, space: number, words: number, opened: number): void => {
  const { longestStart } = spaces
  const endKey = fingerprints.endKeys[startSpace(space)] ?? 0
  beginWith(fingerprints, space, opened)
  // All words at a time, four bytes further each time.
  let left = opened
  for (let length = GROUP; left > 0 && length <= longestStart; length += GROUP) {
    left = goOn(left)
    addOpenStarts(spaces, endKey, left, length)
  }
  if (!spaces.hasShortStarts) return
  for (let word = 0; word < (words | 0); word++) open[word] = word
  beginWith(fingerprints, space, words)
  addOpenStarts(spaces, endKey, words, 0)
}

/** The open words, of which nothing was read yet. */
const beginWith = (fingerprints: Fingerprints, space: number, words: number): void => {
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  for (let index = 0; index < (words | 0); index++) {
    const word = open[index] ?? 0
    openAt[index] = ends[2 * word] ?? 0
    openEnds[index] = ends[2 * word + 1] ?? 0
    openHighs[index] = highKey
    openLows[index] = lowKey
  }
}

/** Reads four bytes more of the open words, and leaves open those that have them. */
const goOn = (words: number): number => {
  const text = row
  let open = 0
  for (let word = 0; word < (words | 0); word++) {
    const at = openAt[word] ?? 0
    const end = openEnds[word] ?? 0
    const high = nextHigh(openHighs[word] ?? 0, text.getInt32(at, true))
    openAt[open] = at + GROUP
    openEnds[open] = end
    openHighs[open] = high
    openLows[open] = nextLow(openLows[word] ?? 0, high)
    open += isWhole(at, end)
  }
  return open
}

/** 1 if there are four bytes more, or 0. */
const isWhole = (at: number, end: number): number => (at + GROUP - 1 - end) >>> 31

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
  const known = count | 0
  const most = Math.min(words, mostTerms - known)
  let found = known
  for (let word = 0; word < (most | 0); word++) {
    const at = openAt[word] ?? 0
    const last = nextHigh(openHighs[word] ?? 0, rest(at, Math.min(at + more, openEnds[word] ?? 0)))
    const low = finishLow(nextLow(openLows[word] ?? 0, last), endKey)
    const high = finishHigh(last, low)
    terms[(found + 1) << 2] = high
    terms[((found + 1) << 2) + 1] = low
    found += isIn(bits, cellOf(high))
  }
  linkAll(known, found)
}

/** The terms after one number up to another. */
const linkAll = (first: number, last: number): void => {
  const event = stamp | 0
  const ownTrace = trace | 0
  for (let term = (first | 0) + 1; term <= (last | 0); term++) link(term, terms[term << 2] ?? 0, event, ownTrace)
  count = last
}

const addInnerGrams = ({ spaces, fingerprints }: Source, space: number, words: number): void => {
  for (let word = 0; word < words; word++) {
    const end = ends[2 * word + 1] ?? 0
    for (let at = ends[2 * word] ?? 0; at + GRAM <= end; at++) {
      const gram = rest(at, at + GRAM)
      if (spaces.grams[gramCell(gram)] === 0) continue
      fingerprints.readGroup(innerSpace(space), gram)
      addTerm(fingerprints.high, fingerprints.low)
    }
  }
}

const addText = (fingerprints: Fingerprints, space: number, text: string): void => {
  fingerprints.readText(space, text)
  addTerm(fingerprints.high, fingerprints.low)
}
