/** The text format, and `/metrics` while the store is down. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, MetricBoundaries } from "effect"
import { StoreUnavailable } from "../../core/model/Errors.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { Status } from "../../core/status/Status.ts"
import { exposition } from "../../gateway/http/metrics.ts"
import { parseMetrics, valueIn } from "../prometheus.ts"
import { serve, service } from "./inProcess.ts"

describe("exposition", () => {
  it.effect("escapes help and labels so that a parser restores them", () =>
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

  it.effect("writes histograms as cumulative buckets with +Inf, sum and count", () =>
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

  it.effect("leaves out metrics without our prefix", () =>
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
  it.live("responds without the gauges of the store while the store is down", () =>
    Effect.gen(function* () {
      const store = yield* RuleStore
      const down = new StoreUnavailable({ operation: "rules.wanted", cause: new Error("down") })
      const failing = Layer.succeed(RuleStore, { ...store, wanted: () => Effect.fail(down) })
      const targetOf = yield* Effect.provide(serve, Layer.provide(Status.layer, failing))
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
