/** A feed with as many new items as are accepted, and many expensive rules: the process goes on in between. */
import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option, Stream } from "effect"
import { recordOf, newFeed } from "../../adapters/feeds/FeedState.ts"
import { layerWith } from "../../adapters/feeds/Feeds.ts"
import { Addresses } from "../../adapters/http/addresses.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { FeedStore } from "../../core/feeds/FeedStore.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { parserHere } from "../adapters/feeds/parserHere.ts"
import { startReceiver } from "../adapters/webhooks/receiver.ts"
import { quotas } from "../quotas.ts"
import { memoryEvents } from "../stores/memoryEvents.ts"
import { memoryFeeds } from "../stores/memoryFeeds.ts"
import { memoryRules } from "../stores/memoryRules.ts"

describe("a feed with very many new items", () => {
  it.scopedLive("does not stall the process while they are matched", () =>
    Effect.gen(function* () {
      const { url } = yield* startReceiver((_, response) => void response.end(rss(ITEMS)))
      const addresses = Either.getOrThrow(Addresses.parse("127.0.0.0/8"))
      // Only the matching is measured: a thread parses the document.
      let stall = 0
      let before = 0
      let timer: ReturnType<typeof setInterval> | undefined
      const look = () => {
        const now = workedMillis()
        stall = Math.max(stall, now - before)
        before = now
      }
      const begin = () => {
        before = workedMillis()
        timer = setInterval(look, 1)
      }
      const parser = Effect.map(
        parserHere,
        (parse) => (document: Parameters<typeof parse>[0]) => Effect.tap(parse(document), () => Effect.sync(begin))
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(timer)))
      const adapter = layerWith({ urls: [`${url}/`], addresses, parser, listMillis: 60_000 })
      const stores = Layer.mergeAll(memoryRules, memoryFeeds, Platforms.layer, Entropy.layerCounting, recent)
      const context = yield* Layer.build(Layer.provideMerge(adapter, Layer.provideMerge(quotas(), stores)))
      yield* Effect.gen(function* () {
        const platform = yield* (yield* Platforms).get("feeds")
        yield* platform.register(Array.from({ length: 100 }, (_, n) => `storms${n}~2`))
        yield* (yield* FeedStore).save([recordOf({ ...newFeed(`${url}/`, 0), readAt: 1, ids: "known" })])
        const found = yield* Stream.runCollect(
          Stream.take(
            Stream.filter(platform.watch(Option.none()), ({ _tag }) => _tag === "Event"),
            ITEMS
          )
        )
        assert.lengthOf(found, ITEMS)
      }).pipe(Effect.provide(context))
      look()
      assert.isBelow(stall, MAX_STALL)
    })
  )
})

// ---- helpers ----

/** In milliseconds. Before, the process stalled for more than half a second; a busy machine alone stalls it for some milliseconds. */
const MAX_STALL = 150

const ITEMS = 2_000

const recent = Layer.provide(RecentEvents.layerWith({ keep: 1_000 }), memoryEvents)

const rss = (items: number): string =>
  `<rss version="2.0"><channel>${Array.from(
    { length: items },
    (_, n) => `<item><guid>${n}</guid><description>storms1 ${"word ".repeat(300)}${n}</description></item>`
  ).join("")}</channel></rss>`

/** CPU time of the main thread, where the system tells it: on a busy machine other processes run in between. */
const workedMillis = (): number =>
  existsSync(SCHEDSTAT) ? Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[0]) / 1e6 : performance.now()

const SCHEDSTAT = "/proc/self/schedstat"
