/** The spaces that terms live in, and which of them the rules at hand look at: nothing else of an event is read. */
import { KEYWORD_FIELDS, type KeywordField, TEXT_FIELDS, type TextField } from "../syntax/expression.ts"

/** A word of a text field, a whole value of a keyword field: the same word in two fields is two terms. */
export const textSpace = (field: TextField): number => textSpaces.get(field) ?? 0
export const keywordSpace = (field: KeywordField): number => keywordSpaces.get(field) ?? 0

/** The first characters of the values of a space, and any characters in them that stand side by side. */
export const startSpace = (space: number): number => space + STARTS
export const innerSpace = (space: number): number => space + INNERS

/** The one term that every event has, and the one that events with a place have. */
export const EVERY_EVENT = 254
export const PLACED_EVENT = 255

/** How many characters of a value make a term of `startSpace` and `innerSpace`. */
export const GRAM = 3

export const GRAM_CELLS = 1 << 13

/** Where a gram of these code units is counted; others may share the cell. */
export const gramCell = (first: number, second: number, third: number): number =>
  (Math.imul(first, 961) + Math.imul(second, 31) + third) & (GRAM_CELLS - 1)

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
  /** 1 where some rule wants a gram, by its cell: an event has far more grams than any rule asks for. */
  readonly wanted = new Uint8Array(GRAM_CELLS)
  private readonly wishes = new Int32Array(GRAM_CELLS)

  usesOf(space: number): number {
    return this.uses[space] ?? 0
  }

  isUsed(space: number): boolean {
    return this.usesOf(space) > 0
  }

  /** A rule more, or one less, that looks at the space, for a gram also at its cell. */
  count(space: number, cell: number, change: 1 | -1): void {
    const uses = this.usesOf(space) + change
    this.uses[space] = uses
    const wishes = (this.wishes[cell] ?? 0) + change
    this.wishes[cell] = wishes
    this.wanted[cell] = wishes === 0 ? 0 : 1
    if (uses === 0 || (uses === 1 && change === 1)) this.refresh()
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
