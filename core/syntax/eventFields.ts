/** What a rule can see of an event: its values by field, worked out when first asked for and then kept. */
import type { KeywordField, NumberField, TextField } from "./expression.ts"
import type { Tokens } from "./firehose/tokens.ts"

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

/** How a platform reads each of its fields. A field that is not named is absent from its events. */
export interface FieldReaders {
  readonly id: () => string
  readonly text: { readonly [field in TextField]?: () => ReadonlyArray<string> }
  readonly analyse: (text: string, field: TextField) => Tokens
  readonly keywords: { readonly [field in KeywordField]?: () => ReadonlyArray<string> }
  readonly number: { readonly [field in NumberField]?: () => number | undefined }
  readonly places: () => ReadonlyArray<Area>
  readonly ageHours: number | undefined
}

export const lazyFields = (readers: FieldReaders): EventFields => {
  const texts = new Map<TextField, ReadonlyArray<Tokens>>()
  const keywords = new Map<KeywordField, ReadonlyArray<string>>()
  let id: string | undefined
  return {
    get id() {
      id ??= readers.id()
      return id
    },
    text: (field) =>
      kept(texts, field, () => [...new Set(readers.text[field]?.())].map((text) => readers.analyse(text, field))),
    keywords: (field) => kept(keywords, field, () => [...new Set(readers.keywords[field]?.())]),
    number: (field) => readers.number[field]?.(),
    places: readers.places,
    ageHours: readers.ageHours
  }
}

// ---- helpers ----

const kept = <K, V>(known: Map<K, V>, key: K, make: () => V): V => {
  const found = known.get(key)
  if (found !== undefined) {
    return found
  }
  const value = make()
  known.set(key, value)
  return value
}
