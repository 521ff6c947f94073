/** Backtests: counts, rates, samples and notes. */

import { assert, describe, it } from "@effect/vitest"
import { Context, type Duration, Effect, Layer, Stream, TestClock } from "effect"
import { Backtests, type OwnedRule } from "../../../core/backtests/Backtests.ts"
import { EventLog, type LoggedEvent, type LogId, ownLog, type Segment } from "../../../core/backtests/EventLog.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { fromUuid } from "../../../core/model/Ids.ts"
import { fromDate } from "../../../core/model/Timestamp.ts"
import { checkRule, languageOf, type PlatformId } from "../../../fixtures/languages.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { workTaking } from "../work/workTaking.ts"

const NOON = Date.parse("2026-11-15T12:00:00.000Z")
const MINUTE = 60_000

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const ben = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

const recentEvents = Layer.provide(RecentEvents.layerWith({ keep: 10_000 }), memoryEvents)

describe("Backtests", () => {
  it.scoped("run returns count, share, rate by event time, and the newest samples", () =>
    Effect.gen(function* () {
      // One post per minute for an hour, every tenth about a storm, all received at once.
      const events = Array.from({ length: 61 }, (_, n) =>
        event(post(n, n % 10 === 0 ? "A storm" : "Calm", NOON + n * MINUTE), 1)
      )
      const result = yield* backtest("x", "storm", [segment(events.slice(0, 40)), segment(events.slice(40))])
      assert.deepStrictEqual(result, {
        basis: "all_events",
        tested: 61,
        matched: 7,
        already_matched: 0,
        share: 7 / 61,
        per_hour: 7,
        recorded: 61,
        from: time(NOON),
        to: time(NOON + 60 * MINUTE),
        samples: [60, 50, 40].map((n) => post(n, "A storm", NOON + n * MINUTE))
      })
    })
  )

  it.scoped("run tests a repeated event once", () =>
    Effect.gen(function* () {
      const events = [post(1, "A storm"), post(2, "Calm"), post(1, "A storm"), post(1, "A storm")]
      const result = yield* backtest("x", "storm", [segment(events.map((one, n) => event(one, NOON + n)))])
      assert.deepStrictEqual([result.tested, result.matched, result.samples.length], [2, 1, 1])
    })
  )

  it.scoped("run honours the limits for events and samples", () =>
    Effect.gen(function* () {
      const events = Array.from({ length: 50 }, (_, n) => event(post(n, "A storm"), NOON + n))
      const log = [segment(events)]
      const few = yield* backtest("x", "storm", log, { events: 7, samples: 2 })
      assert.deepStrictEqual([few.tested, few.matched, few.samples], [7, 7, [post(49, "A storm"), post(48, "A storm")]])
      assert.deepStrictEqual((yield* backtest("x", "storm", log, { events: 7, samples: 0 })).samples, [])
      assert.lengthOf((yield* backtest("x", "storm", log, { events: 50, samples: 20 })).samples, 20)
    })
  )

  it.scoped("run returns the newest events if none matches", () =>
    Effect.gen(function* () {
      const log = [segment(Array.from({ length: 9 }, (_, n) => event(post(n, "Calm"), NOON + n)))]
      const result = yield* backtest("x", "storm", log, { events: 9, samples: 2 })
      assert.deepStrictEqual([result.samples, result.newest], [[], [post(8, "Calm"), post(7, "Calm")]])
      assert.notProperty(yield* backtest("x", "storm", log, { events: 9, samples: 0 }), "newest")
    })
  )

  it.scoped("run uses the receive time if the event time is missing or impossible", () =>
    Effect.gen(function* () {
      const invalid = [undefined, "yesterday", "0000-01-01T00:00:00+12:00", "9999-12-31T23:59:59-12:00", 5, null]
      const events = invalid.map((created_at, n) =>
        event({ data: { id: String(n), text: "A storm", created_at } }, NOON + n * MINUTE)
      )
      const result = yield* backtest("x", "storm", [segment(events)])
      assert.deepStrictEqual([result.from, result.to], [time(NOON), time(NOON + 5 * MINUTE)])
      assert.strictEqual(result.per_hour, 72)
    })
  )

  it.scoped("run omits per_hour if the events span less than a minute", () =>
    Effect.gen(function* () {
      const spanning = (millis: number) =>
        backtest("x", "storm", [segment([event(post(1, "A storm"), NOON), event(post(2, "Calm"), NOON + millis)])])
      const short = yield* spanning(MINUTE - 1)
      assert.notProperty(short, "per_hour")
      assert.deepStrictEqual([short.tested, short.share], [2, 0.5])
      assert.strictEqual((yield* spanning(MINUTE)).per_hour, 60)
    })
  )

  it.scoped("run adds the rates of live and recorded events, and does not count the time between them", () =>
    Effect.gen(function* () {
      // Recorded half a year ago: 4 storms in two hours. Live: 3 storms in ten minutes.
      const recordedAt = NOON - 180 * 24 * 60 * MINUTE
      const recorded = Array.from({ length: 5 }, (_, n) =>
        event(post(n, n === 0 ? "Calm" : "A storm", recordedAt + n * 30 * MINUTE), NOON + n)
      )
      const live = (minutes: number) =>
        Array.from({ length: 3 }, (_, n) => event(post(10 + n, "A storm"), NOON + (n * minutes * MINUTE) / 2))
      const both = yield* backtest("x", "storm", [segment([...recorded, ...live(10)])])
      assert.deepInclude(both, { tested: 8, recorded: 5, matched: 7, per_hour: 2 + 18 })
      assert.deepStrictEqual([both.from, both.to], [time(recordedAt), time(NOON + 10 * MINUTE)])
      // The live matches have no rate yet, so neither has the sum.
      assert.notProperty(yield* backtest("x", "storm", [segment([...recorded, ...live(0.5)])]), "per_hour")
    })
  )

  it.scoped("run scales per_hour by missed events within the tested period only", () =>
    Effect.gen(function* () {
      const minute = (n: number) => segment([event(post(n, "A storm"), NOON + n * MINUTE)], n * 100)
      const result = yield* backtest("x", "storm", [minute(5), minute(6), minute(7)])
      assert.strictEqual(result.missed, 1_300)
      assert.strictEqual(result.per_hour, (3 + 1_300) * 30)
    })
  )

  it.scoped("run sees shared events and the account's own, newest first, and none of another account", () =>
    Effect.gen(function* () {
      const at = (n: number, missed = 0) => segment([event(post(n, "A storm"), NOON + n * MINUTE)], missed)
      const log = yield* logWith({
        x: [at(1, 50), at(4, 10)],
        [ownLog("x", ann)]: [at(2, 5), at(5, 1)],
        [ownLog("x", ben)]: [at(3, 1_000), at(6, 1_000)]
      })
      const result = yield* runOn(log, "x", "storm")
      assert.deepStrictEqual([result.tested, result.missed], [4, 16], "nothing is known of the time before the oldest")
      assert.deepStrictEqual(
        result.samples,
        [5, 4, 2].map((n) => post(n, "A storm"))
      )
      const newest = yield* runOn(log, "x", "storm", { events: 3, samples: 0 })
      assert.deepStrictEqual([newest.tested, newest.missed, newest.from], [3, 11, time(NOON + 2 * MINUTE)])
    })
  )

  it.scoped("run returns neither share nor rate on matched events", () =>
    Effect.gen(function* () {
      const log = yield* logWith({
        x: [segment(Array.from({ length: 604 }, (_, n) => event(post(n, "Calm", NOON + n * MINUTE), 1)))]
      })
      const result = yield* runOn(log, "x", "storm", undefined, { basis: "matched_events" })
      assert.deepInclude(result, { basis: "matched_events", tested: 604, matched: 0 })
      assert.doesNotHaveAnyKeys(result, ["share", "per_hour"])
    })
  )

  it.scoped("run counts the matching events that a present filter matches, once each", () =>
    Effect.gen(function* () {
      const texts = ["A storm", "A storm and rain", "A storm and hail", "Rain"]
      const log = yield* logWith({ x: [segment(texts.map((text, n) => event(post(n, text), NOON)))] })
      const overlap = (...present: ReadonlyArray<string>) =>
        Effect.map(runOn(log, "x", "storm", undefined, { present }), (result) => [
          result.matched,
          result.already_matched
        ])
      assert.deepStrictEqual(yield* overlap(), [3, 0])
      assert.deepStrictEqual(yield* overlap("rain"), [3, 1])
      assert.deepStrictEqual(yield* overlap("rain", "hail OR rain", "rain", "(not valid"), [3, 2])
    })
  )

  it.scoped("run evaluates recent: at the record's matched_at", () =>
    Effect.gen(function* () {
      const page = (n: number, matched_at?: string) => ({
        document: { url: `https://example.com/${n}`, publish_time: "2026-11-15T10:00:00Z" },
        ...(matched_at === undefined ? {} : { matched_at })
      })
      const result = yield* backtest("firehose", "recent:2h AND domain:example.com", [
        segment([
          event(page(1, "2026-11-15T11:00:00Z"), NOON + 900 * MINUTE),
          event(page(2, "2026-11-15T12:00:01Z"), NOON),
          event(page(3), NOON),
          event(page(4), NOON + MINUTE)
        ])
      ])
      assert.deepStrictEqual([result.tested, result.samples], [4, [page(3), page(1, "2026-11-15T11:00:00Z")]])
    })
  )

  it.scoped("run counts unreadable events and tests the rest", () =>
    Effect.gen(function* () {
      const invalid: ReadonlyArray<LoggedEvent> = [
        { receivedAt: NOON, json: "{" },
        event({ data: { id: "1" } }, NOON),
        event("text", NOON),
        event(post(2, "A storm"), NOON)
      ]
      const result = yield* backtest("x", "storm", [segment(invalid)])
      assert.deepStrictEqual([result.tested, result.matched, result.unreadable], [1, 1, 3])
    })
  )

  it.scoped("run explains why there are no events to test", () =>
    Effect.gen(function* () {
      const none = { basis: "all_events", tested: 0, matched: 0, already_matched: 0, samples: [] } as const
      assert.deepStrictEqual(yield* backtest("x", "storm", []), {
        ...none,
        note: 'No events to test: no events of "x" have been received yet'
      })
      const off = yield* runOn(Layer.provide(RecentEvents.layerWith({ keep: 0 }), memoryEvents), "x", "storm")
      assert.deepStrictEqual(off, {
        ...none,
        note: "No events to test: this server keeps no recent events (EARSHOT_RECENT_EVENTS is 0)"
      })
    })
  )

  it.scoped("run tests every event of a slow store: only its work is limited", () =>
    Effect.gen(function* () {
      const result = yield* runOn(logTaking("4 seconds"), "x", "storm")
      assert.deepStrictEqual([result.tested, result.note], [10, undefined])
    })
  )

  it.scoped("run stops after two minutes of waiting with the newest events tested, and a note", () =>
    Effect.gen(function* () {
      const result = yield* runOn(logTaking("50 seconds"), "x", "storm")
      assert.deepStrictEqual(
        [result.tested, result.note],
        [3, "Stopped after 2 minutes, because the server is busy: older events were not tested"]
      )
    })
  )

  it.scoped("run stops after ten seconds of work with the newest events tested, and a note", () =>
    Effect.gen(function* () {
      const result = yield* Effect.scoped(
        Effect.zipRight(workTaking(4_000), runOn(logTaking("0 seconds"), "x", "storm"))
      )
      assert.deepStrictEqual(
        [result.tested, result.note],
        [3, "Stopped after 10 seconds of work: older events were not tested"]
      )
    })
  )

  it.live("run yields to other fibers, even with many concurrent runs", () =>
    Effect.gen(function* () {
      const backtests = yield* Backtests
      const recent = yield* RecentEvents
      yield* recent.record(
        "x",
        Array.from({ length: 2_000 }, (_, n) => post(n, "Words of no interest ".repeat(10)))
      )
      const expression = ruleOf("x", "storm")
      let turns = 0
      const others = setInterval(() => turns++, 0)
      const results = yield* Effect.all(
        Array.from({ length: 5 }, () =>
          backtests.run(
            { account: ann, language: languageOf("x"), basis: "all_events", expression, present: [] },
            { events: 2_000, samples: 0 }
          )
        ),
        { concurrency: "unbounded" }
      )
      clearInterval(others)
      assert.deepStrictEqual(
        results.map(({ tested }) => tested),
        [2_000, 2_000, 2_000, 2_000, 2_000]
      )
      // Out of a hundred slices. Without a yield after each slice there would be fewer.
      assert.isAbove(turns, 70)
    }).pipe(Effect.provide(Layer.provideMerge(Backtests.layer, recentEvents)))
  )
})

// ---- helpers ----

/** Ten events, each in its own segment. Reading one takes this long on the test clock. */
const logTaking = (duration: Duration.DurationInput) => {
  const segments = Array.from({ length: 10 }, (_, n) => segment([event(post(n, "A storm"), n)]))
  const slow = Stream.fromIterable(segments).pipe(
    Stream.rechunk(1),
    Stream.tap(() => TestClock.adjust(duration))
  )
  return Layer.mock(RecentEvents, { keep: 100, newest: () => slow })
}

const post = (n: number, text: string, createdAt?: number) => ({
  data: { id: String(n), text, ...(createdAt === undefined ? {} : { created_at: time(createdAt) }) }
})

const time = (millis: number) => fromDate(new Date(millis))

const event = (record: unknown, receivedAt: number): LoggedEvent => ({ receivedAt, json: JSON.stringify(record) })

const segment = (events: ReadonlyArray<LoggedEvent>, missed = 0): Segment => ({ events, missed })

/** On a log with these segments, oldest first. */
const backtest = (
  platform: PlatformId,
  text: string,
  segments: ReadonlyArray<Segment>,
  request = { events: 1_000, samples: 3 }
) => Effect.flatMap(logWith({ [platform]: segments }), (recent) => runOn(recent, platform, text, request))

/** The segments of each log, oldest first. */
const logWith = (logs: Readonly<Record<LogId, ReadonlyArray<Segment>>>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(NOON)
    const context = yield* Layer.build(memoryEvents)
    const { append } = Context.get(context, EventLog)
    for (const [log, segments] of Object.entries(logs)) {
      for (const one of segments) yield* append(log, one)
    }
    return Layer.provide(RecentEvents.layerWith({ keep: 10_000 }), Layer.succeedContext(context))
  })

const runOn = (
  recent: Layer.Layer<RecentEvents>,
  platform: PlatformId,
  text: string,
  request = { events: 1_000, samples: 3 },
  rule: Partial<OwnedRule> = {}
) =>
  Effect.gen(function* () {
    const backtests = yield* Backtests
    return yield* backtests.run(
      {
        account: ann,
        language: languageOf(platform),
        basis: "all_events",
        expression: ruleOf(platform, text),
        present: [],
        ...rule
      },
      request
    )
  }).pipe(Effect.provide(Layer.provide(Backtests.layer, recent)))

const ruleOf = (platform: PlatformId, text: string) => {
  const { rule } = checkRule(platform, text)
  if (rule === undefined) throw new Error(`"${text}" is no rule`)
  return rule.expression
}
