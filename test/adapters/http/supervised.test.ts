/** The metric of ended connections. The tests of the platform adapters cover the rest of `supervised`. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger, Metric, Stream, TestClock } from "effect"
import { Budget } from "../../../adapters/http/Budget.ts"
import { KnownRules } from "../../../adapters/http/KnownRules.ts"
import { StreamHealth } from "../../../adapters/http/StreamHealth.ts"
import { Ended, supervised } from "../../../adapters/http/supervised.ts"
import { exposition } from "../../../gateway/http/metrics.ts"
import { parseMetrics } from "../../prometheus.ts"

describe("supervised", () => {
  it.effect("counts ended connections by cause", () =>
    Effect.gen(function* () {
      const endings = [
        new Ended({ kind: "cut", reason: "a" }),
        new Ended({ kind: "planned", reason: "b" }),
        new Ended({ kind: "cut", reason: "c" }),
        new Ended({ kind: "failed", reason: "d", refusal: "credit" })
      ]
      const known = new KnownRules()
      known.add({ platformRuleId: "1", translatedValue: "cat" })
      let connections = 0
      const stream = supervised({
        platform: "x",
        health: new StreamHealth(yield* Clock.currentTimeMillis),
        budget: new Budget({ limit: 100, windowMillis: 1_000 }),
        known,
        lastSignAt: () => undefined,
        connect: Effect.suspend(() => endings[connections++] ?? Effect.never),
        stableAfterMillis: 1_000,
        backoff: () => 1_000
      })
      const fiber = yield* Effect.fork(Stream.runDrain(stream))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(fiber)
      const families = parseMetrics(exposition(yield* Metric.snapshot))
      const counts = families
        .get("earshot_stream_reconnects_total")
        ?.samples.map(({ labels, value }) => [labels["cause"], value])
      assert.sameDeepMembers(counts ?? [], [
        ["cut", 2],
        ["planned", 1],
        ["credit", 1]
      ])
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
  )
})
