/** The spaces that terms live in, and which of them the rules at hand look at: nothing else of an event is read. */
import { KEYWORD_FIELDS, type KeywordField, TEXT_FIELDS, type TextField } from "../syntax/expression/expression.ts"
import { GROUP } from "../syntax/words/wordRow.ts"
import { Cells } from "./Cells.ts"

/** A word of a text field, a whole value of a keyword field: the same word in two fields is two terms. */
export const textSpace = (field: TextField): number => textSpaces.get(field) ?? 0
export const keywordSpace = (field: KeywordField): number => keywordSpaces.get(field) ?? 0

/** The first characters, at least one, of the values of a space, and any characters in them that stand side by side. */
export const startSpace = (space: number): number => space + STARTS
export const innerSpace = (space: number): number => space + INNERS
export const isStartSpace = (space: number): boolean => space >= STARTS && space < INNERS
/** Whose values' first characters they are. */
export const valueSpace = (start: number): number => start - STARTS

/** The one term that every event has, and the one that events with a place have. */
export const EVERY_EVENT = 254
export const PLACED_EVENT = 255

/** How many bytes of a value, as `wordRow` writes it, make a term of `innerSpace`. */
export const GRAM = 3

const GRAM_CELLS = 1 << 13
const START_CELL_BITS = 16
/** Starts that are longer count as this long. */
export const LAST_LENGTH = 1_023

/** Where a gram of these bytes is counted; others may share the cell. */
export const gramCell = (group: number): number => scattered(group) >>> 19

/** Where a start is counted: by its first bytes, up to four of them, and once more by its fingerprint. */
export const startCell = (number: number): number => scattered(number) >>> (32 - START_CELL_BITS)

/** What to read of one field. */
export interface Reading<Field> {
  readonly field: Field
  readonly space: number
  readonly values: boolean
  readonly starts: boolean
  readonly inners: boolean
}

export class Spaces {
  texts: ReadonlyArray<Reading<TextField>> = []
  keywords: ReadonlyArray<Reading<KeywordField>> = []
  private readonly uses = new Int32Array(256)
  // What rules want, counted by cell: an event has far more grams and starts than any rule asks for.
  readonly grams = new Int32Array(GRAM_CELLS)
  /** Starts by their first bytes, and by their fingerprints. */
  readonly starts = new Cells(START_CELL_BITS)
  readonly endedStarts = new Cells(START_CELL_BITS)
  /** By the number of bytes: 1 if there is such a start, or was since the last time when there was none. */
  readonly startLengths = new Uint8Array(LAST_LENGTH + 1)
  longestStart = 0
  /** Of less than four bytes. */
  hasShortStarts = false
  private startCount = 0

  usesOf(space: number): number {
    return this.uses[space] ?? 0
  }

  isUsed(space: number): boolean {
    return this.usesOf(space) > 0
  }

  /** A rule more, or one less, that looks at the space. */
  count(space: number, change: 1 | -1): void {
    const uses = this.usesOf(space) + change
    this.uses[space] = uses
    if (uses === 0 || (uses === 1 && change === 1)) this.refresh()
  }

  /** By the two cells of the start. */
  countStart(cell: number, endedCell: number, change: 1 | -1): void {
    this.starts.count(cell, change)
    this.endedStarts.count(endedCell, change)
    this.startCount += change
    if (this.startCount > 0) return
    this.startLengths.fill(0)
    this.longestStart = 0
    this.hasShortStarts = false
  }

  /** Events are looked at for starts of this many bytes. */
  wantStarts(length: number): void {
    this.startLengths[Math.min(length, LAST_LENGTH)] = 1
    this.longestStart = Math.max(this.longestStart, length)
    this.hasShortStarts ||= length < GROUP
  }

  countGram(cell: number, change: 1 | -1): void {
    this.grams[cell] = (this.grams[cell] ?? 0) + change
  }

  private refresh(): void {
    this.texts = this.readings(textSpaces)
    this.keywords = this.readings(keywordSpaces)
  }

  private readings<Field>(spaces: ReadonlyMap<Field, number>): ReadonlyArray<Reading<Field>> {
    return Array.from(spaces, ([field, space]) => ({
      field,
      space,
      values: this.isUsed(space),
      starts: this.isUsed(startSpace(space)),
      inners: this.isUsed(innerSpace(space))
    })).filter(({ values, starts, inners }) => values || starts || inners)
  }
}

// ---- helpers ----

const scattered = (number: number): number => Math.imul(number, 0x9e3779b1 | 0)

const STARTS = 64
const INNERS = 128

const textSpaces: ReadonlyMap<TextField, number> = new Map(TEXT_FIELDS.map((field, index) => [field, index]))
const keywordSpaces: ReadonlyMap<KeywordField, number> = new Map(
  KEYWORD_FIELDS.map((field, index) => [field, TEXT_FIELDS.length + index])
)
