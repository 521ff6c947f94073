/** The buffer of recent events, with a working, a failing and a slow store. */

import { assert, describe, it } from "@effect/vitest"
import {
  Chunk,
  Context,
  Deferred,
  Effect,
  Exit,
  FiberRef,
  HashSet,
  Layer,
  Logger,
  Scope,
  Stream,
  TestClock
} from "effect"
import { EventLog, type LogId, type Segment, sizeOf } from "../../../core/backtests/EventLog.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"

describe("RecentEvents", () => {
  it.scoped("record writes within about a second, in order of arrival", () =>
    Effect.gen(function* () {
      const { recent, log } = yield* started(100)
      yield* recent.record("x", records(1, 3))
      yield* recent.record("firehose", records(10, 11))
      yield* recent.record("x", records(4, 5))
      assert.deepStrictEqual(yield* stored(log, "x"), [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* stored(log, "x"), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* stored(log, "firehose"), [10, 11])
    })
  )

  it.scoped("newest includes events recorded just now, with their receive time", () =>
    Effect.gen(function* () {
      const { recent } = yield* started(100)
      yield* TestClock.setTime(5_000)
      yield* recent.record("x", records(1, 2))
      const [segment] = yield* Stream.runCollect(recent.newest(["x"], 10))
      assert.deepStrictEqual(segment?.events, [
        { receivedAt: 5_000, json: '{"n":1}' },
        { receivedAt: 5_000, json: '{"n":2}' }
      ])
    })
  )

  it.scoped("newest returns at most keep and at most limit events", () =>
    Effect.gen(function* () {
      const { recent, log } = yield* started(7)
      for (let n = 1; n <= 30; n++) {
        yield* recent.record("x", records(n, n))
        if (n % 4 === 0) yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* numbers(recent.newest(["x"], 1_000)), from(Math.max(1, n - 6), n))
        assert.deepStrictEqual(yield* numbers(recent.newest(["x"], 3)), from(Math.max(1, n - 2), n))
      }
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(yield* stored(log, "x"), from(24, 30), "the store keeps no more")
    })
  )

  it.scoped("writes segments of at most 500 events and about a million characters", () =>
    Effect.gen(function* () {
      const { recent, log } = yield* started(10_000)
      const large = Array.from({ length: 4 }, (_, n) => ({ n, text: "y".repeat(400_000) }))
      yield* recent.record("x", [...records(1, 1_200), ...large, { n: 0, text: "z".repeat(3_000_000) }])
      yield* TestClock.adjust("1 second")
      const segments = Chunk.toReadonlyArray(yield* Stream.runCollect(log.recent("x", 10_000))).toReversed()
      const counts = segments.map(({ events }) => events.length)
      assert.deepStrictEqual(counts, [500, 500, 202, 2, 1])
      for (const segment of segments.slice(0, -1)) assert.isAtMost(sizeOf(segment), 1024 * 1024)
    })
  )

  it.scoped("record skips a value that JSON cannot represent, and counts it as missed", () =>
    Effect.gen(function* () {
      const { recent } = yield* started(100)
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      yield* recent.record("x", [{ n: 1 }, circle, undefined, { n: 2 }])
      const [segment] = yield* Stream.runCollect(recent.newest(["x"], 10))
      assert.deepStrictEqual([segment?.events.length, segment?.missed], [2, 2])
    })
  )

  it.scoped("record drops and counts the oldest events during an outage, with one warning", () =>
    Effect.gen(function* () {
      const { recent, log, store, logs } = yield* started(10)
      yield* recent.record("x", records(1, 4))
      yield* TestClock.adjust("1 second")
      store.isAway = true
      for (let n = 5; n <= 40; n++) {
        yield* recent.record("x", records(n, n))
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(logs, ["WARN Cannot write recent events, retrying"])
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(recent.newest(["x"], 5))))._tag, "StoreUnavailable")
      store.isAway = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(logs.slice(1), ["INFO Recent events are written again; 26 were dropped"])
      assert.deepStrictEqual(yield* stored(log, "x"), [...from(1, 4), ...from(31, 40)])
      const [newest] = yield* Stream.runCollect(recent.newest(["x"], 10))
      assert.strictEqual(newest?.missed, 26)
      store.isAway = true
      yield* recent.record("x", records(41, 41))
      yield* TestClock.adjust("1 second")
      assert.lengthOf(logs, 3, "the next outage warns again")
    })
  )

  it.scoped("record does not wait for a store that hangs, and drops the oldest with one warning", () =>
    Effect.gen(function* () {
      const { recent, log, store, logs } = yield* started(10)
      const resume = yield* Deferred.make<void>()
      store.before = Deferred.await(resume)
      yield* recent.record("x", records(1, 2))
      yield* TestClock.adjust("1 second")
      for (let n = 3; n <= 50; n++) yield* recent.record("x", records(n, n))
      assert.deepStrictEqual(logs, [
        "WARN Recent events arrive faster than the store writes them: the oldest are dropped"
      ])
      store.before = Effect.void
      store.isAway = true
      yield* Deferred.succeed(resume, undefined)
      yield* TestClock.adjust("1 second")
      store.isAway = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* stored(log, "x"), from(41, 50))
      assert.deepStrictEqual(logs.slice(1), ["INFO Recent events are written again; 40 were dropped"])
    })
  )

  it.effect("writes the buffer on close, each event once, even during a write", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { recent, log, store } = yield* Scope.extend(started(2_000), scope)
      const resume = yield* Deferred.make<void>()
      store.before = Deferred.await(resume)
      yield* recent.record("x", records(1, 600))
      yield* TestClock.adjust("1 second")
      yield* recent.record("x", records(601, 700))
      yield* recent.record("firehose", records(1, 1))
      const ending = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      store.before = Effect.void
      yield* Deferred.succeed(resume, undefined)
      yield* ending.await
      assert.deepStrictEqual(yield* stored(log, "x"), from(1, 700))
      assert.deepStrictEqual(yield* stored(log, "firehose"), [1])
    })
  )

  it.effect("closes within seconds with a warning if the store hangs", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { recent, store, logs } = yield* Scope.extend(started(100), scope)
      store.before = Effect.never
      yield* recent.record("x", records(1, 1))
      const ending = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("6 seconds")
      assert.isTrue(Exit.isSuccess(yield* ending.await))
      assert.deepStrictEqual(logs, ["WARN Cannot write the last recent events"])
    })
  )

  it.scoped("newest merges logs in the order of arrival", () =>
    Effect.gen(function* () {
      const { recent } = yield* started(100)
      for (let n = 1; n <= 30; n++) {
        yield* recent.record(n % 3 === 0 ? own(1) : "x", records(n, n))
        yield* TestClock.adjust("300 millis")
      }
      assert.deepStrictEqual(yield* numbers(recent.newest(["x", own(1)], 100)), from(1, 30))
      assert.deepStrictEqual(yield* numbers(recent.newest(["x", own(1)], 7)), from(24, 30))
      assert.deepStrictEqual(yield* numbers(recent.newest(["x", own(2)], 3)), [26, 28, 29])
    })
  )

  it.scoped("keeps an equal share for each of many accounts; one that sends more pushes out only its own", () =>
    Effect.gen(function* () {
      const { recent, log } = yield* started(100)
      yield* recent.record("x", records(1, 100))
      for (let account = 1; account <= 8; account++) yield* recent.record(own(account), records(1, 20))
      for (let n = 21; n <= 1_000; n++) {
        yield* recent.record(own(1), records(n, n))
        if (n % 10 === 0) yield* TestClock.adjust("1 second")
      }
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(yield* stored(log, "x"), from(1, 100))
      assert.deepStrictEqual(yield* stored(log, own(2)), from(1, 20))
      assert.deepStrictEqual(yield* stored(log, own(1)), from(951, 1_000), "a half: four full logs for eight accounts")
    })
  )

  it.scoped("buffers the events of all accounts together in bounded memory", () =>
    Effect.gen(function* () {
      const { recent, store } = yield* started(100)
      store.isAway = true
      const text = "y".repeat(4 * 1024 * 1024)
      for (let n = 1; n <= 4; n++) {
        for (let account = 1; account <= 8; account++) yield* recent.record(own(account), [{ n, text }])
      }
      store.isAway = false
      // 8 Mi characters for each: one event, because two with their braces are more.
      assert.deepStrictEqual(yield* numbers(recent.newest([own(1)], 100)), [4])
      assert.deepStrictEqual(yield* numbers(recent.newest([own(8)], 100)), [4])
    })
  )

  it.scoped("deletes the log of an account that has sent nothing for a week", () =>
    Effect.gen(function* () {
      const log = yield* memoryLog
      const day = 24 * 60 * 60 * 1_000
      const on = (receivedAt: number): Segment => ({ events: [{ receivedAt, json: '{"n":1}' }], missed: 0 })
      for (const id of ["x", own(1), own(2)]) yield* log.append(id, on(day))
      yield* log.append(own(2), on(3 * day))
      yield* TestClock.setTime(9 * day)
      yield* startedOn(log, 100)
      assert.deepStrictEqual(yield* stored(log, "x"), [1])
      assert.deepStrictEqual(yield* stored(log, own(1)), [])
      assert.deepStrictEqual(yield* stored(log, own(2)), [1, 1])
    })
  )

  it.scoped("keep 0 writes nothing and deletes the stored events", () =>
    Effect.gen(function* () {
      const log = yield* memoryLog
      yield* log.append("x", { events: [{ receivedAt: 1, json: '{"n":1}' }], missed: 0 })
      const { recent } = yield* startedOn(log, 0)
      yield* recent.record("x", records(2, 3))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* stored(log, "x"), [])
      assert.deepStrictEqual(yield* numbers(recent.newest(["x"], 10)), [])
    })
  )
})

// ---- helpers ----

type Log = typeof EventLog.Service

const memoryLog = Effect.map(Layer.build(memoryEvents), (context) => Context.get(context, EventLog))

/** RecentEvents on a store that can fail or hang, with its log output. */
const started = (keep: number) => Effect.flatMap(memoryLog, (log) => startedOn(log, keep))

const startedOn = (log: Log, keep: number) =>
  Effect.gen(function* () {
    const logs: Array<string> = []
    const teller = Logger.make(({ logLevel, message }) => {
      logs.push(`${logLevel.label} ${Array.isArray(message) ? message[0] : message}`)
    })
    yield* FiberRef.set(FiberRef.currentLoggers, HashSet.make(teller))
    const store: { isAway: boolean; before: Effect.Effect<void> } = { isAway: false, before: Effect.void }
    const failing = EventLog.of({
      ...log,
      append: (platform, segment) =>
        Effect.flatMap(
          Effect.suspend(() => store.before),
          () => (store.isAway ? away : log.append(platform, segment))
        ),
      recent: (platform, limit) =>
        Stream.suspend(() => (store.isAway ? Stream.fail(away) : log.recent(platform, limit)))
    })
    const layer = Layer.provide(RecentEvents.layerWith({ keep }), Layer.succeed(EventLog, failing))
    const recent = Context.get(yield* Layer.build(layer), RecentEvents)
    yield* TestClock.adjust(0)
    return { recent, log, store, logs }
  })

const away = new StoreUnavailable({ operation: "events.append", cause: "down" })

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** The log of an account. */
const own = (account: number): LogId => `x/acct_${account}`

const records = (first: number, last: number) => from(first, last).map((n) => ({ n }))

/** The numbers of the events, in order of arrival. */
const numbers = <E>(newestFirst: Stream.Stream<Segment, E>) =>
  Effect.map(Stream.runCollect(newestFirst), (segments) =>
    Chunk.toReadonlyArray(segments)
      .toReversed()
      .flatMap(({ events }) => events.map(({ json }) => JSON.parse(json).n as number))
  )

const stored = (log: Log, id: LogId) => numbers(log.recent(id, 1_000_000))
