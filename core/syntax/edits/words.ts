/** Words and phrases of a text that could replace those of a filter. Shared by both rule languages. */
import { nearest } from "../../text/nearest.ts"
import { containsPhrase } from "../words/phrase.ts"
import type { Tokens } from "../words/tokens.ts"

/** The longest part of the phrase that is in the texts, and a word spelled like the only word. */
export function* likeWords(
  words: ReadonlyArray<string>,
  texts: ReadonlyArray<Tokens>
): Generator<ReadonlyArray<string>> {
  const part = longestPart(words, texts)
  if (part !== undefined) yield part
  const [only] = words
  if (words.length !== 1 || only === undefined) return
  const present = new Set(startOf(texts).flatMap(({ words }) => words))
  present.delete(only)
  const like = [...present].find((word) => isInflected(only, word)) ?? typingError(only, present)
  if (like !== undefined) yield [like]
}

/** The smallest slop above `slop` with which the texts contain the phrase. Not looked for if the phrase is long. */
export const slopFor = (
  phrase: { readonly words: ReadonlyArray<string>; readonly slop: number },
  whole: ReadonlyArray<Tokens>,
  max: number
): number | undefined => {
  if (phrase.words.length > MAX_PHRASE) return undefined
  const texts = startOf(whole)
  for (let slop = phrase.slop + 1; slop <= max; slop++) {
    if (texts.some((text) => containsPhrase(text, { words: phrase.words, slop }))) return slop
  }
  return undefined
}

// ---- helpers ----

/** Bounds the work: of all texts together, and of one phrase. */
const MAX_WORDS = 5_000
const MAX_PHRASE = 12

const startOf = (texts: ReadonlyArray<Tokens>): ReadonlyArray<Tokens> => {
  const kept: Array<Tokens> = []
  let left = MAX_WORDS
  for (const { words, positions } of texts) {
    if (left <= 0) break
    kept.push({ words: words.slice(0, left), positions: positions.slice(0, left) })
    left -= words.length
  }
  return kept
}

/** One word is the other with a few letters more: `quake`, `quakes`. */
const isInflected = (one: string, other: string): boolean => {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return short.length >= 3 && long.length - short.length <= 2 && long.startsWith(short)
}

/** Short words are alike by chance: `war` is not a typing error for `was`. */
const typingError = (word: string, present: Iterable<string>): string | undefined =>
  word.length < 5 ? undefined : nearest(word, present)

/** At least half of the letters of the phrase: the rest alone would say something else. */
const longestPart = (words: ReadonlyArray<string>, texts: ReadonlyArray<Tokens>): ReadonlyArray<string> | undefined => {
  const least = lettersOf(words) / 2
  for (let length = Math.min(words.length - 1, MAX_PHRASE); length > 0; length--) {
    for (let start = 0; start + length <= Math.min(words.length, MAX_PHRASE); start++) {
      const part = words.slice(start, start + length)
      if (lettersOf(part) >= least && texts.some((text) => containsPhrase(text, { words: part, slop: 0 }))) return part
    }
  }
  return undefined
}

const lettersOf = (words: ReadonlyArray<string>): number => words.reduce((sum, { length }) => sum + length, 0)
