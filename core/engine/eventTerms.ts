/**
 * The terms of the current event, in a hash table that fits the L1 cache. All engines share one table, valid until the
 * next `readTerms`: arrays that are module constants make it twice as fast.
 *
 * Terms are numbered from 1 in reading order, once per occurrence, so the numbers of a text's words are their
 * positions. Numbers between two values of a field stay empty, so that no phrase matches across them.
 */
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Field } from "../syntax/expression/expression.ts"
import { GROUP as FOUR, MAX_WORDS, tailAt, wordBounds, wordView, writeWord } from "../syntax/words/wordBuffer.ts"
import { bitAt } from "./CountingBitset.ts"
import type { Entries } from "./Entries.ts"
import { type Fingerprints, finalHigh, finalLow, mixHigh, mixLow } from "./fingerprints.ts"
import {
  EVERY_EVENT,
  type FieldPlan,
  GEO_EVENT,
  GRAM_BYTES,
  GRAM_CELLS,
  gramCell,
  gramSpace,
  MAX_PREFIX_LENGTH,
  prefixCell,
  prefixSpace,
  type Spaces
} from "./spaces.ts"

/** Further terms are ignored. No accepted event has as many, even one made of very short texts. */
const TERM_BITS = 21
const maxTerms = (1 << TERM_BITS) - 1
export const MAX_TERMS = maxTerms

/**
 * A one-hash Bloom filter, indexed by the low bits of a term's high half: holds `currentMark()` if the event has such a
 * term. Entry 0 always holds it, so that guard 0 passes.
 */
const presenceMask = 0x3fff
export const PRESENCE_MASK = presenceMask
const presence = new Uint8Array(presenceMask + 1)
export const eventPresence = presence
export const currentMark = (): number => mark
/** Compares two bytes without a branch. Returns 1 or 0. */
export const isSameByte = (one: number, other: number): number => ((one ^ other) - 1) >>> 31

/** Makes every guard pass for the rest of this event. */
export const passAllGuards = (): void => {
  presence.fill(mark)
}

/** Term `n` is [high, low, previous entry of its slot, unused] at `4 * n`. `high` is 0 for an empty number. */
const terms = new Int32Array(4 * maxTerms + 4)
export const termEntries = terms

// See `verify.ts` on copies of imports. The first array that a loop reads is copied into the function as well.
const GROUP = FOUR
const buffer = wordView
const bounds = wordBounds
const tail = tailAt
const nextHigh = mixHigh
const nextLow = mixLow
const finishHigh = finalHigh
const finishLow = finalLow
const cellOf = prefixCell
const bitOf = bitAt

/** Entries of the table by field. */
export type LargeFields = ReadonlyMap<Field, Entries>

export interface Source {
  readonly spaces: Spaces
  readonly fingerprints: Fingerprints
  /** Length of the longest phrase of any rule, in positions. */
  readonly maxPhraseLength: number
}

/** Returns the number of terms. `ready`: the terms of large fields, from `readLargeFields`. */
export const readTerms = (event: PlatformEvent, source: Source, ready?: LargeFields): number => {
  begin()
  const { spaces, fingerprints } = source
  if (spaces.isUsed(EVERY_EVENT)) addText(fingerprints, EVERY_EVENT, "")
  if (spaces.isUsed(GEO_EVENT) && event.places().length > 0) addText(fingerprints, GEO_EVENT, "")
  // Index loops: iterators cost more than the loop bodies.
  const { keywordPlans } = spaces
  for (let index = 0; index < keywordPlans.length; index++) {
    const plan = keywordPlans[index]
    if (plan === undefined) continue
    const values = event.values(plan.field)
    for (let at = 0; at < values.length; at++) {
      const value = values[at] ?? ""
      if (plan.prefixes || plan.grams) {
        writeWord(value)
        addFromBuffer(source, plan, 1)
      } else addText(fingerprints, plan.space, value)
    }
  }
  const { textPlans } = spaces
  for (let index = 0; index < textPlans.length; index++) {
    const plan = textPlans[index]
    if (plan === undefined) continue
    const entries = ready?.get(plan.field)
    if (entries !== undefined) {
      addEntries(entries)
      continue
    }
    const texts = event.texts(plan.field)
    for (let at = 0; at < texts.length; at++) {
      const words = event.writeWords(texts[at] ?? "", plan.field)
      if (at > 0) skipPositions(source.maxPhraseLength)
      addFromBuffer(source, plan, words)
    }
  }
  return count
}

/**
 * Replaces the table by the words in the word buffer. Appends its entries: those of the words, which have positions, and
 * those of their prefixes and grams.
 */
export const appendEntries = (
  source: Source,
  plan: FieldPlan,
  words: number,
  to: { readonly words: Entries; readonly others: Entries }
): void => {
  begin()
  addFromBuffer(source, plan, words)
  const end = plan.values || plan.prefixes ? 4 * (words + 1) : 4
  to.words.append(terms.subarray(4, end))
  to.others.append(terms.subarray(end, 4 * (count + 1)))
}

/** How many events were read: the table holds another event if this has changed. */
export const eventsRead = (): number => reads

/** Adds a term to the current event. */
export const addTerm = (high: number, low: number): void => {
  if (count === maxTerms) return
  count++
  storeTerm(count, high, low, stamp, mark)
}

/** Number of the term's last occurrence, or 0. */
export const lastOccurrence = (high: number, low: number): number =>
  newestInChain(slots[high & slotMask] ?? 0, high, low)

/** Whether this is the newest term in its slot. */
export const isSlotHead = (term: number, high: number): boolean => ((slots[high & slotMask] ?? 0) & maxTerms) === term

/** Number of the occurrence before this one, or 0. */
export const previousOccurrence = (term: number): number =>
  newestInChain(terms[(term << 2) + 2] ?? 0, terms[term << 2] ?? 0, terms[(term << 2) + 1] ?? 0)

export const isTermAt = (number: number, high: number, low: number): boolean =>
  number > 0 && number <= count && terms[number << 2] === high && terms[(number << 2) + 1] === low

// ---- helpers ----

const MAX_STAMP = (1 << (32 - TERM_BITS)) - 1

const slotMask = 0xfff
/**
 * Heads of the slots' chains, by the low bits of a term's high half: the stamp of the event, then the number of the
 * slot's newest term. Entries with an older stamp count as empty, so nothing is cleared between events.
 */
const slots = new Int32Array(slotMask + 1)
let stamp = 0
let reads = 0
let mark = 0
let count = 0
/** Active words: those that may have a prefix that some rule uses, as word numbers in the word buffer. */
const active = new Int32Array(MAX_WORDS)
/** For each active word: read position, end, and hash state. */
const activeAt = new Int32Array(MAX_WORDS)
const activeEnds = new Int32Array(MAX_WORDS)
const activeHighs = new Int32Array(MAX_WORDS)
const activeLows = new Int32Array(MAX_WORDS)

const begin = (): void => {
  count = 0
  reads++
  if (++stamp > MAX_STAMP) {
    slots.fill(0)
    stamp = 1
  }
  if (++mark > 0xff) {
    presence.fill(0)
    mark = 1
  }
  presence[0] = mark
}

/** `event`: the stamp, passed in because loops hold it in a register. */
const storeTerm = (term: number, high: number, low: number, event: number, ownMark: number): void => {
  terms[term << 2] = high
  terms[(term << 2) + 1] = low
  link(term, high, event, ownMark)
}

const link = (term: number, high: number, event: number, ownMark: number): void => {
  const slot = high & slotMask
  terms[(term << 2) + 2] = slots[slot] ?? 0
  slots[slot] = (event << TERM_BITS) | term
  presence[high & presenceMask] = ownMark
}

/** The newest term with this fingerprint in the chain that starts at `first`. */
const newestInChain = (first: number, high: number, low: number): number => {
  const event = stamp | 0
  let entry = first | 0
  while (entry >>> TERM_BITS === event) {
    const term = entry & maxTerms
    if (terms[term << 2] === high && terms[(term << 2) + 1] === low) return term
    entry = terms[(term << 2) + 2] ?? 0
  }
  return 0
}

const skipPositions = (numbers: number): void => {
  const last = Math.min(count + numbers, maxTerms)
  while (count < last) terms[++count << 2] = 0
}

const addEntries = ({ all }: Entries): void => {
  const event = stamp | 0
  const ownMark = mark | 0
  const end = Math.min(all.length, 4 * (maxTerms - count))
  for (let at = 0; at < end; at += 4) {
    const high = all[at] ?? 0
    count++
    terms[count << 2] = high
    if (high !== 0) storeTerm(count, high, all[at + 1] ?? 0, event, ownMark)
  }
}

/** Adds the terms of the words in the word buffer. */
const addFromBuffer = (source: Source, { space, values, prefixes, grams }: FieldPlan, words: number): void => {
  if (values || prefixes) {
    const activeCount = addWords(source, space, Math.min(words, maxTerms - count), prefixes)
    if (prefixes) addPrefixes(source, space, words, activeCount)
  }
  if (grams) addGrams(source, space, words)
}

/** With `prefixes`, also collects the active words, by their first four bytes. Returns their number. */
const addWords = ({ spaces, fingerprints }: Source, space: number, words: number, prefixes: boolean): number => {
  const text = buffer
  const ownBounds = bounds
  const { bits } = spaces.prefixGroups
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  const endKey = fingerprints.endKeys[space] ?? 0
  const event = stamp | 0
  const ownMark = mark | 0
  const base = count | 0
  let activeCount = 0
  for (let word = 0; word < (words | 0); word++) {
    const end = ownBounds[2 * word + 1] ?? 0
    let at = ownBounds[2 * word] ?? 0
    let high = highKey
    let low = lowKey
    if (end - at >= GROUP) {
      const group = text.getInt32(at, true)
      at += GROUP
      high = nextHigh(high, group)
      low = nextLow(low, high)
      if (prefixes) {
        active[activeCount] = word
        activeCount += bitOf(bits, cellOf(group))
      }
      for (; end - at >= GROUP; at += GROUP) {
        high = nextHigh(high, text.getInt32(at, true))
        low = nextLow(low, high)
      }
    }
    high = nextHigh(high, tail(at, end))
    low = finishLow(nextLow(low, high), endKey)
    storeTerm(base + word + 1, finishHigh(high, low), low, event, ownMark)
  }
  count = base + words
  return activeCount
}

/** Adds the prefixes that some rule may use. */
const addPrefixes = ({ spaces, fingerprints }: Source, space: number, words: number, activeCount: number): void => {
  const { longestPrefix } = spaces
  const endKey = fingerprints.endKeys[prefixSpace(space)] ?? 0
  resetActive(fingerprints, space, activeCount)
  // All active words together, one group per pass.
  let left = activeCount
  for (let length = GROUP; left > 0 && length <= longestPrefix; length += GROUP) {
    left = advance(left)
    addPrefixesFrom(spaces, endKey, left, length)
  }
  if (!spaces.hasShortPrefixes) return
  for (let word = 0; word < (words | 0); word++) active[word] = word
  resetActive(fingerprints, space, words)
  addPrefixesFrom(spaces, endKey, words, 0)
}

/** Starts the hash of each active word. */
const resetActive = (fingerprints: Fingerprints, space: number, words: number): void => {
  const highKey = fingerprints.highKeys[space] ?? 0
  const lowKey = fingerprints.lowKeys[space] ?? 0
  for (let index = 0; index < (words | 0); index++) {
    const word = active[index] ?? 0
    activeAt[index] = bounds[2 * word] ?? 0
    activeEnds[index] = bounds[2 * word + 1] ?? 0
    activeHighs[index] = highKey
    activeLows[index] = lowKey
  }
}

/** Hashes one more group of each active word. Keeps the words that have a full group, and returns their number. */
const advance = (words: number): number => {
  const text = buffer
  let kept = 0
  for (let word = 0; word < (words | 0); word++) {
    const at = activeAt[word] ?? 0
    const end = activeEnds[word] ?? 0
    const high = nextHigh(activeHighs[word] ?? 0, text.getInt32(at, true))
    activeAt[kept] = at + GROUP
    activeEnds[kept] = end
    activeHighs[kept] = high
    activeLows[kept] = nextLow(activeLows[word] ?? 0, high)
    kept += hasFullGroup(at, end)
  }
  return kept
}

/** 1 if a full group is left, else 0. */
const hasFullGroup = (at: number, end: number): number => (at + GROUP - 1 - end) >>> 31

/** Adds the prefixes of `length` bytes, which are hashed already, and of one to three bytes more. */
const addPrefixesFrom = (spaces: Spaces, endKey: number, words: number, length: number): void => {
  const { prefixLengths } = spaces
  for (let more = 0; more < GROUP; more++) {
    if (prefixLengths[Math.min(length + more, MAX_PREFIX_LENGTH)] === 1)
      addPrefixesOfLength(spaces, endKey, words, more)
  }
}

/** `more`: bytes beyond those hashed. */
const addPrefixesOfLength = ({ prefixHashes }: Spaces, endKey: number, words: number, more: number): void => {
  const { bits } = prefixHashes
  const base = count | 0
  const limit = Math.min(words, maxTerms - base)
  let found = base
  for (let word = 0; word < (limit | 0); word++) {
    const at = activeAt[word] ?? 0
    const last = nextHigh(activeHighs[word] ?? 0, tail(at, Math.min(at + more, activeEnds[word] ?? 0)))
    const low = finishLow(nextLow(activeLows[word] ?? 0, last), endKey)
    const high = finishHigh(last, low)
    terms[(found + 1) << 2] = high
    terms[((found + 1) << 2) + 1] = low
    found += bitOf(bits, cellOf(high))
  }
  linkTerms(base, found)
}

/** Links the terms after number `first`, up to `last`. */
const linkTerms = (first: number, last: number): void => {
  const event = stamp | 0
  const ownMark = mark | 0
  for (let term = (first | 0) + 1; term <= (last | 0); term++) link(term, terms[term << 2] ?? 0, event, ownMark)
  count = last
}

/** The last gram of each cell, and the event and space that it was added to. */
const lastGrams = new Int32Array(GRAM_CELLS)
const lastGramReads = new Float64Array(GRAM_CELLS)

const addGrams = ({ spaces, fingerprints }: Source, space: number, words: number): void => {
  const source = 256 * reads + space
  for (let word = 0; word < words; word++) {
    const end = bounds[2 * word + 1] ?? 0
    for (let at = bounds[2 * word] ?? 0; at + GRAM_BYTES <= end; at++) {
      const gram = tail(at, at + GRAM_BYTES)
      const cell = gramCell(gram)
      if (spaces.gramCounts[cell] === 0) continue
      // A gram has no position: once per event is enough.
      if (lastGrams[cell] === gram && lastGramReads[cell] === source) continue
      lastGrams[cell] = gram
      lastGramReads[cell] = source
      fingerprints.hashGroup(gramSpace(space), gram)
      addTerm(fingerprints.high, fingerprints.low)
    }
  }
}

const addText = (fingerprints: Fingerprints, space: number, text: string): void => {
  fingerprints.hashText(space, text)
  addTerm(fingerprints.high, fingerprints.low)
}
