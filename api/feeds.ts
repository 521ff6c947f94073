/** The operations on the feeds that an account adds. They exist only while the platform of feeds is on. */
import { Schema } from "effect"
import { Feed, FeedDraft } from "../core/feeds/Feed.ts"
import { contract } from "./Contract.ts"

const platform = "feeds"

const exampleFeed = {
  url: "https://example.org/feed.xml",
  title: "Example news",
  state: "ok",
  added_at: "2026-11-15T08:30:30.000Z",
  last_read_at: "2026-11-15T08:46:12.000Z",
  next_read_at: "2026-11-15T09:02:40.000Z"
} as const

export const feeds = {
  add: contract({
    platform,
    method: "POST",
    path: "/feeds/add",
    name: "addFeed",
    scope: "write",
    tag: "feeds",
    summary: "Add a feed",
    description:
      "Reads the RSS, Atom or JSON feed at this address for the rules of the account, every 5 to 60 minutes. The items that it shows at its first poll match nothing; those that appear later do. Adding a feed that is there already changes nothing.",
    input: FeedDraft,
    output: Schema.Struct({ feed: Feed }),
    example: {
      request: { url: exampleFeed.url },
      response: { feed: { url: exampleFeed.url, state: "waiting", added_at: exampleFeed.added_at } }
    }
  }),

  list: contract({
    platform,
    method: "GET",
    path: "/feeds",
    name: "listFeeds",
    scope: "read",
    tag: "feeds",
    summary: "List the feeds",
    description:
      "The feeds that the account has added, by address, each with its state. The feeds that the operator reads for all accounts are not listed.",
    input: Schema.Struct({}),
    output: Schema.Struct({ feeds: Schema.Array(Feed) }),
    example: { response: { feeds: [exampleFeed] } }
  }),

  remove: contract({
    platform,
    method: "POST",
    path: "/feeds/remove",
    name: "removeFeed",
    scope: "write",
    tag: "feeds",
    summary: "Remove a feed",
    description: "Its items no longer match the rules of the account. Stored matches stay.",
    input: Schema.Struct({ url: Schema.String.annotations({ description: "The address, as GET /feeds shows it" }) }),
    output: Schema.Struct({ url: Schema.String }),
    example: { request: { url: exampleFeed.url }, response: { url: exampleFeed.url } }
  })
}
