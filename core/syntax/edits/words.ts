/** Words and phrases of a text that could replace those of a filter. Shared by both rule languages. */
import { nearest } from "../../text/nearest.ts"
import { containsPhrase } from "../words/phrase.ts"
import type { Tokens } from "../words/tokens.ts"

export interface WordsReplacement {
  readonly words: ReadonlyArray<string>
  readonly isNear: boolean
}

/** The longest part of the phrase that is in the texts, a word spelled like the only word, and other words. */
export function* otherWords(words: ReadonlyArray<string>, texts: ReadonlyArray<Tokens>): Generator<WordsReplacement> {
  const part = longestPart(words, texts)
  if (part !== undefined) yield { words: part, isNear: true }
  const present = wordsIn(texts)
  const [only] = words
  const like = words.length === 1 && only !== undefined ? nearest(only, present) : undefined
  if (like !== undefined && like !== only) yield { words: [like], isNear: true }
  for (const word of longestWords(present)) yield { words: [word], isNear: false }
}

/** The smallest slop above `slop` with which the texts contain the phrase. */
export const slopFor = (
  phrase: { readonly words: ReadonlyArray<string>; readonly slop: number },
  whole: ReadonlyArray<Tokens>,
  max: number
): number | undefined => {
  const texts = startOf(whole)
  for (let slop = phrase.slop + 1; slop <= max; slop++) {
    if (texts.some((text) => containsPhrase(text, { words: phrase.words, slop }))) return slop
  }
  return undefined
}

/** The longest words of the texts, which are the least common ones. */
export const longestWords = (words: Iterable<string>): ReadonlyArray<string> =>
  [...words]
    .filter((word) => word.length <= MAX_WORD_LENGTH)
    .sort((a, b) => b.length - a.length)
    .slice(0, 3)

export const wordsIn = (whole: ReadonlyArray<Tokens>): ReadonlySet<string> =>
  new Set(startOf(whole).flatMap(({ words }) => words))

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

const MAX_WORD_LENGTH = 40

const longestPart = (words: ReadonlyArray<string>, texts: ReadonlyArray<Tokens>): ReadonlyArray<string> | undefined => {
  for (let length = Math.min(words.length - 1, MAX_PHRASE); length > 0; length--) {
    for (let start = 0; start + length <= Math.min(words.length, MAX_PHRASE); start++) {
      const part = words.slice(start, start + length)
      if (texts.some((text) => containsPhrase(text, { words: part, slop: 0 }))) return part
    }
  }
  return undefined
}
