import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { sharedRead } from "../../../core/work/sharedRead.ts"

/** Counts the reads, which wait for `gate`. */
const counting = (gate: Effect.Effect<void> = Effect.void) => {
  let reads = 0
  return sharedRead(
    Effect.suspend(() => {
      const read = ++reads
      return Effect.as(gate, read)
    }),
    1_000
  )
}

describe("sharedRead", () => {
  it.effect("reads again only when the time is over", () =>
    Effect.gen(function* () {
      const read = counting()
      assert.strictEqual(yield* read, 1)
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(yield* read, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* read, 2)
    })
  )

  it.effect("does not suspend a caller while the result is known", () =>
    Effect.gen(function* () {
      const read = counting()
      yield* read
      const runtime = yield* Effect.runtime()
      assert.deepStrictEqual(Effect.runSyncExit(Effect.provide(read, runtime)), Exit.succeed(1))
    })
  )

  it.effect("shares a failure", () =>
    Effect.gen(function* () {
      let reads = 0
      const read = sharedRead(
        Effect.suspend(() => Effect.fail(++reads)),
        1_000
      )
      assert.strictEqual(yield* Effect.flip(read), 1)
      assert.strictEqual(yield* Effect.flip(read), 1)
    })
  )

  it.effect("callers at the same time share one read, and the first may be interrupted", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const read = counting(Deferred.await(gate))
      const first = yield* Effect.fork(read)
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(read)
      yield* Effect.yieldNow()
      const interrupting = yield* Effect.fork(Fiber.interrupt(first))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(interrupting)
      assert.strictEqual(yield* Fiber.join(second), 1)
    })
  )
})
