/** Topics of the demo feed (`topics.json`): words that a first rule is likely to search for, and no fake news. */
import { Schema } from "effect"
import { optional } from "../../core/model/optional.ts"
import { Texts } from "./phrases.ts"
import data from "./topics.json" with { type: "json" }

export type Topic = typeof Topic.Type

const Topic = Schema.Struct({
  /** Also the section in addresses. */
  id: Schema.String,
  /** Relative frequency. */
  weight: Schema.Number,
  /** A name and a thing make a subject: "NASA launch party". A duplicate entry is chosen twice as often. */
  names: Texts,
  things: Texts,
  /** The topic in other languages. */
  nouns: Schema.Struct({ es: Schema.String, de: Schema.String, fr: Schema.String, ja: Schema.String }),
  /** Without the `#`. Posts in other languages use the first one. */
  tags: Texts,
  cashtags: optional(Texts),
  /** The `page_category` labels, best match first. */
  categories: Texts,
  /** An account that writes this share of the English posts. The sentences are harmless. */
  official: optional(
    Schema.Struct({
      account: Schema.Literal("acme", "github", "nasa", "openai", "tesla"),
      share: Schema.Number,
      posts: Texts
    })
  )
})

export const topics = Schema.decodeUnknownSync(Schema.NonEmptyArray(Topic), { onExcessProperty: "error" })(data)
