/** Wire schemas of the feeds that an account has added. */
import { Schema } from "effect"
import { optional } from "../model/optional.ts"
import { Timestamp } from "../model/Timestamp.ts"
import { webUrl } from "../model/webUrl.ts"

const FeedUrl = webUrl({
  example: "https://example.org/feed.xml",
  who: "feeds",
  credentials: "feeds with a password are not read",
  description: "Address of an RSS, Atom or JSON feed",
  hasFragment: true
})

export const FeedDraft = Schema.Struct({ url: FeedUrl })
export type FeedDraft = typeof FeedDraft.Type

export const Feed = Schema.Struct({
  url: Schema.String,
  title: optional(Schema.String, "As the feed states it"),
  state: Schema.Literal("waiting", "ok", "failing", "gone").annotations({
    description:
      "waiting: not read yet, and its items do not match. ok: the last poll succeeded. failing: it did not, and is tried again. gone: the publisher says that the feed is gone (HTTP 410); it is not asked again: remove and add it to try"
  }),
  added_at: Timestamp,
  last_read_at: optional(Timestamp, "The last poll that succeeded"),
  next_read_at: optional(Timestamp, "The earliest time of the next poll"),
  last_error: optional(Schema.String, "Of failing and gone: why it cannot be read"),
  missed_at: optional(
    Timestamp,
    "The last poll that showed no item of the poll before: items may have come and gone in between"
  )
}).annotations({ identifier: "Feed" })
export type Feed = typeof Feed.Type
