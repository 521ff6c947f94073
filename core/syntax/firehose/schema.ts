/** The form of a Firehose update, for documentation and client types. Unknown fields are allowed. */
import { Schema } from "effect"
import { list, open, optional } from "../expression/openSchema.ts"

const Text = optional(Schema.String)

const Page = open({
  url: Schema.String,
  title: Text,
  language: Text,
  publish_time: Text,
  domain_rating: optional(Schema.Number),
  page_category: list(Schema.String),
  page_types: list(Schema.String),
  markdown: Text.annotations({ description: "The whole page, if Firehose sends it" }),
  diff: optional(
    open({ chunks: Schema.Array(open({ typ: Schema.Literal("ins", "del"), text: Schema.String })) })
  ).annotations({ description: "The added and removed text" })
}).annotations({ identifier: "FirehosePage", description: "A page that changed" })

export const firehoseSchema = open({ document: Page, matched_at: Text }).annotations({
  description: "A Firehose update. The added and removed text of the page is in document.diff"
})
