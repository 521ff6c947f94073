import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer, Option, TestClock } from "effect"
import { ClaimStore } from "../../../core/idempotency/ClaimStore.ts"
import { expireAnswers } from "../../../core/idempotency/expireAnswers.ts"
import {
  answering,
  answeringWith,
  CurrentDecision,
  decisive,
  Idempotency,
  type KeyedRequest
} from "../../../core/idempotency/Idempotency.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { fromMillis } from "../../../core/model/Timestamp.ts"
import { memoryClaims } from "../../stores/memoryClaims.ts"
import { ann, bob } from "../world.ts"

const layer = Idempotency.layer.pipe(Layer.provide(memoryClaims), Layer.provide(Entropy.layerCounting))

describe("Idempotency.once", () => {
  it.effect("runs one of many concurrent requests", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      let runs = 0
      const slow = Effect.delay(
        Effect.sync(() => ++runs),
        "1 second"
      )
      const all = yield* Effect.fork(
        Effect.all(
          Array.from({ length: 20 }, () => Effect.either(once(request(), slow))),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust("1 second")
      const outcomes = (yield* all).map((one) => (one._tag === "Right" ? one.right : one.left._tag))
      assert.deepInclude(outcomes, { answer: 1, isReplayed: false })
      assert.lengthOf(
        outcomes.filter((outcome) => outcome === "IdempotencyKeyInUse"),
        19
      )
      assert.deepStrictEqual(yield* once(request(), slow), { answer: 1, isReplayed: true })
    }).pipe(Effect.provide(layer))
  )

  it.effect("runs a request without a key every time", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      let runs = 0
      const count = once(
        request({ key: Option.none() }),
        Effect.sync(() => ++runs)
      )
      assert.deepStrictEqual(yield* count, { answer: 1, isReplayed: false })
      assert.deepStrictEqual(yield* count, { answer: 2, isReplayed: false })
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps an answer for 24 hours, per account and operation", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      let runs = 0
      const count = Effect.sync(() => ++runs)
      const answerTo = (different: Partial<KeyedRequest> = {}) =>
        Effect.map(once(request(different), count), ({ answer }) => answer)
      assert.strictEqual(yield* answerTo(), 1)
      assert.strictEqual(yield* answerTo({ account: Option.some(bob) }), 2)
      assert.strictEqual(yield* answerTo({ account: Option.none() }), 3)
      assert.strictEqual(yield* answerTo({ operation: "other" }), 4)
      assert.strictEqual(yield* answerTo({ key: Option.some("other") }), 5)
      const error = yield* Effect.flip(answerTo({ content: { a: 1, b: [1, 2] } }))
      assert.strictEqual(error._tag, "IdempotencyKeyReused")
      yield* TestClock.adjust("24 hours")
      assert.strictEqual(yield* answerTo({ content: { b: [2, 1], a: 1 } }), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* answerTo({ content: { a: 1, b: [1, 2] } }), 6)
    }).pipe(Effect.provide(layer))
  )

  it.effect("runs again after a failure, a defect and an interruption of the operation", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const failures = [
        new StoreUnavailable({ operation: "test", cause: "down" }),
        Effect.dieMessage("bug"),
        Effect.interrupt
      ]
      for (const failure of failures) {
        const exit = yield* Effect.exit(once(request(), failure))
        assert.strictEqual(exit._tag, "Failure")
      }
      assert.deepStrictEqual(yield* once(request(), Effect.succeed("done")), { answer: "done", isReplayed: false })
    }).pipe(Effect.provide(layer))
  )

  it.effect("goes on when the caller leaves", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const gate = yield* Deferred.make<string>()
      const caller = yield* Effect.fork(once(request(), Deferred.await(gate)))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(caller)
      yield* Deferred.succeed(gate, "done")
      yield* Effect.yieldNow()
      assert.deepStrictEqual(yield* once(request(), Effect.succeed("again")), { answer: "done", isReplayed: true })
    }).pipe(Effect.provide(layer))
  )

  it.effect("gives the decisive write of a long operation the answer that it will have", () =>
    Effect.gen(function* () {
      const { once } = yield* Idempotency
      const decided: Array<string> = []
      const write = Effect.flatMap(
        CurrentDecision,
        Option.match({
          onNone: () => Effect.void,
          onSome: ({ answer }) => Effect.map(answer, (text) => void decided.push(text))
        })
      )
      const step = Effect.as(write.pipe(decisive(20)), 20)
      const operation = Effect.gen(function* () {
        const doubled = yield* step.pipe(answering((n) => n * 2))
        yield* write
        return doubled
      }).pipe(answeringWith((n) => Effect.succeed({ n })))
      const { answer } = yield* once(request({ isLong: true }), operation)
      assert.deepStrictEqual(answer, { n: 40 })
      assert.deepStrictEqual(
        decided.map((text) => JSON.parse(text)),
        [answer]
      )
      yield* operation
      yield* once(request({ key: Option.some("short") }), operation)
      assert.lengthOf(decided, 1, "only with a key, and only if it is long")
    }).pipe(Effect.provide(layer))
  )
})

describe("expireAnswers", () => {
  it.effect("deletes keys after 24 hours", () =>
    Effect.gen(function* () {
      const store = yield* ClaimStore
      const expire = yield* expireAnswers
      const claim = (digest: string) =>
        Effect.map(Clock.currentTimeMillis, (now) => ({
          digest,
          attempt: digest,
          request: "r",
          at: fromMillis(now),
          expiredBefore: fromMillis(0)
        }))
      const old = yield* claim("old")
      yield* store.begin(old)
      yield* TestClock.adjust("1 millis")
      const young = yield* claim("young")
      yield* store.begin(young)
      yield* TestClock.adjust("24 hours")
      yield* expire
      assert.isTrue(Option.isSome(yield* store.begin(young)))
      assert.isTrue(Option.isNone(yield* store.begin(old)))
    }).pipe(Effect.provide(memoryClaims))
  )
})

// ---- helpers ----

const request = (different: Partial<KeyedRequest> = {}): KeyedRequest => ({
  key: Option.some("key"),
  account: Option.some(ann),
  operation: "test",
  content: { a: 1, b: [2, 1] },
  isLong: false,
  ...different
})
