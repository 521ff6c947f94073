/** What a rule can see of an event: its values by field, worked out when first asked for and then kept. */

import type { Tokens } from "../words/tokens.ts"
import type { KeywordField, NumberField, TextField } from "./expression.ts"

/** An area in degrees. `west` is greater than `east` where it crosses the 180th meridian; a point is an area of no size. */
export interface Area {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

export interface EventFields {
  /** The same for the same event: what a match of it is known by. */
  readonly id: string
  /** One entry for each value of the field; a phrase never runs over from one into the next. */
  readonly text: (field: TextField) => ReadonlyArray<Tokens>
  /** On `x` in lower case. No value is there twice. */
  readonly keywords: (field: KeywordField) => ReadonlyArray<string>
  readonly number: (field: NumberField) => number | undefined
  /** Where the event is from: a point, the area of a place, or both. */
  readonly places: () => ReadonlyArray<Area>
  /** From publication to the match; below zero for a date in the future, `undefined` for no date. */
  readonly ageHours: number | undefined
}

/** An event as it came from its platform: for those who go through all of it once, without keeping anything. */
export interface PlatformEvent extends EventFields {
  /** The same as `keywords`. */
  readonly values: (field: KeywordField) => ReadonlyArray<string>
  /** What `text` analyses, value by value. */
  readonly texts: (field: TextField) => ReadonlyArray<string>
  /** Writes the words of one such value to the row of words, the same as `text` gives; gives their number. */
  readonly writeWords: (text: string, field: TextField) => number
}

/** How a platform reads each of its fields. A field that its events do not have gives nothing. */
export interface FieldReader {
  readonly id: () => string
  readonly texts: (field: TextField) => ReadonlyArray<string>
  readonly analyse: (text: string, field: TextField) => Tokens
  readonly writeWords: (text: string, field: TextField) => number
  readonly values: (field: KeywordField) => ReadonlyArray<string>
  readonly number: (field: NumberField) => number | undefined
  readonly places: () => ReadonlyArray<Area>
  readonly ageHours: () => number | undefined
}

export class LazyFields implements PlatformEvent {
  private readonly reader: FieldReader
  private knownTexts: Map<TextField, ReadonlyArray<Tokens>> | undefined
  private knownValues: Map<KeywordField, ReadonlyArray<string>> | undefined
  private knownId: string | undefined

  constructor(reader: FieldReader) {
    this.reader = reader
  }

  get id(): string {
    this.knownId ??= this.reader.id()
    return this.knownId
  }

  text(field: TextField): ReadonlyArray<Tokens> {
    this.knownTexts ??= new Map()
    let found = this.knownTexts.get(field)
    if (found === undefined) {
      const { reader } = this
      found = this.texts(field).map((text) => reader.analyse(text, field))
      this.knownTexts.set(field, found)
    }
    return found
  }

  keywords(field: KeywordField): ReadonlyArray<string> {
    this.knownValues ??= new Map()
    let found = this.knownValues.get(field)
    if (found === undefined) {
      found = this.values(field)
      this.knownValues.set(field, found)
    }
    return found
  }

  values(field: KeywordField): ReadonlyArray<string> {
    return distinct(this.reader.values(field))
  }

  texts(field: TextField): ReadonlyArray<string> {
    return distinct(this.reader.texts(field))
  }

  writeWords(text: string, field: TextField): number {
    return this.reader.writeWords(text, field)
  }

  number(field: NumberField): number | undefined {
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

const distinct = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.length < 2 ? values : [...new Set(values)]
