/** The form of a feed item, for documentation and client types. Unknown fields are allowed. */
import { Schema } from "effect"
import { list, open, optional } from "../expression/openSchema.ts"

const Text = optional(Schema.String)

const Feed = open({ url: Schema.String, title: Text, format: Text, language: Text })

const Item = open({
  id: Schema.String,
  url: Text,
  title: Text,
  summary: Text.annotations({ description: "The text of the item without HTML, at most 10,000 characters" }),
  link_texts: list(Schema.String),
  authors: list(Schema.String),
  categories: list(Schema.String),
  published: Text.annotations({ description: "As the feed states it" }),
  language: Text,
  enclosures: list(open({ url: Text, type: Text }))
})

export const feedsSchema = open({
  feed: Feed,
  item: Item,
  seen_at: Text.annotations({ description: "When the feed first showed the item to Earshot" })
}).annotations({ description: "An item of an RSS, Atom, RDF or JSON feed" })
