/** What a rule can see of an event: its values by field, worked out when first asked for and then kept. */
import type { KeywordField, NumberField, TextField } from "./expression.ts"
import type { Tokens } from "./firehose/tokens.ts"
import type { WordRow } from "./WordRow.ts"

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

/** An event as it came from its platform: its texts can also be had without making a string of every word. */
export interface PlatformEvent extends EventFields {
  /** What `text` analyses, value by value. */
  readonly texts: (field: TextField) => ReadonlyArray<string>
  /** Writes the words of one such value, the same as `text` gives. */
  readonly writeWords: (row: WordRow, text: string, field: TextField) => void
}

/** How a platform reads each of its fields. A field that its events do not have gives nothing. */
export interface FieldReader {
  readonly id: () => string
  readonly texts: (field: TextField) => ReadonlyArray<string>
  readonly analyse: (text: string, field: TextField) => Tokens
  readonly writeWords: (row: WordRow, text: string, field: TextField) => void
  readonly values: (field: KeywordField) => ReadonlyArray<string>
  readonly number: (field: NumberField) => number | undefined
  readonly places: () => ReadonlyArray<Area>
  readonly ageHours: () => number | undefined
}

export class LazyFields implements PlatformEvent {
  private readonly reader: FieldReader
  private readonly analysed = new Map<TextField, ReadonlyArray<Tokens>>()
  private readonly values = new Map<KeywordField, ReadonlyArray<string>>()
  private name: string | undefined

  constructor(reader: FieldReader) {
    this.reader = reader
  }

  get id(): string {
    this.name ??= this.reader.id()
    return this.name
  }

  text(field: TextField): ReadonlyArray<Tokens> {
    let found = this.analysed.get(field)
    if (found === undefined) {
      const { reader } = this
      found = this.texts(field).map((text) => reader.analyse(text, field))
      this.analysed.set(field, found)
    }
    return found
  }

  texts(field: TextField): ReadonlyArray<string> {
    return distinct(this.reader.texts(field))
  }

  writeWords(row: WordRow, text: string, field: TextField): void {
    this.reader.writeWords(row, text, field)
  }

  keywords(field: KeywordField): ReadonlyArray<string> {
    let found = this.values.get(field)
    if (found === undefined) {
      found = distinct(this.reader.values(field))
      this.values.set(field, found)
    }
    return found
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
