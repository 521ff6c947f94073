/** Compares words and rows of words: phrases with room between the words, wildcards, spelling distance. */
import type { WildcardSign } from "./expression.ts"
import type { Tokens } from "./firehose/tokens.ts"

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

/** `?` is one character, `*` any number of them. */
export const fitsWildcard = (parts: ReadonlyArray<string | WildcardSign>, value: string): boolean => {
  const pattern = parts.flatMap(
    (part): ReadonlyArray<string | symbol> => (typeof part === "string" ? [...part] : [part.sign === "*" ? any : one])
  )
  const characters = [...value]
  let at = 0
  let next = 0
  // Where to go on when the last * has to take one character more; earlier ones never have to.
  let star = -1
  let taken = 0
  while (at < characters.length) {
    const sign = pattern[next]
    if (sign === any) {
      star = next
      taken = at
      next++
    } else if (sign === one || (sign !== undefined && sign === characters[at])) {
      at++
      next++
    } else if (star >= 0) {
      taken++
      at = taken
      next = star + 1
    } else {
      return false
    }
  }
  while (pattern[next] === any) {
    next++
  }
  return next === pattern.length
}

/** One edit puts in, takes out or replaces a character, or makes two neighbours change places. */
export const isWithinEdits = (word: string, value: string, distance: number): boolean => {
  if (word === value) {
    return true
  }
  const a = [...word]
  const b = [...value]
  if (Math.abs(a.length - b.length) > distance) {
    return false
  }
  let beforeLast: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(edits)
      least = Math.min(least, edits)
    }
    if (least > distance + 1) {
      return false
    }
    beforeLast = last
    last = row
  }
  return (last[b.length] ?? 0) <= distance
}

// ---- helpers ----

const any = Symbol("*")
const one = Symbol("?")

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
