/** Publishing to a slow store: back-pressure per batch, and a timeout without progress. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Layer, Logger, Stream, TestClock } from "effect"
import { publisher, type Sink } from "../../../adapters/local/publish.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { EventRoom } from "../../../core/disk/EventRoom.ts"
import { sentEvents } from "../../../core/platforms/LocalFeed.ts"
import { type Delivery, type Platform, Platforms } from "../../../core/platforms/Platform.ts"
import { Quotas } from "../../../core/quotas/Quotas.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { nextTurn } from "../../../core/work/turns.ts"
import { LANGUAGES, PLATFORM_IDS, type PlatformId } from "../../../fixtures/languages.ts"
import { quotas } from "../../quotas.ts"
import { memoryRules } from "../../stores/memoryRules.ts"

const posts = (count: number) =>
  sentEvents(Array.from({ length: count }, (_, index) => ({ data: { id: String(index), text: "storm" } })))

describe("publisher", () => {
  it.effect("offers the next batch only once the previous one is durable", () =>
    Effect.gen(function* () {
      const { publish, inFlight, ackAll } = yield* slowPublisher
      const fiber = yield* Effect.fork(publish(posts(450)))
      const seen: Array<number> = []
      while (seen.length < 4) {
        yield* settled
        seen.push(inFlight.length)
        yield* ackAll
      }
      assert.deepStrictEqual(seen, [50, 100, 200, 100])
      assert.deepStrictEqual(yield* Fiber.join(fiber), { accepted: { x: 450 }, matches: 0 })
    }).pipe(Effect.provide(environment))
  )

  it.effect("stores smaller batches while the store is slow, so that others get their turns", () =>
    Effect.gen(function* () {
      const { publish, inFlight, ackAll } = yield* slowPublisher
      const fiber = yield* Effect.fork(publish(posts(135)))
      const seen: Array<number> = []
      while (seen.length < 5) {
        yield* settled
        seen.push(inFlight.length)
        yield* TestClock.adjust("100 millis")
        yield* ackAll
      }
      assert.deepStrictEqual(seen, [50, 25, 20, 20, 20])
      yield* Fiber.join(fiber)
    }).pipe(Effect.provide(environment))
  )

  it.effect("waits while there is progress", () =>
    Effect.gen(function* () {
      const { publish, ackAll } = yield* slowPublisher
      const fiber = yield* Effect.fork(publish(posts(135)))
      for (let batch = 0; batch < 5; batch++) {
        yield* settled
        yield* TestClock.adjust("29 seconds")
        yield* ackAll
      }
      assert.deepStrictEqual((yield* Fiber.join(fiber)).accepted, { x: 135 })
    }).pipe(Effect.provide(environment))
  )

  it.effect("fails with StoreUnavailable when no batch becomes durable for 30 seconds", () =>
    Effect.gen(function* () {
      const { publish, ackAll } = yield* slowPublisher
      const fiber = yield* Effect.fork(Effect.flip(publish(posts(75))))
      yield* settled
      yield* TestClock.adjust("29 seconds")
      yield* ackAll
      yield* settled
      yield* TestClock.adjust("29 seconds")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "StoreUnavailable")
    }).pipe(Effect.provide(environment))
  )

  it.effect("offers no event when the last one is invalid", () =>
    Effect.gen(function* () {
      const { publish, inFlight } = yield* slowPublisher
      const events = [...posts(500), { location: "line 501", data: Either.left("Not valid") }]
      const error = yield* Effect.flip(publish(events))
      assert.strictEqual(error.message, 'Request is not valid: "line 501": Not valid')
      assert.lengthOf(inFlight, 0)
    }).pipe(Effect.provide(environment))
  )
})

// ---- helpers ----

const known = Layer.mock(Platforms, {
  // Only the language is read.
  all: Effect.succeed(LANGUAGES.map((language) => ({ language }) as Platform))
})

const environment = Layer.provideMerge(
  Layer.mergeAll(memoryRules, Logger.remove(Logger.defaultLogger), quotas()),
  known
)

/** A publisher whose events all match. They become durable with `ackAll`. */
const slowPublisher = Effect.gen(function* () {
  const platforms = yield* Platforms
  const rules = yield* RuleStore
  const inFlight: Array<Delivery> = []
  const sink: Sink = {
    matching: () =>
      Effect.succeed(function* () {
        return ["rule"]
      }),
    offer: (delivery) => Effect.sync(() => void inFlight.push(delivery))
  }
  const sinks = new Map<PlatformId, Sink>(PLATFORM_IDS.map((id) => [id, sink]))
  const publish = publisher({
    platforms,
    sinks,
    rules,
    recent: noLog,
    sha256: (text) => text,
    quotas: yield* Quotas,
    room: yield* EventRoom
  })
  const ackAll = Effect.suspend(() => Effect.forEach(inFlight.splice(0), ({ ack }) => ack))
  return { publish, inFlight, ackAll }
})

const noLog = RecentEvents.of({
  keep: 0,
  record: () => Effect.void,
  newest: () => Stream.empty,
  remove: () => Effect.void
})

/** Lets the other fibers run until they wait for something. */
const settled = Effect.repeatN(Effect.zipRight(Effect.yieldNow(), Effect.promise(nextTurn)), 50)
