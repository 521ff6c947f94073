/** The use cases of feeds, and lists of feeds. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option, TestClock } from "effect"
import type { FeedDraft } from "../../../core/feeds/Feed.ts"
import { FeedAddresses, Feeds } from "../../../core/feeds/Feeds.ts"
import { FeedStore } from "../../../core/feeds/FeedStore.ts"
import { addressesIn, opmlOf } from "../../../core/feeds/opml.ts"
import type { AccountId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import { quotas } from "../../quotas.ts"
import { memoryFeeds } from "../../stores/memoryFeeds.ts"

const [ANN, BEN] = ["acct_01kzyn2b1se8q9w3n5y7h0v4dz", "acct_01kzyn2b1se8q9w3n5y7h0v4e0"] as [AccountId, AccountId]

const layer = Layer.provideMerge(
  Layer.provide(Feeds.layer, Layer.succeed(FeedAddresses, { refusal: () => Option.none() })),
  Layer.merge(memoryFeeds, Layer.provide(quotas(), Platforms.layer))
)

const draft = (url: string): FeedDraft => ({ url })

describe("Feeds", () => {
  it.effect("list shows an account nothing of the polls before it has added the feed", () =>
    Effect.gen(function* () {
      const feeds = yield* Feeds
      const store = yield* FeedStore
      yield* feeds.add(ANN, draft("https://example.org/a"))
      yield* TestClock.adjust("1 minute")
      const url = "https://example.org/a"
      const poll = (error: string | null) =>
        Effect.flatMap(Timestamp.now, (at) =>
          store.save([
            {
              url,
              title: "News",
              askedAt: at,
              readAt: at,
              nextAt: at,
              missedAt: at,
              error,
              isGone: false,
              memory: "{}"
            }
          ])
        )
      yield* poll(null)
      yield* TestClock.adjust("1 minute")
      const added = yield* feeds.add(BEN, draft(url))
      assert.deepStrictEqual(added, { url, state: "waiting", added_at: Timestamp.fromMillis(120_000) })
      assert.deepInclude((yield* feeds.list(ANN))[0], { title: "News", state: "ok" })
      yield* TestClock.adjust("1 minute")
      yield* poll("HTTP 503")
      assert.deepInclude((yield* feeds.list(BEN))[0], { title: "News", state: "failing", last_error: "HTTP 503" })
      assert.strictEqual((yield* Effect.flip(feeds.remove(BEN, "https://example.org/b")))._tag, "FeedNotFound")
      assert.strictEqual(yield* feeds.remove(BEN, "HTTPS://Example.org/a#x"), url)
      assert.lengthOf(yield* feeds.list(ANN), 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("add refuses every address on a server that reads no feeds", () =>
    Effect.gen(function* () {
      const feeds = yield* Feeds
      const error = yield* Effect.flip(feeds.add(ANN, draft("https://example.org/a")))
      assert.include(error.message, "this server reads no feeds")
    }).pipe(
      Effect.provide(Layer.provide(Feeds.layer, Layer.merge(memoryFeeds, Layer.provide(quotas(), Platforms.layer))))
    )
  )
})

describe("lists of feeds", () => {
  const read = (list: string) => Either.getOrThrow(addressesIn(list))

  it("are read as lines with comments, or as OPML, and written as OPML", () => {
    const [one, two] = ['https://example.org/?a=1&b="2"', "https://example.org/two"]
    assert.deepStrictEqual(read(`# mine\n${two}\r\n\n ${two} ,https://a/`), [two, "https://a/"])
    const opml = opmlOf([{ url: one, title: "A <b> & \u0007c" }, { url: two }])
    assert.deepStrictEqual(read(opml), [one, two])
    assert.include(opml, 'text="A &lt;b&gt; &amp;  c"')
    assert.deepStrictEqual(read("no address\nhttps://a/"), ["no address", "https://a/"])
  })

  it("are refused if they are something else, or OPML that is cut off", () => {
    const refusal = (list: string) => Option.getOrElse(Either.getLeft(addressesIn(list)), () => "")
    for (const text of [
      '{\n  "name": "earshot",\n  "homepage": "https://example.org/"\n}',
      "<!doctype html>\n<a\nhref=x>\nhttps://example.org/\n</a>",
      "\ufeff<?xml version='1.0'?><rss><channel><link>\nhttps://example.org/\n</link></channel></rss>",
      "ftp://example.org/"
    ]) {
      assert.match(refusal(text), /^It is not a list of feeds: expected OPML, or one address per line/, text)
    }
    const opml = opmlOf([{ url: "https://example.org/one" }, { url: "https://example.org/two" }])
    for (const length of [opml.length - 1, opml.indexOf("two")]) {
      assert.match(refusal(opml.slice(0, length)), /^The OPML is cut off/)
    }
    assert.match(refusal("# none\n"), /^There is no address/)
  })
})
