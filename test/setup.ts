/** Runs before each test file. */
import { setImmediate } from "node:timers/promises"
import { afterEach, it } from "@effect/vitest"
import fc from "fast-check"

// A failure of a property test is reproducible. Set FC_SEED for other inputs.
fc.configureGlobal({ seed: Number(process.env["FC_SEED"] ?? 1) })

// `layer` of @effect/vitest replaces methods of `it` for good: also for the next file in this process.
const { effect, scoped, layer, prop, flakyTest } = it
if (!Reflect.has(it, "original")) Reflect.set(it, "original", { effect, scoped, layer, prop, flakyTest })
Object.assign(it, Reflect.get(it, "original"))

// Tests that only compute follow each other without a turn of the event loop. The process would not see the answers of
// the test runner, and a run in which each test passes would fail after a minute.
afterEach(() => setImmediate())
