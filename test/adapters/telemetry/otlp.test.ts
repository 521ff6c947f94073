/** The exporter of traces, against a collector on a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Logger, Metric, Redacted, Tracer } from "effect"
import * as RuntimeEntropy from "../../../adapters/runtimes/entropy.ts"
import * as Otlp from "../../../adapters/telemetry/otlp.ts"
import { RuleNotFound } from "../../../core/model/Errors.ts"
import { exposition } from "../../../gateway/metrics.ts"
import { attributesOf, type Collector, collector, type WireSpan } from "../../collector.ts"
import { parseMetrics, valueIn } from "../../prometheus.ts"

describe("Otlp", () => {
  it.live("sends every span with its ids, its parent, its times and the name of the service", () =>
    Effect.gen(function* () {
      const there = yield* collector
      const before = BigInt(Date.now()) * 1_000_000n
      yield* traced(there, Effect.withSpan(Effect.withSpan(Effect.sleep(5), "child", { kind: "client" }), "parent"))
      const after = BigInt(Date.now() + 1) * 1_000_000n

      const [child, parent] = [named(there, "child"), named(there, "parent")]
      for (const { traceId, spanId } of [child, parent]) {
        assert.match(traceId, /^[0-9a-f]{32}$/)
        assert.match(spanId, /^[0-9a-f]{16}$/)
      }
      assert.deepStrictEqual([child.traceId, child.parentSpanId], [parent.traceId, parent.spanId])
      assert.notStrictEqual(child.spanId, parent.spanId)
      assert.notProperty(parent, "parentSpanId")
      assert.deepStrictEqual([parent.kind, child.kind], [1, 3])
      assert.deepStrictEqual([parent.status, child.status], [{ code: 0 }, { code: 0 }])

      for (const time of [parent.startTimeUnixNano, parent.endTimeUnixNano]) assert.match(time, /^\d{19}$/)
      // The clock of spans runs on from its first reading, so it may be off by what the other was set by.
      const slack = 2_000_000_000n
      assert.isTrue(BigInt(parent.startTimeUnixNano) >= before - slack)
      assert.isTrue(BigInt(parent.endTimeUnixNano) <= after + slack)
      assert.isTrue(BigInt(child.endTimeUnixNano) - BigInt(child.startTimeUnixNano) >= 4_000_000n)
      assert.isTrue(BigInt(parent.startTimeUnixNano) <= BigInt(child.startTimeUnixNano))
      assert.isTrue(BigInt(parent.endTimeUnixNano) >= BigInt(child.endTimeUnixNano))

      assert.deepStrictEqual(there.resources[0], {
        attributes: [
          { key: "service.name", value: { stringValue: "test" } },
          { key: "service.version", value: { stringValue: "1.2.3" } }
        ]
      })
    }).pipe(Effect.scoped)
  )

  it.live("writes attributes by their kind, and nothing of a secret", () =>
    Effect.gen(function* () {
      const there = yield* collector
      const attributes = {
        text: "a",
        whole: 7,
        part: 0.5,
        yes: true,
        big: 12n,
        key: Redacted.make("hunter2"),
        other: { a: 1 }
      }
      yield* traced(there, Effect.withSpan(Effect.void, "one", { attributes }))
      assert.deepStrictEqual(named(there, "one").attributes, [
        { key: "text", value: { stringValue: "a" } },
        { key: "whole", value: { intValue: "7" } },
        { key: "part", value: { doubleValue: 0.5 } },
        { key: "yes", value: { boolValue: true } },
        { key: "big", value: { intValue: "12" } },
        { key: "key", value: { stringValue: '"<redacted>"' } },
        { key: "other", value: { stringValue: '{"a":1}' } }
      ])
    }).pipe(Effect.scoped)
  )

  it.live(
    "marks what failed and why, keeps the words of a defect to itself, and does not call an interruption a failure",
    () =>
      Effect.gen(function* () {
        const there = yield* collector
        const work = Effect.gen(function* () {
          yield* Effect.either(Effect.withSpan(new RuleNotFound({ ruleId: "abc" }), "failed"))
          yield* Effect.exit(Effect.withSpan(Effect.die(new TypeError("hunter2")), "died"))
          yield* Effect.exit(Effect.withSpan(Effect.interrupt, "interrupted"))
        })
        yield* traced(there, work)

        const failed = named(there, "failed")
        assert.deepStrictEqual(failed.status, { code: 2, message: 'Cannot find rule "abc"' })
        assert.strictEqual(attributesOf(failed)["error.type"], "RuleNotFound")
        const died = named(there, "died")
        assert.deepStrictEqual(died.status, { code: 2, message: "Unexpected failure" })
        assert.strictEqual(attributesOf(died)["error.type"], "TypeError")
        const interrupted = named(there, "interrupted")
        assert.deepStrictEqual(interrupted.status, { code: 0 })
        assert.strictEqual(attributesOf(interrupted)["earshot.interrupted"], true)
        assert.isFalse(there.bodies.join().includes("hunter2"))
      }).pipe(Effect.scoped)
  )

  it.live("goes on with the trace of a caller, and sends nothing of one who does not sample", () =>
    Effect.gen(function* () {
      const there = yield* collector
      const ids = { traceId: "a".repeat(32), spanId: "b".repeat(16) }
      const under = (name: string, sampled: boolean) =>
        Effect.withSpan(Effect.withSpan(Effect.void, `${name} child`), name, {
          parent: Tracer.externalSpan({ ...ids, sampled })
        })
      yield* traced(there, Effect.zip(under("wanted", true), under("unwanted", false)))
      assert.deepStrictEqual(
        there.spans.map(({ name }) => name),
        ["wanted child", "wanted"]
      )
      assert.deepStrictEqual(
        [named(there, "wanted").traceId, named(there, "wanted").parentSpanId],
        [ids.traceId, ids.spanId]
      )
    }).pipe(Effect.scoped)
  )

  it.live("sends in batches while it runs", () =>
    Effect.gen(function* () {
      const there = yield* collector
      const work = Effect.gen(function* () {
        yield* Effect.forEach(Array.from({ length: 1_200 }), () => Effect.withSpan(Effect.void, "many"), {
          discard: true
        })
        yield* Effect.promise(() => there.asked(3))
      })
      yield* traced(there, work)
      assert.deepStrictEqual(there.batches, [512, 512, 176])
      assert.strictEqual(new Set(there.spans.map(({ spanId }) => spanId)).size, 1_200)
    }).pipe(Effect.scoped)
  )

  it.live("drops and counts what a collector does not take, goes on, and sends again when it does", () =>
    Effect.gen(function* () {
      const there = yield* collector
      there.answerWith(503)
      const [sent, dropped] = [yield* counted("sent"), yield* counted("dropped")]
      const work = Effect.gen(function* () {
        yield* Effect.withSpan(Effect.void, "lost")
        yield* Effect.promise(() => there.asked(1))
        // Its answer is on its way: the next span is not in the same batch.
        while ((yield* counted("dropped")) === dropped) yield* Effect.sleep(10)
        there.answerWith(200)
        yield* Effect.withSpan(Effect.void, "kept")
        yield* Effect.promise(() => there.asked(2))
      })
      yield* traced(there, work)
      assert.deepStrictEqual(
        there.spans.map(({ name }) => name),
        ["kept"]
      )
      assert.deepStrictEqual([(yield* counted("dropped")) - dropped, (yield* counted("sent")) - sent], [1, 1])
    }).pipe(Effect.scoped)
  )

  it.live("keeps no more than 8192 spans for a collector that does not answer, and ends without it", () =>
    Effect.gen(function* () {
      const there = yield* collector
      there.answerWith("nothing")
      const dropped = yield* counted("dropped")
      const work = Effect.forEach(Array.from({ length: 10_000 }), () => Effect.withSpan(Effect.void, "many"), {
        discard: true
      })
      // Nothing is sent before the second is over, so all of them wait.
      yield* traced(there, work)
      assert.strictEqual((yield* counted("dropped")) - dropped, 10_000 - 8_192)
    }).pipe(Effect.scoped)
  )

  it.live("does no harm where nothing listens", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(collector)
      const answer = yield* traced(gone, Effect.either(Effect.withSpan(Effect.fail("no"), "lost")))
      assert.deepStrictEqual(answer, Either.left("no"))
    })
  )
})

// ---- helpers ----

/** Runs the effect with its spans on their way to the collector; all are there, or given up, when it ends. */
const traced = <A, E>({ url }: Pick<Collector, "url">, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.provide(
    effect,
    Otlp.layerWith({ endpoint: `${url}/`, serviceName: "test", version: "1.2.3" }).pipe(
      Layer.provide(RuntimeEntropy.layer),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
  )

const named = ({ spans }: Collector, name: string): WireSpan => {
  const [span, ...others] = spans.filter((one) => one.name === name)
  assert.isDefined(span, `There is a span "${name}"`)
  assert.deepStrictEqual(others, [])
  return span
}

const counted = (outcome: "sent" | "dropped") =>
  Effect.map(Metric.snapshot, (snapshot) => {
    const text = exposition(snapshot)
    return text === "" ? 0 : valueIn(parseMetrics(text), "earshot_trace_spans_total", { outcome })
  })
