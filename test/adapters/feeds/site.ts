/** A publisher of feeds, and the adapter that reads it, on the test clock. */
import process from "node:process"
import { Chunk, Clock, Context, Effect, Either, Exit, Layer, Logger, Option, Scope, Stream, TestClock } from "effect"
import { layerWith } from "../../../adapters/feeds/Feeds.ts"
import { Addresses } from "../../../adapters/http/addresses.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { FeedStore } from "../../../core/feeds/FeedStore.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { Platforms, type Signal } from "../../../core/platforms/Platform.ts"
import type { Quotas } from "../../../core/quotas/Quotas.ts"
import { quotas } from "../../quotas.ts"
import { settle } from "../../simulator/stage.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { memoryFeeds } from "../../stores/memoryFeeds.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { startReceiver } from "../webhooks/receiver.ts"
import { parserHere } from "./parserHere.ts"

export const NOW = Date.UTC(2026, 10, 15, 12)

/** A publisher whose feed the test writes. */
export const site = () =>
  Effect.gen(function* () {
    const state = {
      status: 200,
      headers: {} as Record<string, string>,
      ids: [] as ReadonlyArray<string>,
      idPrefix: "",
      isDown: false
    }
    const { received, url } = yield* startReceiver((_, response) => {
      if (state.isDown) return void response.destroy()
      response.writeHead(state.status, { "content-type": "application/rss+xml", ...state.headers })
      response.end(state.status === 200 ? rss(state.ids, state.idPrefix) : "")
    })
    return Object.assign(state, {
      received,
      url: `${url}/feed.xml`,
      show: (...ids: ReadonlyArray<string>) => {
        state.ids = ids
      }
    })
  })

const rss = (ids: ReadonlyArray<string>, prefix: string) =>
  `<rss version="2.0"><channel><title>News</title>${ids
    .map(
      (id) => `<item><guid>${prefix}${id}</guid><link>https://example.org/${id}</link><title>Storm ${id}</title></item>`
    )
    .join("")}</channel></rss>`

const local = Either.getOrThrow(Addresses.parse("127.0.0.0/8", { who: "feeds", setting: "EARSHOT_FEED_ALLOW" }))

/** On the test clock, with a rule for every item. `isDurable`: matches are stored. */
export const watched = (
  urls: string,
  {
    store,
    addresses = local,
    isDurable = true,
    limits = quotas()
  }: {
    readonly store?: FeedStore["Type"]
    readonly addresses?: Addresses
    readonly isDurable?: boolean
    readonly limits?: Layer.Layer<Quotas, never, Platforms>
  } = {}
) =>
  Effect.gen(function* () {
    if (store === undefined) yield* TestClock.setTime(NOW)
    const stores = Layer.merge(memoryRules, store === undefined ? memoryFeeds : Layer.succeed(FeedStore, store))
    const services = Layer.provideMerge(
      limits,
      Layer.mergeAll(Platforms.layer, stores, Entropy.layerCounting, recentEvents)
    )
    const quiet = Logger.replace(Logger.defaultLogger, Logger.none)
    const feeds = layerWith({
      urls: urls.split(",").filter((url) => url !== ""),
      addresses,
      parser: parserHere,
      listMillis: 20_000
    })
    const context = yield* Layer.build(Layer.provideMerge(feeds, services))
    const platform = yield* Effect.orDie(Context.get(context, Platforms).get("feeds"))
    yield* Effect.orDie(platform.register(["storm"]))
    const signals: Array<Signal> = []
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    let ahead = 0
    const clock = yield* Effect.clock
    const later = Object.create(clock, {
      unsafeCurrentTimeMillis: { value: () => clock.unsafeCurrentTimeMillis() + ahead },
      currentTimeMillis: { get: () => Effect.map(clock.currentTimeMillis, (now) => now + ahead) }
    })
    yield* Stream.runForEach(platform.watch(Option.none()).pipe(Stream.provideSomeLayer(quiet)), (signal) => {
      signals.push(signal)
      return isDurable && signal._tag === "Alive" ? (signal.ack ?? Effect.void) : Effect.void
    }).pipe(Effect.withClock(later), Effect.forkIn(scope))
    return {
      signals,
      /** In milliseconds. The stream finds that so much time has passed: to run every step of a day takes long. */
      jump: (millis: number) => {
        ahead += millis
      },
      context,
      store: Context.get(context, FeedStore),
      status: platform.status,
      stop: Scope.close(scope, Exit.void)
    }
  })

export const gapsIn = (signals: ReadonlyArray<Signal>) =>
  signals.flatMap((signal) => (signal._tag === "Lost" || signal._tag === "Suspected" ? [signal] : []))

/** Waits until no request is under way: real sockets need real time. Between two redirects there is none for a moment. */
export const answered = Effect.gen(function* () {
  for (let quiet = 0; quiet < 3; quiet++) {
    yield* settle
    yield* Effect.promise(() => new Promise((resume) => setTimeout(resume, 1)))
    if (process.getActiveResourcesInfo().some((name) => /^TCP(?:Socket|Connect)|^ZLIB/i.test(name))) quiet = 0
  }
})

/** From one pending sleep to the next: a request must not run out of time before it is answered. */
export const pass = (seconds: number) =>
  Effect.gen(function* () {
    yield* answered
    const end = (yield* Clock.currentTimeMillis) + seconds * 1_000
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      if (now >= end) return
      const due = Chunk.filter(yield* TestClock.sleeps(), (at) => at > now)
      yield* TestClock.setTime(Math.min(end, ...due))
      yield* answered
    }
  })

const recentEvents = Layer.scopedContext(
  Effect.withClock(Layer.build(RecentEvents.layerWith({ keep: 1_000 }).pipe(Layer.provide(memoryEvents))), Clock.make())
)
