/** Sentence templates of the demo feed in five languages (`phrases.json`). `{subject}` is replaced by a subject. */
import { type Array as Arr, Schema } from "effect"
import data from "./phrases.json" with { type: "json" }

export type Language = "en" | OtherLanguage

export type OtherLanguage = "es" | "de" | "fr" | "ja"

export const otherLanguages: Arr.NonEmptyReadonlyArray<OtherLanguage> = ["es", "de", "fr", "ja"]

export type Headline = typeof Headline.Type

const Headline = Schema.Struct({
  text: Schema.String,
  /** The `page_type` of a page with this headline. */
  type: Schema.String
})

export const Texts = Schema.NonEmptyArray(Schema.String)

const English = Schema.Struct({
  openers: Texts,
  posts: Texts,
  closers: Texts,
  headlines: Schema.NonEmptyArray(Headline),
  /** Added text of a page. */
  paragraphs: Texts,
  /** Removed text of a page. */
  outdated: Texts,
  /** Precedes a link to another page. */
  related: Schema.String,
  cities: Texts,
  days: Texts
})

const Other = Schema.Struct({
  ...English.fields,
  /**
   * Templates of subjects; an English subject is built from a name and a thing (`topics.json`). German ones are feminine
   * or neuter: their article is the same in the accusative.
   */
  subjects: Texts
})

export const phrases = Schema.decodeUnknownSync(
  Schema.Struct({ en: English, es: Other, de: Other, fr: Other, ja: Other }),
  { onExcessProperty: "error" }
)(data)
