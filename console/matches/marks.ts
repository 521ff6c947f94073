/** Which pieces of a text are marked, and which part of a long text is shown. */
import type { Answers } from "../client.ts"
import type { Part } from "./content.ts"

export type Clause = Answers["matches"]["explain"]["clauses"][number]

/** A half-open range of one value of a field. */
export interface Place {
  readonly field: string
  readonly value: number
  readonly start: number
  readonly end: number
}

export interface Piece {
  readonly text: string
  readonly isMarked: boolean
}

export interface Excerpt {
  readonly pieces: ReadonlyArray<Piece>
  readonly isCut: boolean
}

/** Where the clauses held that the filter asks for. */
export const placesOf = (clauses: ReadonlyArray<Pick<Clause, "held" | "negated" | "tested">>): ReadonlyArray<Place> =>
  clauses.flatMap(({ held, negated, tested }) =>
    held && !negated && tested?.place !== undefined ? [{ ...tested.place, field: tested.field }] : []
  )

export const placesIn = ({ field, value, also }: Part, places: ReadonlyArray<Place>): ReadonlyArray<Place> =>
  places.filter(
    (place) =>
      (place.field === field && place.value === value) || (place.field === also?.field && place.value === also.value)
  )

/** Also where a marked word or phrase occurs again: in this text, or in another value of the same field. */
export const repeatedIn = (
  part: Part,
  parts: ReadonlyArray<Part>,
  places: ReadonlyArray<Place>
): ReadonlyArray<Place> => {
  const own = placesIn(part, places)
  if (part.kind === "link") return own
  const { field, value, also } = part
  const words = parts
    .flatMap((other) =>
      placesIn(other, places)
        .filter((place) => place.field === field || place.field === also?.field)
        .map(({ start, end }) => other.text.slice(start, end).toLowerCase())
    )
    .filter((word) => word !== "" && word.length <= MAX_WORD)
  if (words.length === 0) return own
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length)
  const alternatives = longestFirst.map((word) => word.replace(/[^\p{L}\p{N}_\s]/gu, escaped)).join("|")
  const search = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${alternatives})(?![\\p{L}\\p{N}_])`, "giu")
  const again = Array.from(part.text.matchAll(search), ({ index, 0: { length } }) => ({
    field,
    value,
    start: index,
    end: index + length
  }))
  return [...own, ...again]
}

/** At most `max` characters, from shortly before the first mark. */
export const excerptOf = (text: string, places: ReadonlyArray<Place>, max: number): Excerpt => {
  if (text.length <= max) return { pieces: piecesOf(text, 0, text.length, places), isCut: false }
  const first = Math.min(...places.map(({ start }) => start), text.length)
  const wanted = places.length === 0 || first < max - BEFORE_MARK ? 0 : first - BEFORE_MARK
  const start = wholeCharacter(text, Math.min(wanted, text.length - max))
  const end = wholeCharacter(text, start + max)
  return {
    pieces: [
      ...(start > 0 ? [ELLIPSIS] : []),
      ...piecesOf(text, start, end, places),
      ...(end < text.length ? [ELLIPSIS] : [])
    ],
    isCut: true
  }
}

// ---- helpers ----

/** A longer place is not a word or a phrase. */
const MAX_WORD = 100

const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`

/** How much text is shown before the first mark. */
const BEFORE_MARK = 100

const ELLIPSIS: Piece = { text: "…", isMarked: false }

/** Does not cut a surrogate pair. */
const wholeCharacter = (text: string, at: number): number => (/^[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at)

const piecesOf = (text: string, start: number, end: number, places: ReadonlyArray<Place>): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  const add = (from: number, to: number, isMarked: boolean) => {
    if (to > from) pieces.push({ text: text.slice(from, to), isMarked })
  }
  let at = start
  for (const place of places.toSorted((a, b) => a.start - b.start)) {
    const [from, to] = [Math.max(place.start, at), Math.min(place.end, end)]
    if (to <= from) continue
    add(at, from, false)
    add(from, to, true)
    at = to
  }
  add(at, end, false)
  return pieces
}
