/** Quotas: windows, streams, work, changed limits, and servers that share a store. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Layer, Option, TestClock } from "effect"
import * as RuntimeEntropy from "../../../adapters/runtimes/entropy.ts"
import { LimitReached } from "../../../core/model/Errors.ts"
import { fromUuid } from "../../../core/model/Ids.ts"
import { LimitStore } from "../../../core/quotas/LimitStore.ts"
import { Quotas } from "../../../core/quotas/Quotas.ts"
import { inTurns, type Turns } from "../../../core/work/turns.ts"
import { oneOfSeveral } from "../../ownership.ts"
import { idsOnly } from "../../platforms.ts"
import { NO_LIMITS, quotas } from "../../quotas.ts"
import { memoryLimits } from "../../stores/memoryLimits.ts"

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const bob = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

const limited = Layer.provide(quotas({ requests: 3, checks: 1, events: 10, streams: 2 }), idsOnly)

const admitted = (account = ann) =>
  Effect.gen(function* () {
    const { admit } = yield* Quotas
    return Either.isRight(yield* Effect.either(admit(account)))
  })

describe("Quotas", () => {
  it.effect("admit counts requests per account until the minute ends", () =>
    Effect.gen(function* () {
      const { admit } = yield* Quotas
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* admit(ann), Option.some({ limit: 3, remaining: 2, resetSeconds: 40 }))
      yield* TestClock.adjust("30500 millis")
      assert.deepStrictEqual(yield* admit(ann), Option.some({ limit: 3, remaining: 1, resetSeconds: 10 }))
      yield* admit(ann)
      const error = yield* Effect.flip(admit(ann))
      assert.deepStrictEqual(error, new LimitReached({ name: "requests", limit: 3, used: 3, retryAfterSeconds: 10 }))
      assert.isTrue(yield* admitted(bob), "another account is not affected")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* admit(ann), Option.some({ limit: 3, remaining: 2, resetSeconds: 60 }))
    }).pipe(Effect.provide(limited))
  )

  it.effect("admit lets some requests exceed the limit, up to a bound, and counts them", () =>
    Effect.gen(function* () {
      const { admit, used } = yield* Quotas
      yield* Effect.replicateEffect(admit(ann), 3)
      const beyond = Option.some({ limit: 3, remaining: 0, resetSeconds: 60 })
      assert.deepStrictEqual(yield* Effect.replicateEffect(admit(ann, 2), 2), [beyond, beyond])
      assert.strictEqual(yield* used(ann, "requests"), 5)
      const error = yield* Effect.flip(admit(ann, 2))
      assert.deepInclude({ ...error }, { limit: 3, used: 5 })
      assert.isFalse(yield* admitted())
    }).pipe(Effect.provide(limited))
  )

  it.effect("spend may exceed a limit, and check fails after it", () =>
    Effect.gen(function* () {
      const { check, spend } = yield* Quotas
      yield* check(ann, "events")
      yield* spend(ann, "events", 25)
      const error = yield* Effect.flip(check(ann, "events"))
      assert.deepInclude({ ...error }, { name: "events", limit: 10, used: 25, retryAfterSeconds: 60 })
      yield* check(bob, "events")
      yield* TestClock.adjust("1 minute")
      yield* check(ann, "events")
    }).pipe(Effect.provide(limited))
  )

  it.effect("openStream counts streams until their scope closes", () =>
    Effect.gen(function* () {
      const { openStream, used } = yield* Quotas
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* openStream(ann)
          yield* openStream(ann)
          assert.strictEqual((yield* Effect.flip(openStream(ann))).name, "streams")
          yield* openStream(bob)
          assert.strictEqual(yield* used(ann, "streams"), 2)
        })
      )
      assert.strictEqual(yield* used(ann, "streams"), 0)
    }).pipe(Effect.provide(limited))
  )

  it.live("whileChecking counts the time of the turns, also of work that fails", () =>
    Effect.gen(function* () {
      const { whileChecking, used } = yield* Quotas
      yield* whileChecking(ann, inTurns(busy(30)))
      yield* Effect.flip(whileChecking(ann, Effect.zipRight(inTurns(busy(30)), Effect.fail("no"))))
      const seconds = yield* used(ann, "checks")
      assert.isAtLeast(seconds, 0.06)
      yield* whileChecking(ann, Effect.sleep("2 seconds"))
      assert.isBelow((yield* used(ann, "checks")) - seconds, 1, "waiting is no work")
      yield* whileChecking(ann, inTurns(busy(1_000)))
      assert.strictEqual((yield* Effect.flip(whileChecking(ann, Effect.void))).name, "checks")
    }).pipe(Effect.provide(limited))
  )

  it.effect("withSlot runs four effects of an account at a time, and those of others meanwhile", () =>
    Effect.gen(function* () {
      const { withSlot } = yield* Quotas
      const running = { ann: 0, bob: 0 }
      const work = (who: "ann" | "bob") =>
        withSlot(
          who === "ann" ? ann : bob,
          Effect.zipRight(
            Effect.sync(() => running[who]++),
            Effect.ensuring(
              Effect.sleep("1 second"),
              Effect.sync(() => running[who]--)
            )
          )
        )
      const all = yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.fork(work("ann")))
      yield* Effect.fork(work("bob"))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(running, { ann: 4, bob: 1 })
      const [first, last] = [all[0], all[9]]
      if (first !== undefined && last !== undefined) yield* Fiber.interruptAll([first, last])
      yield* Effect.yieldNow()
      assert.strictEqual(running.ann, 4, "an interrupted one makes room")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(running, { ann: 0, bob: 0 })
    }).pipe(Effect.provide(limited))
  )

  it.effect("setLimit changes one account, 0 means no limit, and none is the default", () =>
    Effect.gen(function* () {
      const { setLimit, limitOf } = yield* Quotas
      yield* setLimit(ann, "requests", Option.some(1))
      assert.deepStrictEqual([yield* admitted(), yield* admitted()], [true, false])
      yield* setLimit(ann, "requests", Option.some(0))
      assert.isTrue(yield* admitted())
      yield* setLimit(ann, "requests", Option.none())
      assert.deepStrictEqual([yield* limitOf(ann, "requests"), yield* limitOf(bob, "requests")], [3, 3])
    }).pipe(Effect.provide(limited))
  )

  it.effect("admit notices within five seconds that another server changed the limit", () =>
    Effect.gen(function* () {
      const store = yield* LimitStore
      const server = Quotas.layerWith({ defaults: NO_LIMITS })
      yield* Effect.gen(function* () {
        assert.isTrue(yield* admitted())
        yield* store.setLimit(ann, "requests", Option.some(1))
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual([yield* admitted(), yield* admitted()], [true, false])
      }).pipe(
        Effect.provide(server),
        Effect.provide(Layer.mergeAll(Layer.succeed(LimitStore, store), RuntimeEntropy.layer, idsOnly))
      )
    }).pipe(Effect.provide(memoryLimits))
  )

  it.effect("servers on one store count together within a second", () =>
    Effect.gen(function* () {
      const store = yield* LimitStore
      const server = Layer.fresh(Quotas.layerWith({ defaults: { ...NO_LIMITS, requests: 10 } })).pipe(
        Layer.provide(Layer.mergeAll(oneOfSeveral, Layer.succeed(LimitStore, store), RuntimeEntropy.layer, idsOnly))
      )
      const [one, other] = [yield* Layer.build(server), yield* Layer.build(server)]
      const sent = (context: typeof one, count: number) =>
        Effect.map(
          Effect.replicateEffect(Effect.provide(admitted(), context), count),
          (all) => all.filter(Boolean).length
        )
      assert.deepStrictEqual([yield* sent(one, 4), yield* sent(other, 4)], [4, 4])
      // Each round shares what was counted before it, so both know of each other after two.
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* sent(one, 1)) + (yield* sent(other, 1)), 2)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([yield* sent(one, 5), yield* sent(other, 5)], [0, 0])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* sent(one, 20), 10)
    }).pipe(Effect.scoped, Effect.provide(memoryLimits))
  )
})

// ---- helpers ----

/** Works in turns of a millisecond. */
function* busy(millis: number): Turns<void> {
  for (let turn = 0; turn < millis; turn++) {
    const until = performance.now() + 1
    while (performance.now() < until);
    yield
  }
}
