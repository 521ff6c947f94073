/** The form of a post of Bluesky's stream, for documentation and client types. Unknown fields are allowed. */
import { Schema } from "effect"
import { list, open, optional } from "../expression/openSchema.ts"

const Text = optional(Schema.String)

const Reference = optional(open({ uri: Text }))

const PostRecord = open({
  text: Text,
  createdAt: optional(Schema.String).annotations({ description: "As the author's client says" }),
  langs: list(Schema.String),
  tags: list(Schema.String),
  facets: optional(Schema.Array(open({ features: list(open({ uri: Text, did: Text, tag: Text })) }))).annotations({
    description: "Links, mentions and tags"
  }),
  reply: optional(open({ root: Reference, parent: Reference })),
  embed: optional(open({})),
  labels: optional(open({ values: list(open({ val: Text })) }))
})

export const blueskySchema = open({
  did: Schema.String.annotations({ description: "The author" }),
  time_us: optional(Schema.Number).annotations({ description: "When the platform saw the post, in microseconds" }),
  commit: open({
    operation: Text,
    collection: Text,
    rkey: Schema.String,
    cid: Text,
    record: PostRecord
  }),
  handles: optional(Schema.Record({ key: Schema.String, value: Schema.String })).annotations({
    description: "Handles of accounts in the post, by DID, as far as they were known"
  })
}).annotations({ identifier: "BlueskyPost", description: "A post as Bluesky's Jetstream delivers it" })
