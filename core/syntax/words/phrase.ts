/** Finds phrases with slop in a text. */
import { finish, Pace, type Turns } from "../../work/turns.ts"
import type { Tokens } from "./tokens.ts"

export interface Phrase {
  readonly words: ReadonlyArray<string>
  readonly offsets?: ReadonlyArray<number>
  readonly slop: number
}

/**
 * Lucene's slop: move each word of the phrase to a position where the text has it, no two words to the same one. The
 * phrase matches if the moves differ by at most `slop`. An extra word between two costs 1, swapping two neighbours 2.
 */
export const containsPhrase = (text: Tokens, phrase: Phrase): boolean => finish(findPhrase(text, phrase, new Pace()))

/** A single word, or a short exact phrase: the engine looks it up. */
export const isShort = ({ words, offsets, slop }: Phrase): boolean =>
  words.length === 1 || (slop === 0 && Math.max(words.length, ...(offsets ?? [])) <= MAX_SHORT)

/** Longer phrases would use up the engine's term numbers in a long event: it leaves gaps between values. */
const MAX_SHORT = 32

/** Takes at most (words of the phrase) steps per word of the text. Gives up after `MAX_STEPS` if it is not short. */
export function* findPhrase(text: Tokens, phrase: Phrase, pace: Pace): Turns<boolean> {
  const [only] = phrase.words
  if (phrase.words.length === 1 && only !== undefined) {
    return yield* hasWord(text, only, pace)
  }
  const byWord = yield* positionsOf(text, phrase.words, pace)
  if (byWord === undefined) {
    return false
  }
  const words = phrase.words.map((word, index) => ({
    word,
    offset: phrase.offsets?.[index] ?? index,
    positions: byWord.get(word) ?? [],
    next: 0
  }))
  // Only try start positions with the rarest word in reach, each once.
  const rarest = words.reduce((one, other) => (other.positions.length < one.positions.length ? other : one))
  let next = Number.NEGATIVE_INFINITY
  let left = isShort(phrase) ? Number.POSITIVE_INFINITY : MAX_STEPS
  for (const position of rarest.positions) {
    const last = position - rarest.offset
    for (let start = Math.max(next, last - phrase.slop); start <= last; start++) {
      const tried = wordsThatFit(words, start, phrase.slop)
      if (tried === words.length) {
        return true
      }
      const steps = STEPS_PER_WORD * (tried + 1)
      left -= steps
      if (left < 0) return false
      if (pace.endsTurn(steps)) yield
    }
    next = last + 1
  }
  return false
}

// ---- helpers ----

/** Of one phrase in one text. */
const MAX_STEPS = 50_000_000

/** Of comparing two words, of looking a word up, and of comparing its positions. */
const STEPS_PER_COMPARISON = 5
const STEPS_PER_LOOKUP = 30
const STEPS_PER_WORD = 30

/** After some words, the others are looked up in a set: a rule may have thousands of words. */
function* hasWord(text: Tokens, word: string, pace: Pace): Turns<boolean> {
  const { words } = text
  const asked = wordSets.get(text) ?? 0
  if (typeof asked !== "number") return asked.has(word)
  if (words.length > MAX_COMPARED && asked >= ASKED_BEFORE_SET) {
    if (pace.endsTurn(STEPS_PER_LOOKUP * words.length)) yield
    const set = new Set(words)
    wordSets.set(text, set)
    return set.has(word)
  }
  if (words.length > MAX_COMPARED) wordSets.set(text, asked + 1)
  if (pace.endsTurn(STEPS_PER_COMPARISON * words.length)) yield
  return words.includes(word)
}

/** The words of a text, or how many of them were asked for. */
const wordSets = new WeakMap<Tokens, ReadonlySet<string> | number>()

const MAX_COMPARED = 32
const ASKED_BEFORE_SET = 4

/** Ascending positions of each word; `undefined` if a word is missing. */
function* positionsOf(
  text: Tokens,
  words: ReadonlyArray<string>,
  pace: Pace
): Turns<ReadonlyMap<string, Array<number>> | undefined> {
  const byWord = new Map<string, Array<number>>()
  for (const word of words) {
    byWord.set(word, [])
  }
  for (let index = 0; index < text.words.length; index++) {
    byWord.get(text.words[index] ?? "")?.push(text.positions[index] ?? 0)
    if (pace.endsTurn(STEPS_PER_LOOKUP)) yield
  }
  for (const positions of byWord.values()) {
    if (positions.length === 0) {
      return undefined
    }
  }
  return byWord.size === 0 ? undefined : byWord
}

interface PhraseWord {
  readonly word: string
  readonly offset: number
  readonly positions: ReadonlyArray<number>
  /** Index of the first position that is not before the word's own place. Start positions only grow, and so does it. */
  next: number
}

/** How many words have a position within `slop` after their own, in order, if the phrase starts at `start`. */
const wordsThatFit = (words: ReadonlyArray<PhraseWord>, start: number, slop: number): number => {
  // A repeated word takes the first position left. This greedy choice is safe, as later ranges never start earlier.
  const taken = new Map<string, number>()
  for (let index = 0; index < words.length; index++) {
    const entry = words[index]
    if (entry === undefined) return index
    const { word, offset, positions } = entry
    entry.next = indexFrom(positions, start + offset, entry.next)
    const at = Math.max(entry.next, taken.get(word) ?? 0)
    const position = positions[at]
    if (position === undefined || position > start + offset + slop) {
      return index
    }
    taken.set(word, at + 1)
  }
  return words.length
}

/** Index of the first position at or after `earliest`, not before `from`. It is mostly `from` or the next one. */
const indexFrom = (positions: ReadonlyArray<number>, earliest: number, from: number): number => {
  let low = from
  let high = Math.min(from + 2, positions.length)
  if ((positions[high - 1] ?? Number.POSITIVE_INFINITY) < earliest) {
    low = high
    high = positions.length
  }
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle] ?? 0) < earliest) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}
