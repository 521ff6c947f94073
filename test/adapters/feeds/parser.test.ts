/** The thread that parses feeds: a hostile document costs its feed, and no time of the server. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type FeedDocument, parserThread } from "../../../adapters/feeds/parser.ts"

describe("parserThread", () => {
  it.scopedLive("parses documents, also several at once, and says why one is no feed", () =>
    Effect.gen(function* () {
      const parse = yield* parserThread
      const titles = yield* Effect.forEach(
        ["a", "b", "c"],
        (title) => Effect.map(parse(rss(title)), (feed) => feed.title),
        {
          concurrency: 3
        }
      )
      assert.deepStrictEqual(titles, ["a", "b", "c"])
      const { items } = yield* parse({
        ...rss("a", "<item><guid>1</guid></item><item><guid>2</guid></item>"),
        maxItems: 1
      })
      assert.deepStrictEqual(
        items.map(({ id }) => id),
        ["1"]
      )
      assert.match((yield* Effect.flip(parse(documentOf("<html></html>")))).reason, /a web page, not a feed/)
    })
  )

  it.scopedLive("ends a document that takes too long, and parses the next one", () =>
    Effect.gen(function* () {
      const parse = yield* parserThread
      const unit = Array.from({ length: 100_000 }, (_, index) => `<a${index} b${index}=""/>`).join("")
      // Far beyond what may be fetched.
      const error = yield* Effect.flip(parse(rss("slow", unit.repeat(20))))
      assert.match(error.reason, /more than 5 seconds|too much memory/)
      assert.strictEqual((yield* parse(rss("next"))).title, "next")
    })
  )

  it.scopedLive("leaves this thread free meanwhile", () =>
    Effect.gen(function* () {
      const parse = yield* parserThread
      yield* parse(rss("warm"))
      let ticks = 0
      const timer = setInterval(() => ticks++, 1)
      // On a busy machine it may also end because it takes too long.
      yield* Effect.either(parse(rss("hostile", "<item/>".repeat(50_000))))
      clearInterval(timer)
      assert.isAtLeast(ticks, 5)
    })
  )
})

// ---- helpers ----

const documentOf = (text: string): FeedDocument => ({
  body: new TextEncoder().encode(text),
  contentType: "application/xml",
  baseUrl: "https://example.org/",
  maxItems: 100
})

const rss = (title: string, content = ""): FeedDocument =>
  documentOf(`<rss version="2.0"><channel><title>${title}</title>${content}</channel></rss>`)
