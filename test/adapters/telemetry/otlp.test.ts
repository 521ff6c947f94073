/** The OTLP exporter against a collector on a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Logger, Metric, Redacted, Tracer } from "effect"
import * as RuntimeEntropy from "../../../adapters/runtimes/entropy.ts"
import * as Otlp from "../../../adapters/telemetry/otlp.ts"
import { RuleNotFound } from "../../../core/model/Errors.ts"
import { exposition } from "../../../gateway/http/metrics.ts"
import { attributesOf, type Collector, collector, type WireSpan } from "../../collector.ts"
import { parseMetrics, valueIn } from "../../prometheus.ts"

describe("Otlp", () => {
  it.live("sends each span with ids, parent, times and service name", () =>
    Effect.gen(function* () {
      const server = yield* collector
      const before = BigInt(Date.now()) * 1_000_000n
      yield* traced(server, Effect.withSpan(Effect.withSpan(Effect.sleep(5), "child", { kind: "client" }), "parent"))
      const after = BigInt(Date.now() + 1) * 1_000_000n

      const [child, parent] = [named(server, "child"), named(server, "parent")]
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
      // Effect's span clock is monotonic: it ignores adjustments of the system clock.
      const slack = 2_000_000_000n
      assert.isTrue(BigInt(parent.startTimeUnixNano) >= before - slack)
      assert.isTrue(BigInt(parent.endTimeUnixNano) <= after + slack)
      assert.isTrue(BigInt(child.endTimeUnixNano) - BigInt(child.startTimeUnixNano) >= 4_000_000n)
      assert.isTrue(BigInt(parent.startTimeUnixNano) <= BigInt(child.startTimeUnixNano))
      assert.isTrue(BigInt(parent.endTimeUnixNano) >= BigInt(child.endTimeUnixNano))

      assert.deepStrictEqual(server.resources[0], {
        attributes: [
          { key: "service.name", value: { stringValue: "test" } },
          { key: "service.version", value: { stringValue: "1.2.3" } }
        ]
      })
    }).pipe(Effect.scoped)
  )

  it.live("encodes attributes by type and redacts secrets", () =>
    Effect.gen(function* () {
      const server = yield* collector
      const attributes = {
        text: "a",
        whole: 7,
        part: 0.5,
        yes: true,
        big: 12n,
        key: Redacted.make("hunter2"),
        other: { a: 1 }
      }
      yield* traced(server, Effect.withSpan(Effect.void, "one", { attributes }))
      assert.deepStrictEqual(named(server, "one").attributes, [
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

  it.live("marks failures with their message, hides the message of a defect, and does not mark interruptions", () =>
    Effect.gen(function* () {
      const server = yield* collector
      const work = Effect.gen(function* () {
        yield* Effect.either(Effect.withSpan(new RuleNotFound({ ruleId: "abc" }), "failed"))
        yield* Effect.exit(Effect.withSpan(Effect.die(new TypeError("hunter2")), "died"))
        yield* Effect.exit(Effect.withSpan(Effect.interrupt, "interrupted"))
      })
      yield* traced(server, work)

      const failed = named(server, "failed")
      assert.deepStrictEqual(failed.status, { code: 2, message: 'Cannot find rule "abc"' })
      assert.strictEqual(attributesOf(failed)["error.type"], "RuleNotFound")
      const died = named(server, "died")
      assert.deepStrictEqual(died.status, { code: 2, message: "Unexpected failure" })
      assert.strictEqual(attributesOf(died)["error.type"], "TypeError")
      const interrupted = named(server, "interrupted")
      assert.deepStrictEqual(interrupted.status, { code: 0 })
      assert.strictEqual(attributesOf(interrupted)["earshot.interrupted"], true)
      assert.isFalse(server.bodies.join().includes("hunter2"))
    }).pipe(Effect.scoped)
  )

  it.live("continues the caller's trace and drops spans of an unsampled one", () =>
    Effect.gen(function* () {
      const server = yield* collector
      const ids = { traceId: "a".repeat(32), spanId: "b".repeat(16) }
      const under = (name: string, sampled: boolean) =>
        Effect.withSpan(Effect.withSpan(Effect.void, `${name} child`), name, {
          parent: Tracer.externalSpan({ ...ids, sampled })
        })
      yield* traced(server, Effect.zip(under("wanted", true), under("unwanted", false)))
      assert.deepStrictEqual(
        server.spans.map(({ name }) => name),
        ["wanted child", "wanted"]
      )
      assert.deepStrictEqual(
        [named(server, "wanted").traceId, named(server, "wanted").parentSpanId],
        [ids.traceId, ids.spanId]
      )
    }).pipe(Effect.scoped)
  )

  it.live("sends batches of at most 512 spans", () =>
    Effect.gen(function* () {
      const server = yield* collector
      const work = Effect.gen(function* () {
        yield* Effect.forEach(Array.from({ length: 1_200 }), () => Effect.withSpan(Effect.void, "many"), {
          discard: true
        })
        yield* Effect.promise(() => server.requests(3))
      })
      yield* traced(server, work)
      assert.deepStrictEqual(server.batches, [512, 512, 176])
      assert.strictEqual(new Set(server.spans.map(({ spanId }) => spanId)).size, 1_200)
    }).pipe(Effect.scoped)
  )

  it.live("drops and counts spans that the collector rejects, and recovers", () =>
    Effect.gen(function* () {
      const server = yield* collector
      server.answerWith(503)
      const [sent, dropped] = [yield* counted("sent"), yield* counted("dropped")]
      const work = Effect.gen(function* () {
        yield* Effect.withSpan(Effect.void, "lost")
        yield* Effect.promise(() => server.requests(1))
        // Wait until the batch is dropped, so that the next span is in a new one.
        while ((yield* counted("dropped")) === dropped) yield* Effect.sleep(10)
        server.answerWith(200)
        yield* Effect.withSpan(Effect.void, "kept")
        yield* Effect.promise(() => server.requests(2))
      })
      yield* traced(server, work)
      assert.deepStrictEqual(
        server.spans.map(({ name }) => name),
        ["kept"]
      )
      assert.deepStrictEqual([(yield* counted("dropped")) - dropped, (yield* counted("sent")) - sent], [1, 1])
    }).pipe(Effect.scoped)
  )

  it.live("queues at most 8192 spans for a collector that does not answer, and still shuts down", () =>
    Effect.gen(function* () {
      const server = yield* collector
      server.answerWith("nothing")
      const dropped = yield* counted("dropped")
      const work = Effect.forEach(Array.from({ length: 10_000 }), () => Effect.withSpan(Effect.void, "many"), {
        discard: true
      })
      // All spans end before the first send, after one second.
      yield* traced(server, work)
      assert.strictEqual((yield* counted("dropped")) - dropped, 10_000 - 8_192)
    }).pipe(Effect.scoped)
  )

  it.live("does not affect the program when no collector is listening", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(collector)
      const answer = yield* traced(gone, Effect.either(Effect.withSpan(Effect.fail("no"), "lost")))
      assert.deepStrictEqual(answer, Either.left("no"))
    })
  )
})

// ---- helpers ----

/** Runs the effect with the exporter. On return all spans are sent or dropped. */
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
