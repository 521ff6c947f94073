/** What a document says of a feed: which items are new, and since when others may have come and gone. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { afterDocument, type FeedState, newFeed } from "../../../adapters/feeds/FeedState.ts"
import type { FeedItem } from "../../../adapters/feeds/parse.ts"
import { withKeys } from "../../../adapters/feeds/parser.ts"

const item = (id: string, title: string, url = `https://example.org/${title}`): FeedItem => ({
  id,
  url,
  title,
  link_texts: [],
  authors: [],
  categories: [],
  enclosures: []
})

const digest = (text: string) => createHash("sha256").update(text).digest("hex")

/** The documents, one after the other, a minute apart: what is new, and since when items may be missing. */
const read = (...documents: ReadonlyArray<ReadonlyArray<FeedItem>>) => {
  let state: FeedState = newFeed("https://example.org/feed.xml", 0)
  return documents.map((items, minute) => {
    const since = state.readAt
    const feed = withKeys({ format: "rss", items }, digest)
    const polled = afterDocument(state, feed, { now: minute * 60_000, minMillis: 0 })
    state = polled.state
    return { fresh: polled.fresh.map(({ id }) => id), ...(polled.isJump && { missingSince: (since ?? 0) / 60_000 }) }
  })
}

describe("afterDocument", () => {
  it("finds what is new when the ids of the others are written anew", () => {
    const [, rewritten] = read([item("1", "a"), item("2", "b")], [item("x3", "c"), item("x1", "a"), item("x2", "b")])
    assert.deepStrictEqual(rewritten, { fresh: ["x3"] })
  })

  it("does not take items that share one link for rewritten ones", () => {
    const status = (id: string) => item(id, `Status ${id}`, "https://example.org/status")
    const [, next] = read([status("1")], [status("2")])
    assert.deepStrictEqual(next, { fresh: ["2"], missingSince: 0 })
  })

  it("does not count an older document, or an empty one, as one that shows that nothing came", () => {
    const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((name) => item(name, name)) as [
      FeedItem,
      FeedItem,
      FeedItem,
      FeedItem,
      FeedItem
    ]
    const found = read([b, a], [c, b], [b, a], [], [e, d])
    assert.deepStrictEqual(found.slice(1), [
      { fresh: ["c"] },
      { fresh: [] },
      { fresh: [] },
      { fresh: ["e", "d"], missingSince: 1 }
    ])
  })
})
