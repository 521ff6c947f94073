/** The spaces that terms live in, and which of them the rules at hand look at: nothing else of an event is read. */
import { KEYWORD_FIELDS, type KeywordField, TEXT_FIELDS, type TextField } from "../syntax/expression.ts"

/** A word of a text field, a whole value of a keyword field: the same word in two fields is two terms. */
export const textSpace = (field: TextField): number => textSpaces.get(field) ?? 0
export const keywordSpace = (field: KeywordField): number => keywordSpaces.get(field) ?? 0

/** The first characters of the values of a space, and any characters in them that stand side by side. */
export const startSpace = (space: number): number => space + STARTS
export const innerSpace = (space: number): number => space + INNERS
export const isStartSpace = (space: number): boolean => space >= STARTS && space < INNERS

/** The one term that every event has, and the one that events with a place have. */
export const EVERY_EVENT = 254
export const PLACED_EVENT = 255

/** How many characters of a value make a term of `innerSpace`, and at least of `startSpace`. */
export const GRAM = 3
/** At most of `startSpace`. */
export const LONGEST_START = GRAM + 7

const GRAM_CELLS = 1 << 13

/** Where a gram of these code units is counted; others may share the cell. */
export const gramCell = (first: number, second: number, third: number): number =>
  (Math.imul(first, 961) + Math.imul(second, 31) + third) & (GRAM_CELLS - 1)

/** Where a start of this length is counted that begins with the gram of a cell; of 16 bits. */
export const startCell = (cell: number, length: number): number => cell | ((length - GRAM) << 13)

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
  /** A bit for each length that some rule wants, by the cell of the gram: an event has far more than any rule asks for. */
  readonly wanted = new Uint16Array(GRAM_CELLS)
  private readonly wishes = new Int32Array(GRAM_CELLS)
  /** Starts that rules want, counted by the top bits of the term as far as a byte goes: most that an event has are not. */
  readonly starts = new Uint8Array(1 << 16)

  usesOf(space: number): number {
    return this.uses[space] ?? 0
  }

  isUsed(space: number): boolean {
    return this.usesOf(space) > 0
  }

  /** A rule more, or one less, that looks at the space; for a gram or a start also at its cell. */
  count(space: number, cell: number, change: 1 | -1): void {
    const uses = this.usesOf(space) + change
    this.uses[space] = uses
    const gram = cell & (GRAM_CELLS - 1)
    const wishes = (this.wishes[gram] ?? 0) + change
    this.wishes[gram] = wishes
    this.wanted[gram] = wishes === 0 ? 0 : (this.wanted[gram] ?? 0) | (1 << (GRAM + (cell >>> 13)))
    if (uses === 0 || (uses === 1 && change === 1)) this.refresh()
  }

  /** A counter that is full stays so: what it stands for is looked at for nothing from then on, and never missed. */
  countStart(high: number, change: 1 | -1): void {
    const counter = high >>> 16
    const count = this.starts[counter] ?? 0
    if (count < 0xff) this.starts[counter] = count + change
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
