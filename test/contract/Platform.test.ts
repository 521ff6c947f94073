/** Runs the platform contract on every adapter: in process, and over real sockets to the simulator. */

import { Clock, Effect, Either, Layer, Redacted, Stream } from "effect"
import * as Bluesky from "../../adapters/bluesky/Bluesky.ts"
import * as Feeds from "../../adapters/feeds/Feeds.ts"
import * as Firehose from "../../adapters/firehose/Firehose.ts"
import { Addresses } from "../../adapters/http/addresses.ts"
import * as RuntimeEntropy from "../../adapters/runtimes/entropy.ts"
import * as WebSockets from "../../adapters/runtimes/webSockets.ts"
import * as Wikimedia from "../../adapters/wikimedia/Wikimedia.ts"
import * as X from "../../adapters/x/X.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { LocalFeed, sentEvents } from "../../core/platforms/LocalFeed.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { languageOf, PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { parserHere } from "../adapters/feeds/parserHere.ts"
import { untilTrue } from "../eventually.ts"
import { localPlatforms } from "../platforms.ts"
import { SimulatedClock } from "../simulated/SimulatedClock.ts"
import { memoryEvents } from "../stores/memoryEvents.ts"
import { quotas } from "../quotas.ts"
import { memoryFeeds } from "../stores/memoryFeeds.ts"
import { memoryRules } from "../stores/memoryRules.ts"
import { platformContract } from "./platformContract.ts"

const NO_FOREIGN_RULES = "an in-process platform has no foreign rules"
const NO_CURSORS = "an in-process platform keeps no past events"

for (const id of PLATFORM_IDS) {
  platformContract({
    name: `${id} in process`,
    id,
    open: Effect.gen(function* () {
      const context = yield* Layer.build(local)
      const feed = yield* Effect.provide(LocalFeed, context)
      const platform = yield* Effect.flatMap(Platforms, (platforms) => platforms.get(id)).pipe(Effect.provide(context))
      return {
        platform,
        publish: (text) =>
          Effect.gen(function* () {
            const { event, eventId } = yield* newEvent(id, text)
            // Waits until the event is durable, which takes an open stream.
            yield* Effect.timeoutOption(Effect.orDie(feed.publish(sentEvents([event]))), "1 second")
            return eventId
          })
      }
    }),
    skip: {
      "inventory marks a foreign rule, and unregister ignores it": NO_FOREIGN_RULES,
      "watch delivers the events since the cursor": NO_CURSORS
    }
  })
}

platformContract({
  name: "x over the wire",
  id: "x",
  open: overTheWire("x"),
  skip: {
    "watch delivers the events since the cursor": "X has no cursors; its own tests cover backfill"
  }
})

platformContract({ name: "firehose over the wire", id: "firehose", open: overTheWire("firehose") })

platformContract({
  name: "bluesky over the wire",
  id: "bluesky",
  acceptance: "unasked",
  open: Effect.gen(function* () {
    const simulator = yield* Simulator.make({ seed: 1 })
    const baseUrl = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
    const adapter = Layer.provide(Bluesky.layerWith({ baseUrl }), WebSockets.layer)
    const context = yield* Layer.build(Layer.provideMerge(adapter, services))
    const platform = yield* Effect.flatMap(Platforms, (platforms) => platforms.get("bluesky")).pipe(
      Effect.provide(context)
    )
    return {
      platform,
      publish: (text) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const rkey = `3l${++lastNumber}`
          simulator.jetstream.publish({ did: "did:plc:a", commit: { rkey, record: { text } } }, now)
          return `at://did:plc:a/app.bsky.feed.post/${rkey}`
        })
    }
  }),
  skip: { "inventory marks a foreign rule, and unregister ignores it": "Bluesky holds no rules" }
})

platformContract({
  name: "wikimedia over the wire",
  id: "wikimedia",
  acceptance: "unasked",
  open: Effect.gen(function* () {
    const simulator = yield* Simulator.make({ seed: 1 })
    const baseUrl = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
    const adapter = Wikimedia.layerWith({ baseUrl, contact: "earshot@example.org" })
    const context = yield* Layer.build(Layer.provideMerge(adapter, services))
    const platform = yield* Effect.flatMap(Platforms, (platforms) => platforms.get("wikimedia")).pipe(
      Effect.provide(context)
    )
    return {
      platform,
      publish: (text) =>
        Effect.gen(function* () {
          const eventId = `change-${++lastNumber}`
          const dt = new Date(yield* simulator.control.now).toISOString()
          yield* Effect.orDie(
            simulator.control.publish([{ meta: { id: eventId, dt }, wiki: "enwiki", title: "A page", comment: text }])
          )
          return eventId
        })
    }
  }),
  skip: { "inventory marks a foreign rule, and unregister ignores it": "the rules are in this process" }
})

platformContract({
  name: "feeds over the wire",
  id: "feeds",
  acceptance: "unasked",
  open: Effect.gen(function* () {
    const simulator = yield* Simulator.make({ seed: 1 })
    const url = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}/feeds/1.xml`
    const addresses = Either.getOrThrow(Addresses.parse("127.0.0.0/8"))
    const adapter = Feeds.layerWith({ urls: [url], addresses, parser: parserHere, listMillis: 60_000 })
    const context = yield* Layer.build(
      Layer.provideMerge(Layer.provide(adapter, quotas()), Layer.merge(services, memoryFeeds))
    )
    const platform = yield* Effect.flatMap(Platforms, (platforms) => platforms.get("feeds")).pipe(
      Effect.provide(context)
    )
    const clock = new SimulatedClock(Date.now())
    // A sign of life comes every 15 seconds. A feed that is being read has 20.
    const isBetweenPolls = Effect.sync(() => clock.longestWait > 0 && clock.longestWait <= 15)
    return {
      platform: { ...platform, watch: (from) => Stream.provideSomeLayer(platform.watch(from), Layer.setClock(clock)) },
      publish: (text) =>
        Effect.gen(function* () {
          const id = `item-${++lastNumber}`
          yield* Effect.orDie(simulator.control.publish([{ feed: { url }, item: { id, title: text } }]))
          yield* untilTrue("the feed waits for its next poll", isBetweenPolls)
          yield* clock.jump(LONGEST_INTERVAL_SECONDS)
          yield* untilTrue("the feed is read", isBetweenPolls)
          return `${url} ${id}`
        })
    }
  }),
  skip: {
    "inventory marks a foreign rule, and unregister ignores it": "the rules are in this process",
    "watch delivers the events since the cursor": "a feed resumes where its last poll ended, not at an event"
  }
})

// ---- helpers ----

/** Of a feed that can be read, with some more. */
const LONGEST_INTERVAL_SECONDS = 70 * 60

function overTheWire(id: PlatformId) {
  return Effect.gen(function* () {
    const simulator = yield* Simulator.make({ seed: 1, settings: { x: { dead_slot_seconds: 0 } } })
    const baseUrl = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
    const { x, firehose } = simulator.control.settings
    const adapters = {
      x: X.layerWith({ baseUrl, token: Redacted.make(x.bearer_token), rulesPerAccount: 25, pricePerPost: 0.005 }),
      firehose: Firehose.layerWith({ baseUrl, token: Redacted.make(firehose.tap_token), rulesPerAccount: 0 })
    }
    const context = yield* Layer.build(Layer.provideMerge(adapters[id], services))
    const platform = yield* Effect.flatMap(Platforms, (platforms) => platforms.get(id)).pipe(Effect.provide(context))
    const { token, path, body } = {
      x: {
        token: x.bearer_token,
        path: "/2/tweets/search/stream/rules",
        body: (value: string) => ({ add: [{ value }] })
      },
      firehose: { token: firehose.tap_token, path: "/v1/rules", body: (value: string) => ({ value }) }
    }[id]
    return {
      platform,
      publish: (text: string) =>
        Effect.gen(function* () {
          const { event, eventId } = yield* newEvent(id, text)
          yield* Effect.orDie(simulator.control.publish([event]))
          return eventId
        }),
      createForeignRule: (text: string) =>
        Effect.promise(async () => {
          const answer = await fetch(`${baseUrl}${path}`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: JSON.stringify(body(text))
          })
          const { data } = (await answer.json()) as { data: { id: string } | [{ id: string }] }
          return Array.isArray(data) ? data[0].id : data.id
        })
    }
  })
}

const stores = Layer.mergeAll(
  memoryRules,
  RuntimeEntropy.layer,
  Layer.provide(RecentEvents.layerWith({ keep: 100 }), memoryEvents)
)

const services = Layer.merge(Platforms.layer, stores)

const local = Layer.provideMerge(localPlatforms({ x: 25 }), stores)

let lastNumber = 0

/** A new event and its id on the platform. */
function newEvent(id: PlatformId, text: string) {
  const number = ++lastNumber
  const event = {
    x: { data: { id: String(1_000_000 + number), text, lang: "en", author_id: "7" } },
    firehose: {
      document: {
        url: `https://news.example.com/${number}`,
        title: text,
        publish_time: new Date().toISOString().slice(0, 19),
        diff: { chunks: [{ typ: "ins", text }] },
        language: "en"
      }
    }
  }[id]
  return Effect.gen(function* () {
    const { sha256 } = yield* Entropy
    return { event, eventId: Either.getOrThrow(languageOf(id).events.idOf(event, sha256)) }
  }).pipe(Effect.provide(RuntimeEntropy.layer))
}
