/** The text format, and `/metrics` when the store is away. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, MetricBoundaries } from "effect"
import { StorageUnavailable } from "../../core/model/Errors.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { exposition } from "../../gateway/metrics.ts"
import { parseMetrics, valueIn } from "../prometheus.ts"
import { serve, service } from "./inProcess.ts"

describe("exposition", () => {
  it.effect("escapes help and labels so that they come back as they were", () =>
    Effect.gen(function* () {
      const odd = 'a "quoted" \\ back\\nslash\nand a line, with {braces} = 1'
      const metric = Metric.gauge("earshot_test_odd", { description: odd })
      yield* Metric.set(Metric.tagged(metric, "odd", odd), 1.5e-7)
      const families = yield* read
      assert.strictEqual(families.get("earshot_test_odd")?.help, odd)
      assert.deepStrictEqual(families.get("earshot_test_odd")?.samples, [
        { name: "earshot_test_odd", labels: { odd }, value: 1.5e-7 }
      ])
    })
  )

  it.effect("writes histograms with buckets that add up, a bucket for all, a sum and a count", () =>
    Effect.gen(function* () {
      const metric = Metric.histogram("earshot_test_seconds", MetricBoundaries.fromIterable([1, 2]), "Test")
      for (const value of [0.5, 1, 1.5, 9]) yield* Metric.update(metric, value)
      const text = exposition(yield* Metric.snapshot)
      const lines = text.split("\n").filter((line) => line.includes("earshot_test_seconds"))
      assert.deepStrictEqual(lines, [
        "# HELP earshot_test_seconds Test",
        "# TYPE earshot_test_seconds histogram",
        'earshot_test_seconds_bucket{le="1"} 2',
        'earshot_test_seconds_bucket{le="2"} 3',
        'earshot_test_seconds_bucket{le="+Inf"} 4',
        "earshot_test_seconds_sum 12",
        "earshot_test_seconds_count 4"
      ])
    })
  )

  it.effect("leaves out what is not ours", () =>
    Effect.gen(function* () {
      yield* Metric.increment(Metric.counter("someone_elses_total"))
      const text = exposition(yield* Metric.snapshot)
      assert.notInclude(text, "someone")
      // Effect counts its fibers.
      assert.notInclude(text, "effect_")
    })
  )
})

describe("GET /metrics", () => {
  it.live("answers also when the store is away, with the rest of it", () =>
    Effect.gen(function* () {
      const store = yield* RuleStore
      const away = new StorageUnavailable({ operation: "rules.wanted", cause: new Error("away") })
      const gone = Layer.succeed(RuleStore, { ...store, wanted: () => Effect.fail(away) })
      const targetOf = yield* Effect.provide(serve, gone)
      const { url } = yield* targetOf("someone")
      const response = yield* Effect.promise(() => fetch(`${url}/metrics`))
      assert.strictEqual(response.status, 200)
      const families = parseMetrics(yield* Effect.promise(() => response.text()))
      assert.strictEqual(valueIn(families, "earshot_stream_state", { platform: "x", state: "live" }), 1)
      assert.isFalse(families.has("earshot_rules_wanted"))
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

// ---- helpers ----

const read = Effect.map(Metric.snapshot, (snapshot) => parseMetrics(exposition(snapshot)))
