/** Looks for rows of words in a text: phrases with room between the words. */
import type { Tokens } from "./tokens.ts"

export interface WordRow {
  readonly words: ReadonlyArray<string>
  readonly offsets?: ReadonlyArray<number>
  readonly slop: number
}

/**
 * Lay the phrase on the text and move each word to a place where the text has it, no two words to one place: the phrase
 * holds if the farthest move to the right and the farthest to the left differ by at most `slop`. Words between others
 * cost one each, two neighbours that change places cost two.
 */
export const holdsPhrase = (text: Tokens, phrase: WordRow): boolean => {
  const places = placesOf(text, phrase.words)
  if (places === undefined) {
    return false
  }
  const rows = phrase.words.map((word, index) => ({
    word,
    offset: phrase.offsets?.[index] ?? index,
    positions: places.get(word) ?? []
  }))
  if (rows.length === 1) {
    return true
  }
  // Only beginnings that have the rarest word within reach are tried, each of them once.
  const rarest = rows.reduce((one, other) => (other.positions.length < one.positions.length ? other : one))
  let next = Number.NEGATIVE_INFINITY
  for (const position of rarest.positions) {
    const last = position - rarest.offset
    for (let start = Math.max(next, last - phrase.slop); start <= last; start++) {
      if (fitsFrom(rows, start, phrase.slop)) {
        return true
      }
    }
    next = last + 1
  }
  return false
}

// ---- helpers ----

/** Positions of each of the words, rising; `undefined` if one of them is not there. */
const placesOf = (text: Tokens, words: ReadonlyArray<string>): ReadonlyMap<string, Array<number>> | undefined => {
  const places = new Map<string, Array<number>>()
  for (const word of words) {
    places.set(word, [])
  }
  for (let index = 0; index < text.words.length; index++) {
    places.get(text.words[index] ?? "")?.push(text.positions[index] ?? 0)
  }
  for (const positions of places.values()) {
    if (positions.length === 0) {
      return undefined
    }
  }
  return places.size === 0 ? undefined : places
}

interface Row {
  readonly word: string
  readonly offset: number
  readonly positions: ReadonlyArray<number>
}

/** Whether each word has a place between its own and `slop` after it, when the phrase begins at `start`. */
const fitsFrom = (rows: ReadonlyArray<Row>, start: number, slop: number): boolean => {
  // A word that comes twice takes the first place that is left: its later wishes never begin before the earlier ones.
  const taken = new Map<string, number>()
  for (const { word, offset, positions } of rows) {
    const earliest = Math.max(start + offset, (taken.get(word) ?? Number.NEGATIVE_INFINITY) + 1)
    const place = positions[firstFrom(positions, earliest)]
    if (place === undefined || place > start + offset + slop) {
      return false
    }
    taken.set(word, place)
  }
  return true
}

const firstFrom = (positions: ReadonlyArray<number>, earliest: number): number => {
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
