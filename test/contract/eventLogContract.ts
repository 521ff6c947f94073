/** The contract of `EventLog`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Chunk, Effect, type Layer, Stream } from "effect"
import * as fc from "fast-check"
import { v7 } from "uuid"
import { EventLog, type LoggedEvent, type LogId, ownLog, type Segment, sizeOf } from "../../core/backtests/EventLog.ts"
import { fromUuid } from "../../core/model/Ids.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import { isLong } from "../long.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { rounds } from "../stores.ts"

export const eventLogContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`EventLog on ${name}`, (it) => {
    it.effect("recent returns the segments of one platform as appended, newest first", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        const [first, second, third] = [segmentOf(3), segmentOf(1, 7), segmentOf(2)]
        yield* log.append("x", first)
        yield* log.append("firehose", third)
        yield* log.append("x", second)
        assert.deepStrictEqual(yield* recent("x", 100), [second, first])
        assert.deepStrictEqual(yield* recent("firehose", 100), [third])
      })
    )

    it.effect("recent is empty for a platform without events, and after all are trimmed", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        assert.deepStrictEqual(yield* recent("x", 1), [])
        yield* log.append("x", segmentOf(2))
        yield* log.trim("x", { events: 0, size: LARGE })
        assert.deepStrictEqual(yield* recent("x", 1), [])
      })
    )

    it.effect("logs lists the logs with events, with the time of their newest segment", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        const own = "x/acct_1"
        yield* log.trim(own, { events: 0, size: 0 })
        assert.deepStrictEqual(yield* log.logs, [])
        yield* log.append("x", segmentOf(2))
        yield* log.append("x", segmentOf(3))
        const newestAt = received - 2
        yield* log.append(own, { events: [{ receivedAt: 1_763_200_000_000, json: "{}" }], missed: 0 })
        assert.sameDeepMembers(
          [...(yield* log.logs)],
          [
            { log: "x", newestAt },
            { log: own, newestAt: 1_763_200_000_000 }
          ]
        )
        assert.lengthOf(yield* recent(own, 100), 1)
        yield* log.trim(own, { events: 0, size: 0 })
        assert.deepStrictEqual(yield* log.logs, [{ log: "x", newestAt }])
      })
    )

    it.effect("recent returns exactly the newest events up to the limit, across segments", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        const segments = [segmentOf(4), segmentOf(1), segmentOf(5)]
        for (const segment of segments) yield* log.append("x", segment)
        const all = segments.flatMap(({ events }) => events)
        for (let limit = 1; limit <= 12; limit++) {
          assert.deepStrictEqual(inOrder(yield* recent("x", limit)), all.slice(-limit), `limit ${limit}`)
        }
      })
    )

    // Each append is a commit to the disk there.
    const longTest = name === "PGlite" && !isLong ? it.effect.skip : it.effect
    longTest("recent reads a long log to its end, with many small and some large segments", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        const large = Array.from({ length: 4 }, () => segmentOf(2, 0, "y".repeat(1_000_000)))
        const small = Array.from({ length: 1_050 }, () => segmentOf(1))
        const segments = [...large, ...small, segmentOf(500), segmentOf(500), segmentOf(500), ...large]
        for (const segment of segments) yield* log.append("x", segment)
        const found = yield* recent("x", 100_000)
        assert.strictEqual(found.length, segments.length)
        assert.isTrue(found.every((segment, i) => sizeOf(segment) === sizeOf(segments.at(-1 - i) ?? segment)))
        assert.deepStrictEqual(
          inOrder(found).map(({ receivedAt }) => receivedAt),
          segments.flatMap(({ events }) => events.map(({ receivedAt }) => receivedAt))
        )
      })
    )

    it.effect("append keeps NUL, lone surrogates, line breaks and other text unchanged", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        const odd = ["\0", "\ud83d", "\udc08x", "a\nb\r\n\u2028\u2029", "🐈 ünï", "\\u0000", "\ufffe\uffff", " \t", ""]
        const records = [...odd, { [odd.join("")]: odd, __proto__: null }, 1e300, null]
        yield* log.append("firehose", { events: records.map(eventOf), missed: 0 })
        const read = inOrder(yield* recent("firehose", 100)).map(({ json }): unknown => JSON.parse(json))
        assert.deepStrictEqual(read, JSON.parse(JSON.stringify(records)))
      })
    )

    it.effect("trim keeps exactly the segments with one of the newest events", () =>
      Effect.gen(function* () {
        for (let events = 0; events <= 11; events++) {
          const log = yield* emptied
          const segments = [segmentOf(4), segmentOf(1), segmentOf(5)]
          for (const segment of segments) yield* log.append("x", segment)
          yield* log.append("firehose", segmentOf(1))
          yield* log.trim("x", { events, size: LARGE })
          const kept = events === 0 ? 0 : events <= 5 ? 1 : events <= 6 ? 2 : 3
          assert.deepStrictEqual(yield* recent("x", 100), segments.toReversed().slice(0, kept), `keep ${events}`)
          assert.lengthOf(yield* recent("firehose", 100), 1)
        }
      })
    )

    it.effect("trim keeps at most the given size, starting at the newest segment", () =>
      Effect.gen(function* () {
        for (const [size, kept] of [
          [0, 0],
          [99, 0],
          [100, 1],
          [299, 1],
          [300, 2],
          [349, 2],
          [350, 3]
        ] as const) {
          const log = yield* emptied
          for (const length of [50, 200, 100]) {
            yield* log.append("x", {
              events: [{ receivedAt: 1, json: JSON.stringify("z".repeat(length - 2)) }],
              missed: 0
            })
          }
          yield* log.trim("x", { events: 100, size })
          assert.lengthOf(yield* recent("x", 100), kept, `size ${size}`)
        }
      })
    )

    it.effect("trim terminates for a large log", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        for (let i = 0; i < 61; i++) yield* log.append("x", segmentOf(1))
        yield* log.trim("x", { events: 1, size: LARGE })
        assert.lengthOf(yield* recent("x", 100), 1)
      })
    )

    it.effect("agrees with a plain list for any sequence of appends and trims", () =>
      Effect.gen(function* () {
        const run = (steps: ReadonlyArray<Step>) =>
          Effect.gen(function* () {
            const log = yield* emptied
            let model: ReadonlyArray<Segment> = []
            for (const { append, keep, limit } of steps) {
              const segment = segmentOf(append)
              yield* log.append("x", segment)
              model = [segment, ...model]
              if (keep !== null) {
                yield* log.trim("x", { events: keep, size: LARGE })
                model = model.filter((_, i) => keep > countOf(model.slice(0, i)))
              }
              const expected = inOrder(model).slice(-limit)
              assert.deepStrictEqual(inOrder(yield* recent("x", limit)), expected)
            }
          })
        const context = yield* Effect.context<EventLog>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(step, { maxLength: 12 }), (steps) =>
              Effect.runPromise(Effect.provide(run(steps), context))
            ),
            { numRuns: rounds(name, 20) }
          )
        )
      })
    )

    it.effect("remove deletes events from all logs of the platform, whole segments too, and from no other", () =>
      Effect.gen(function* () {
        const log = yield* emptied
        const own = ownLog("x", fromUuid("acct", v7()))
        const [first, second, third] = [segmentOf(3, 7), segmentOf(2), segmentOf(4)]
        for (const segment of [first, second, third]) yield* log.append("x", segment)
        yield* log.append(own, first)
        yield* log.append("firehose", first)
        const unwanted = new Set([first.events[1], ...second.events, third.events[3]].map((event) => event?.json ?? ""))
        yield* log.remove("x", (json) => unwanted.has(json))
        const isKept = ({ json }: LoggedEvent) => !unwanted.has(json)
        const kept = [first, third].map(({ events, missed }) => ({ events: events.filter(isKept), missed }))
        assert.deepStrictEqual(yield* recent("x", 100), kept.toReversed())
        assert.deepStrictEqual(inOrder(yield* recent("x", 2)), third.events.slice(1, 3))
        assert.deepStrictEqual(inOrder(yield* recent(own, 100)), first.events.filter(isKept))
        assert.deepStrictEqual(yield* recent("firehose", 100), [first])
        const later = segmentOf(2)
        yield* log.append("x", later)
        assert.deepStrictEqual(countOf(yield* recent("x", 100)), 7)
        yield* log.trim("x", { events: 3, size: LARGE })
        assert.deepStrictEqual(inOrder(yield* recent("x", 100)).slice(-2), later.events)
      })
    )
  })

// ---- helpers ----

const LARGE = 1_000_000_000

const step = fc.record({
  append: fc.integer({ min: 1, max: 6 }),
  keep: fc.option(fc.nat({ max: 15 })),
  limit: fc.integer({ min: 1, max: 20 })
})
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** The tests of a suite share the layer. */
const emptied = Effect.gen(function* () {
  const log = yield* EventLog
  for (const platform of PLATFORM_IDS) yield* log.trim(platform, { events: 0, size: 0 })
  return log
})

const recent = (id: LogId, limit: number) =>
  Effect.gen(function* () {
    const log = yield* EventLog
    return Chunk.toReadonlyArray(yield* Stream.runCollect(log.recent(id, limit)))
  })

let received = 0

const eventOf = (record: unknown): LoggedEvent => ({ receivedAt: ++received, json: JSON.stringify(record) })

const segmentOf = (count: number, missed = 0, text = "y"): Segment => ({
  events: Array.from({ length: count }, () => eventOf({ data: { id: String(received), text } })),
  missed
})

const inOrder = (newestFirst: ReadonlyArray<Segment>) => newestFirst.toReversed().flatMap(({ events }) => events)

const countOf = (segments: ReadonlyArray<Segment>) => inOrder(segments).length
