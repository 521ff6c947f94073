/** A process that did not run for a while notices it, on the real clock. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Freezes } from "../../../adapters/http/Freshness.ts"

it.live("a freeze is counted once, also if data is read before the timer fires", () =>
  Effect.gen(function* () {
    const { count, run } = yield* Freezes
    const watching = yield* Effect.forkScoped(run)
    yield* Effect.yieldNow()
    const before = yield* count
    // Blocks the whole process.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_100)
    assert.strictEqual(yield* count, before + 1)
    assert.strictEqual(yield* count, before + 1)
    assert.isDefined(watching)
  }).pipe(Effect.scoped)
)
