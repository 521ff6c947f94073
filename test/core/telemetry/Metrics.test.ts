/** The effect of each function on the exported metrics. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import * as Metrics from "../../../core/telemetry/Metrics.ts"
import { exposition } from "../../../gateway/http/metrics.ts"
import { parseMetrics, valueIn } from "../../prometheus.ts"

const platform = "x" as const

describe("Metrics", () => {
  it.effect("counters of a platform start at 0", () =>
    Effect.gen(function* () {
      Metrics.startAtZero("x")
      Metrics.startAtZero("firehose")
      const families = yield* read
      for (const name of ["deliveries_received", "matches_stored", "matches_duplicate"]) {
        const samples = families
          .get(`earshot_${name}_total`)
          ?.samples.map(({ labels, value }) => [labels["platform"], value])
        assert.deepStrictEqual(samples, [
          ["x", 0],
          ["firehose", 0]
        ])
      }
      const labels = { platform: "firehose", cause: "process_down" }
      assert.strictEqual(valueIn(families, "earshot_coverage_gaps_total", labels), 0)
    })
  )

  it.effect("received and stored count deliveries, matches, duplicates, sizes and times", () =>
    Effect.gen(function* () {
      yield* Metrics.received(platform, 3)
      yield* Metrics.received(platform, 2)
      yield* Metrics.stored(platform, { deliveries: 3, matches: 7, duplicates: 1, seconds: 0.02 })
      yield* Metrics.stored(platform, { deliveries: 2, matches: 0, duplicates: 4, seconds: 3 })
      const families = yield* read
      const value = (name: string, labels = {}) => valueIn(families, `earshot_${name}`, { platform, ...labels })
      assert.strictEqual(value("deliveries_received_total"), 5)
      assert.strictEqual(value("matches_stored_total"), 7)
      assert.strictEqual(value("matches_duplicate_total"), 5)
      assert.deepStrictEqual(
        [value("batch_deliveries_count"), value("batch_deliveries_sum"), value("batch_deliveries_bucket", { le: "2" })],
        [2, 5, 1]
      )
      assert.deepStrictEqual(
        [value("batch_write_seconds_sum"), value("batch_write_seconds_bucket", { le: "0.025" })],
        [3.02, 1]
      )
      assert.strictEqual(valueIn(families, "earshot_matches_stored_total", { platform: "firehose" }), 0)
    })
  )

  it.effect("observeLag records both lags, counts a negative lag as 0, and ignores NaN", () =>
    Effect.gen(function* () {
      Metrics.observeLag(platform, { sinceReceived: 0.004, sinceEvent: 40 })
      Metrics.observeLag(platform, { sinceReceived: 0.006, sinceEvent: -5 })
      Metrics.observeLag(platform, { sinceReceived: 0.006, sinceEvent: Number.NaN })
      Metrics.observeLag(platform, { sinceReceived: 0.006 })
      const families = yield* read
      const value = (name: string, labels = {}) => valueIn(families, `earshot_${name}`, { platform, ...labels })
      assert.deepStrictEqual(
        [value("store_lag_seconds_count"), value("store_lag_seconds_bucket", { le: "0.005" })],
        [4, 1]
      )
      assert.deepStrictEqual([value("event_lag_seconds_count"), value("event_lag_seconds_sum")], [2, 40])
    })
  )

  it.effect("queued sets a gauge; deadLettered, gap and reconnecting count by reason", () =>
    Effect.gen(function* () {
      yield* Metrics.queued(platform, 12)
      yield* Metrics.queued(platform, 4)
      yield* Metrics.deadLettered(platform, "too large")
      yield* Metrics.deadLettered(platform, "too large", 2)
      yield* Metrics.gap(platform, "outage")
      yield* Metrics.reconnecting(platform, "cut")
      const families = yield* read
      assert.strictEqual(valueIn(families, "earshot_queue_deliveries", { platform }), 4)
      assert.strictEqual(valueIn(families, "earshot_events_set_aside_total", { platform, reason: "too large" }), 3)
      assert.strictEqual(valueIn(families, "earshot_coverage_gaps_total", { platform, cause: "outage" }), 1)
      assert.strictEqual(valueIn(families, "earshot_stream_reconnects_total", { platform, cause: "cut" }), 1)
    })
  )

  it.effect("setStreamState is 1 for one state; an unknown value is left out", () =>
    Effect.gen(function* () {
      yield* Metrics.setStreamState(platform, "live")
      yield* Metrics.setStreamState(platform, "waiting")
      yield* Metrics.setDrift(platform, { missing: 2, orphaned: 1, newer: 0 })
      yield* Metrics.setRulesWanted(platform, 6)
      const families = yield* read
      const states = families.get("earshot_stream_state")?.samples.filter(({ value }) => value === 1)
      assert.deepStrictEqual(
        states?.map(({ labels }) => labels),
        [{ platform, state: "waiting" }]
      )
      const rules = ["wanted", "missing", "orphaned"].map((kind) =>
        valueIn(families, `earshot_rules_${kind}`, { platform })
      )
      assert.deepStrictEqual(rules, [6, 2, 1])
      yield* Metrics.setDrift(platform, undefined)
      const unknown = yield* read
      assert.strictEqual(valueIn(unknown, "earshot_rules_wanted", { platform }), 6)
      assert.isUndefined(
        unknown.get("earshot_rules_missing")?.samples.find(({ labels }) => labels["platform"] === platform)
      )
    })
  )
})

describe("setStoreUp", () => {
  it.effect(
    "leaves out the gauges that depend on the store while it is down, and shows the true queue afterwards",
    () =>
      Effect.gen(function* () {
        yield* Metrics.setStreamState(platform, "live")
        yield* Metrics.queued(platform, 3)
        yield* Metrics.setStoreUp(false)
        yield* Metrics.queued(platform, 4)
        const down = yield* read
        assert.strictEqual(valueIn(down, "earshot_store_up", {}), 0)
        assert.isFalse(down.has("earshot_stream_state"))
        assert.isFalse(down.has("earshot_queue_deliveries"))
        yield* Metrics.setStoreUp(true)
        const up = yield* read
        assert.strictEqual(valueIn(up, "earshot_store_up", {}), 1)
        assert.strictEqual(valueIn(up, "earshot_queue_deliveries", { platform }), 4)
        assert.isFalse(up.has("earshot_stream_state"), "not known before it was asked for")
      })
  )
})

// ---- helpers ----

const read = Effect.map(Metric.snapshot, (snapshot) => parseMetrics(exposition(snapshot)))
