/** The fields of an event as rules see them, computed on first use and cached. */

import type { Pace, Turns } from "../../work/turns.ts"
import type { Tokens } from "../words/tokens.ts"
import type { Field } from "./expression.ts"

/** In degrees. `west` is greater than `east` across the 180th meridian. A point is an area of size 0. */
export interface Area {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

export interface EventFields {
  /** Stable: the same event has the same id. Matches are deduplicated by it. */
  readonly id: string
  /** One entry per value of the field. A phrase never matches across two values. */
  readonly text: (field: Field) => ReadonlyArray<Tokens>
  /** Reads the field in turns, ahead of `text`. */
  readonly readText: (field: Field, pace: Pace) => Turns<void>
  /** Lower case on `x`. No duplicates, and no values longer than `MAX_VALUE_LENGTH`. */
  readonly keywords: (field: Field) => ReadonlyArray<string>
  readonly number: (field: Field) => number | undefined
  /** A point, the area of a place, or both. */
  readonly places: () => ReadonlyArray<Area>
  /** From publication to the match. Negative for a date in the future. */
  readonly ageHours: number | undefined
}

/** What a reader wants to know first. A part is absent if the event does not have it. */
export interface EventSummary {
  /** `@nasa` on X. */
  readonly author?: string
  readonly text?: string
  readonly link?: string
}

/** An event with uncached access, for the engine: it reads everything once. */
export interface PlatformEvent extends EventFields {
  /** Like `keywords`. */
  readonly values: (field: Field) => ReadonlyArray<string>
  /** The raw values of `text`. */
  readonly texts: (field: Field) => ReadonlyArray<string>
  /** The words of such a value, or of a piece of it. */
  readonly analyse: (text: string, field: Field) => Tokens
  /** Writes the words of one such value to the word buffer and returns their number. Same words as `text`. */
  readonly writeWords: (text: string, field: Field) => number
}

/** Reads the fields of one platform's events. Empty for fields that these events do not have. */
export interface FieldReader {
  readonly id: () => string
  readonly texts: (field: Field) => ReadonlyArray<string>
  readonly analyse: (text: string, field: Field) => Tokens
  /** Like `analyse`, for long texts. Absent: there are none. */
  readonly analyseInTurns?: (text: string, field: Field, pace: Pace) => Turns<Tokens>
  readonly writeWords: (text: string, field: Field) => number
  readonly values: (field: Field) => ReadonlyArray<string>
  readonly number: (field: Field) => number | undefined
  readonly places: () => ReadonlyArray<Area>
  readonly ageHours: () => number | undefined
}

export class LazyFields implements PlatformEvent {
  private readonly reader: FieldReader
  private cachedTexts: Map<Field, ReadonlyArray<Tokens>> | undefined
  private cachedValues: Map<Field, ReadonlyArray<string>> | undefined
  private cachedId: string | undefined

  constructor(reader: FieldReader) {
    this.reader = reader
  }

  get id(): string {
    this.cachedId ??= this.reader.id()
    return this.cachedId
  }

  text(field: Field): ReadonlyArray<Tokens> {
    this.cachedTexts ??= new Map()
    let found = this.cachedTexts.get(field)
    if (found === undefined) {
      const { reader } = this
      found = this.texts(field).map((text) => reader.analyse(text, field))
      this.cachedTexts.set(field, found)
    }
    return found
  }

  *readText(field: Field, pace: Pace): Turns<void> {
    if (this.cachedTexts?.has(field)) return
    const { reader } = this
    const found: Array<Tokens> = []
    for (const text of this.texts(field)) {
      const isLong = text.length >= LONG && reader.analyseInTurns !== undefined
      found.push(isLong ? yield* reader.analyseInTurns(text, field, pace) : reader.analyse(text, field))
      if (!isLong && pace.endsTurn(STEPS_PER_CHARACTER * text.length)) yield
    }
    this.cachedTexts ??= new Map()
    this.cachedTexts.set(field, found)
  }

  keywords(field: Field): ReadonlyArray<string> {
    this.cachedValues ??= new Map()
    let found = this.cachedValues.get(field)
    if (found === undefined) {
      found = this.values(field)
      this.cachedValues.set(field, found)
    }
    return found
  }

  values(field: Field): ReadonlyArray<string> {
    return distinct(this.reader.values(field).filter(isIndexable))
  }

  texts(field: Field): ReadonlyArray<string> {
    return distinct(this.reader.texts(field))
  }

  analyse(text: string, field: Field): Tokens {
    return this.reader.analyse(text, field)
  }

  writeWords(text: string, field: Field): number {
    return this.reader.writeWords(text, field)
  }

  number(field: Field): number | undefined {
    return this.reader.number(field)
  }

  places(): ReadonlyArray<Area> {
    return this.reader.places()
  }

  get ageHours(): number | undefined {
    return this.reader.ageHours()
  }
}

// ---- helpers ----

/** In UTF-16 code units: shorter texts take less than a millisecond. */
const LONG = 4_096

const STEPS_PER_CHARACTER = 100

/** Longer values exceed Lucene's limit of 32,766 bytes for a term if every character takes four bytes. */
const MAX_VALUE_LENGTH = 8_191

const isIndexable = (value: string): boolean => value.length <= MAX_VALUE_LENGTH

const distinct = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.length < 2 ? values : [...new Set(values)]
