/** The spaces that terms live in, and which of them the rules at hand look at: nothing else of an event is read. */
import { KEYWORD_FIELDS, type KeywordField, TEXT_FIELDS, type TextField } from "../syntax/expression.ts"

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

/** How many characters of a value make a term of `innerSpace`. */
export const GRAM = 3

const GRAM_CELLS = 1 << 13
const START_CELLS = 1 << 16

/** Where a gram of these code units is counted; others may share the cell. */
export const gramCell = (first: number, second: number, third: number): number =>
  (Math.imul(first, 961) + Math.imul(second, 31) + third) & (GRAM_CELLS - 1)

/** Where a start is counted: by its first half before its end, and once more after. */
export const startCell = (high: number): number => Math.imul(high, 0x9e3779b1 | 0) >>> 16

/** Which cells are in use. */
export class Cells {
  /** A bit for each, 32 of them in a word: few enough words for the processor's nearest memory. */
  readonly bits = new Int32Array(START_CELLS >> 5)
  private readonly counts = new Uint8Array(START_CELLS)

  /** A counter that is full stays so: what it stands for is looked at for nothing from then on, and never missed. */
  count(cell: number, change: 1 | -1): void {
    const before = this.counts[cell] ?? 0
    const count = before === 0xff ? before : before + change
    this.counts[cell] = count
    const bit = 1 << (cell & 31)
    const word = this.bits[cell >>> 5] ?? 0
    this.bits[cell >>> 5] = count === 0 ? word & ~bit : word | bit
  }
}

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
  /** Starts by what is known of them before their end, and after. */
  readonly starts = new Cells()
  readonly endedStarts = new Cells()

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

  countStart(cell: number, endedCell: number, change: 1 | -1): void {
    this.starts.count(cell, change)
    this.endedStarts.count(endedCell, change)
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

const STARTS = 64
const INNERS = 128

const textSpaces: ReadonlyMap<TextField, number> = new Map(TEXT_FIELDS.map((field, index) => [field, index]))
const keywordSpaces: ReadonlyMap<KeywordField, number> = new Map(
  KEYWORD_FIELDS.map((field, index) => [field, TEXT_FIELDS.length + index])
)
