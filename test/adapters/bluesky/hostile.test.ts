/** Events of Bluesky with any fields: one that cannot be read is reported, and the others are delivered. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Clock, Context, Effect, Either, Layer, Logger, Option, Stream, TestClock } from "effect"
import fc from "fast-check"
import * as Bluesky from "../../../adapters/bluesky/Bluesky.ts"
import { frameOf } from "../../../adapters/bluesky/frames.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { Platforms, type Signal } from "../../../core/platforms/Platform.ts"
import { objectOf } from "../../../core/text/json.ts"
import { Jetstream } from "../../../simulator/bluesky/Jetstream.ts"
import { sized } from "../../long.ts"
import { NOW, pass, settle } from "../../simulator/stage.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { idsIn } from "../wikimedia/platform.ts"
import { socketsOn } from "./inProcess.ts"

const full = {
  did: "did:plc:a",
  commit: {
    $type: "network.bsky.jetstream.subscribeEvents#commit",
    time: new Date(NOW).toISOString(),
    rev: "3l",
    operation: "create",
    collection: "app.bsky.feed.post",
    rkey: "hostile",
    cid: "bafy",
    record: {
      $type: "app.bsky.feed.post",
      text: "a storm #tag $TAG @ann.example",
      createdAt: new Date(NOW).toISOString(),
      langs: ["en-US", "de"],
      tags: ["tag"],
      facets: [
        { index: { byteStart: 8, byteEnd: 12 }, features: [{ $type: "app.bsky.richtext.facet#tag", tag: "tag" }] },
        { index: { byteStart: 0, byteEnd: 4 }, features: [{ uri: "https://example.org/a" }, { did: "did:plc:b" }] }
      ],
      reply: { root: { uri: "at://did:plc:b/app.bsky.feed.post/1" }, parent: { uri: "at://did:plc:b/x/2" } },
      labels: { values: [{ val: "spoiler" }] },
      embed: {
        record: { record: { uri: "at://did:plc:c/app.bsky.feed.post/3" } },
        media: {
          images: [{ alt: "a picture" }],
          external: { uri: "https://example.org/", title: "t", description: "d" }
        }
      }
    }
  }
}

const wrong = fc.constantFrom<unknown>(
  ...[undefined, null, true, -1, 1e300, "", " ", "x", "\ud800", "\u0000", "2026-99-99T", [], [null], {}, [[{}]]],
  ...["9".repeat(500), "https://[", "at://", { uri: {} }]
)
/** In place of the number that the stream gives an event. */
const anyNumber = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  wrong.map((seq) => ({ seq }))
)
/** Any fields, also within others, are replaced or removed. */
const anyEvent = fc.array(fc.tuple(fc.nat(75), wrong), { minLength: 1, maxLength: 6 }).map((replaced) =>
  replaced.reduce<unknown>((record, [place, value]) => {
    let left = place + 1
    return record === undefined
      ? record
      : JSON.parse(JSON.stringify(record), (_, one: unknown) => (left-- === 0 ? value : one))
  }, full)
)

const FILTERS = [
  ...["storm", "#tag", "from:did:plc:a", "url:example", "storm (is:reply OR is:quote OR lang:en OR label:spoiler)"],
  ...["storm (has:images OR has:links OR domain:example.org)", "mentions:did:plc:b", "url_title:t"]
]

describe("events of Bluesky", () => {
  it.scoped(
    "may lack any field or have it with any type: what cannot be read is reported, the others are delivered",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW)
        const jetstream = new Jetstream()
        const signals = yield* watched(jetstream)
        const records = fc.sample(fc.tuple(anyEvent, anyNumber), { numRuns: sized(150, 1_000), seed: 1 })
        const good: Array<string> = []
        for (const [index, [record, number]] of records.entries()) {
          const event = objectOf(record) ?? {}
          jetstream.publish({ ...event, commit: { ...objectOf(event["commit"]), ...number } }, NOW)
          const rkey = `good${index}`
          good.push(`at://did:plc:g/app.bsky.feed.post/${rkey}`)
          jetstream.publish({ did: "did:plc:g", commit: { rkey, record: { text: "a storm" } } }, NOW)
          if (index % 50 === 49) yield* pass(1)
        }
        yield* pass(5)
        assert.deepStrictEqual(
          idsIn(signals).filter((id) => id.startsWith("at://did:plc:g/")),
          good
        )
        const lost = signals.filter((signal) => signal._tag === "Lost" && signal.cause === "unreadable")
        assert.isAbove(lost.length, 0)
        assert.isFalse(signals.some(({ _tag }) => _tag === "GapStarted"))
        // Where it resumes is not spoilt.
        for (const seq of [-1, 1e300]) {
          jetstream.publish({ did: "did:plc:a", commit: { rkey: "odd", record: { text: "a storm" }, seq } }, NOW)
        }
        yield* pass(1)
        jetstream.inject({ close: 1001 }, NOW)
        yield* pass(30)
        jetstream.publish({ did: "did:plc:g", commit: { rkey: "last", record: { text: "a storm" } } }, NOW + 40_000)
        yield* pass(5)
        assert.strictEqual(idsIn(signals).at(-1), "at://did:plc:g/app.bsky.feed.post/last")
        assert.strictEqual(jetstream.opened, 2)
      })
  )

  it("are frames, or are reported, or are no posts", () => {
    fc.assert(
      fc.property(anyEvent, (record) => {
        const { commit, ...rest } = (record ?? {}) as { readonly commit?: object }
        const frame = frameOf(JSON.stringify({ $type: "message", payload: { seq: 5, ...rest, ...commit } }))
        assert.isTrue(Either.isLeft(frame) || frame.right?._tag !== "Failed")
      }),
      { numRuns: 300 }
    )
  })
})

// ---- helpers ----

const watched = (jetstream: Jetstream) =>
  Effect.gen(function* () {
    const services = Layer.mergeAll(Platforms.layer, memoryRules, Entropy.layerCounting, recentEvents)
    const adapter = Layer.provide(Bluesky.layerWith({ baseUrl: "http://east.example" }), socketsOn(jetstream))
    const context = yield* Layer.build(Layer.provideMerge(adapter, services))
    const platform = yield* Effect.orDie(Context.get(context, Platforms).get("bluesky"))
    const outcomes = yield* Effect.orDie(platform.register(FILTERS))
    assert.deepStrictEqual(
      outcomes.flatMap((outcome) => (Either.isLeft(outcome) ? [outcome.left.message] : [])),
      []
    )
    const signals: Array<Signal> = []
    const quiet = Logger.replace(Logger.defaultLogger, Logger.none)
    yield* Stream.runForEachChunk(platform.watch(Option.none()).pipe(Stream.provideSomeLayer(quiet)), (chunk) =>
      Effect.sync(() => void signals.push(...Chunk.toReadonlyArray(chunk)))
    ).pipe(Effect.forkScoped)
    yield* settle
    return signals
  })

/** On the real clock: it works every second. */
const recentEvents = Layer.scopedContext(
  Effect.withClock(Layer.build(RecentEvents.layerWith({ keep: 1_000 }).pipe(Layer.provide(memoryEvents))), Clock.make())
)
