/** Finds phrases with slop in a text. */
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
export const containsPhrase = (text: Tokens, phrase: Phrase): boolean => {
  const byWord = positionsOf(text, phrase.words)
  if (byWord === undefined) {
    return false
  }
  const words = phrase.words.map((word, index) => ({
    word,
    offset: phrase.offsets?.[index] ?? index,
    positions: byWord.get(word) ?? []
  }))
  if (words.length === 1) {
    return true
  }
  // Only try start positions with the rarest word in reach, each once.
  const rarest = words.reduce((one, other) => (other.positions.length < one.positions.length ? other : one))
  let next = Number.NEGATIVE_INFINITY
  for (const position of rarest.positions) {
    const last = position - rarest.offset
    for (let start = Math.max(next, last - phrase.slop); start <= last; start++) {
      if (fitsAt(words, start, phrase.slop)) {
        return true
      }
    }
    next = last + 1
  }
  return false
}

// ---- helpers ----

/** Ascending positions of each word; `undefined` if a word is missing. */
const positionsOf = (text: Tokens, words: ReadonlyArray<string>): ReadonlyMap<string, Array<number>> | undefined => {
  const byWord = new Map<string, Array<number>>()
  for (const word of words) {
    byWord.set(word, [])
  }
  for (let index = 0; index < text.words.length; index++) {
    byWord.get(text.words[index] ?? "")?.push(text.positions[index] ?? 0)
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
}

/** Whether each word has a position within `slop` after its own, if the phrase starts at `start`. */
const fitsAt = (words: ReadonlyArray<PhraseWord>, start: number, slop: number): boolean => {
  // A repeated word takes the first position left. This greedy choice is safe, as later ranges never start earlier.
  const taken = new Map<string, number>()
  for (const { word, offset, positions } of words) {
    const earliest = Math.max(start + offset, (taken.get(word) ?? Number.NEGATIVE_INFINITY) + 1)
    const position = positions[lowerBound(positions, earliest)]
    if (position === undefined || position > start + offset + slop) {
      return false
    }
    taken.set(word, position)
  }
  return true
}

const lowerBound = (positions: ReadonlyArray<number>, earliest: number): number => {
  let low = 0
  let high = positions.length
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
