/** Retention by age, by count and by the limits of each account, on the test clock and memory stores. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, type Scope, TestClock } from "effect"
import { MatchStore, type Trim, type Usage } from "../../../core/matches/MatchStore.ts"
import * as Retention from "../../../core/matches/Retention.ts"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { type AccountId, firstMatchIdAt, fromUuid } from "../../../core/model/Ids.ts"
import { fromDate } from "../../../core/model/Timestamp.ts"
import type { Platforms } from "../../../core/platforms/Platform.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { newRule, noLimits } from "../../contract/samples.ts"
import { idsOnly } from "../../platforms.ts"
import { memoryMatches } from "../../stores/memoryMatches.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { memoryStreams } from "../../stores/memoryStreams.ts"
import { Payload } from "../../../core/matches/Payload.ts"

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const rule = fromUuid("rule", "01890000-0000-7000-8000-00000000000b")
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const START = Date.UTC(2026, 10, 15)

describe("Retention", () => {
  test("deletes matches older than keepDays every minute", () =>
    Effect.gen(function* () {
      const [gone, first, second] = [-1, 0, 2 * MINUTE].map((after) => START - 30 * DAY + after)
      yield* matchesAt(gone ?? 0, first ?? 0, second ?? 0)
      yield* run({ keepDays: 30, keepMatches: 0 })
      assert.deepStrictEqual(yield* times, [first, second])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, [second])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, [second])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, [], "even without newer matches")
    }))

  test("keeps the newest keepMatches, and all matches of the last minute", () =>
    Effect.gen(function* () {
      const old = [5, 4, 3, 2].map((minutes) => START - minutes * MINUTE)
      const young = [START - MINUTE, START - 1]
      yield* matchesAt(...old, ...young)
      yield* run({ keepDays: 0, keepMatches: 5 })
      assert.deepStrictEqual(yield* times, [...old.slice(1), ...young])
      const flood = [1, 2, 3, 4, 5].map((n) => START + n)
      yield* matchesAt(...flood)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, flood)
      yield* matchesAt(...[1, 2, 3, 4, 5, 6, 7].map((n) => START + MINUTE + n))
      yield* TestClock.adjust("59 seconds")
      assert.lengthOf(yield* times, 12)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        yield* times,
        [1, 2, 3, 4, 5, 6, 7].map((n) => START + MINUTE + n),
        "too young to go"
      )
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        yield* times,
        [3, 4, 5, 6, 7].map((n) => START + MINUTE + n)
      )
    }))

  test("deletes nothing when both limits are 0", () =>
    Effect.gen(function* () {
      const all = [1, START - 3_000 * DAY, START]
      yield* matchesAt(...all)
      yield* run({ keepDays: 0, keepMatches: 0 })
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(yield* times, all)
    }))

  test("deletes in batches until nothing is left to delete", () =>
    Effect.gen(function* () {
      const store = yield* MatchStore
      const steps: Array<number> = []
      const trim = (what: Trim) => Effect.tap(store.trim(what), (deleted) => steps.push(deleted))
      yield* matchesAt(...Array.from({ length: 1_234 }, (_, n) => START - 31 * DAY + n))
      yield* Effect.provideService(run({ keepDays: 30, keepMatches: 0 }), MatchStore, { ...store, trim })
      assert.deepStrictEqual(steps, [500, 500, 234])
      assert.deepStrictEqual(yield* times, [])
    }))

  test("warns at once about a clock that is years ahead, and takes half an hour to delete everything", (logged) =>
    Effect.gen(function* () {
      const hourly = Array.from({ length: 30 * 24 }, (_, n) => START - 30 * DAY + n * HOUR)
      yield* matchesAt(...hourly)
      yield* TestClock.setTime(START + 3_000 * DAY)
      yield* run({ keepDays: 30, keepMatches: 0 })
      assert.deepStrictEqual(yield* times, hourly.slice(24))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, hourly.slice(48))
      assert.lengthOf(logged, 1)
      assert.match(String(logged[0]), /check the clock/)
      yield* TestClock.setTime(START)
      yield* run({ keepDays: 30, keepMatches: 0 })
      assert.deepStrictEqual(yield* times, hourly.slice(48), "the rest remains after the clock is corrected")
    }))

  test("skips periods without matches", () =>
    Effect.gen(function* () {
      yield* matchesAt(1, START - 400 * DAY, START - 31 * DAY, START)
      yield* run({ keepDays: 30, keepMatches: 0 })
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* times, [START])
    }))

  test("deletes the oldest matches of an account beyond its limits, and none of the last minute", () =>
    Effect.gen(function* () {
      const old = Array.from({ length: 1_200 }, (_, n) => START - 10 * MINUTE + n)
      yield* matchesAt(...old, START - 1)
      yield* run({ keepDays: 0, keepMatches: 0, limits: { matches: 101, bytes: 0 } })
      assert.deepStrictEqual(yield* times, [...old.slice(-100), START - 1])
      const store = yield* MatchStore
      const young = Array.from({ length: 200 }, (_, n) => START + 1 + n)
      yield* matchesAt(...young)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, young, "all within the last minute")
      assert.deepStrictEqual(yield* store.floor(ann), Option.some(firstMatchIdAt(START - 1)))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, young.slice(-101))
    }))

  test("deletes by the bytes of an account, too", () =>
    Effect.gen(function* () {
      yield* matchesAt(...[5, 4, 3, 2].map((minutes) => START - minutes * MINUTE))
      const { bytes } = yield* Effect.flatMap(MatchStore, (store) => store.usage(ann))
      yield* run({ keepDays: 0, keepMatches: 0, limits: { matches: 0, bytes: bytes / 2 } })
      assert.deepStrictEqual(
        yield* times,
        [3, 2].map((minutes) => START - minutes * MINUTE)
      )
    }))

  test("continues after an outage of the store and after a defect", () =>
    Effect.gen(function* () {
      const store = yield* MatchStore
      const answers = [new StoreUnavailable({ operation: "matches.trim", cause: "down" }), Effect.dieMessage("bug")]
      const trim = (what: Trim) => answers.shift() ?? store.trim(what)
      yield* matchesAt(START - 31 * DAY, START)
      yield* Effect.provideService(run({ keepDays: 30, keepMatches: 0 }), MatchStore, { ...store, trim })
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(yield* times, 2)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* times, [START])
    }))
})

// ---- helpers ----

/** Starts in November 2026 with one rule, and collects warnings and errors. */
function test(
  title: string,
  body: (
    logged: ReadonlyArray<unknown>
  ) => Effect.Effect<void, unknown, MatchStore | RuleStore | Platforms | Scope.Scope>
) {
  const logged: Array<unknown> = []
  const logger = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ message }) => logged.push(message))
  )
  it.scoped(title, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START)
      const rules = yield* RuleStore
      const createdAt = fromDate(new Date(START))
      const filters = [{ platform: "x" as const, text: "storm" }]
      yield* rules.reserve(newRule(ann, { id: rule, createdAt, filters }), noLimits)
      const registered = { platformRuleId: "1", translatedValue: "storm" }
      yield* rules.activate(rule, new Map([["x" as const, registered]]), createdAt)
      yield* body(logged)
    }).pipe(
      Effect.provide([Layer.provideMerge(memoryMatches, Layer.merge(memoryRules, memoryStreams)), idsOnly, logger])
    )
  )
}

/** Completes after the first round. */
function run(options: Omit<Retention.Options, "limitsOf" | "forgetOthers"> & { readonly limits?: Usage }) {
  const { limits = { matches: 0, bytes: 0 } } = options
  const limitsOf = (account: AccountId) => Effect.succeed(account === ann ? limits : { matches: 1, bytes: 1 })
  return Effect.zipRight(
    Layer.build(Retention.layerWith({ ...options, limitsOf, forgetOthers: Effect.void })),
    TestClock.adjust(0)
  )
}

function matchesAt(...times: ReadonlyArray<number>) {
  return Effect.flatMap(MatchStore, (store) =>
    store.insert(
      times.map((time) => ({
        id: firstMatchIdAt(time),
        rule_id: rule,
        rule_version: 1,
        created_at: fromDate(new Date(time)),
        platform: "x",
        platform_post_id: String(time),
        payload: Payload.of({})
      }))
    )
  )
}

/** Of the stored matches, oldest first. */
const times = Effect.gen(function* () {
  const store = yield* MatchStore
  const page = { account: ann, rules: Option.none(), platforms: ["x" as const], before: Option.none(), limit: 10_000 }
  return (yield* store.list(page)).items.map(({ created_at }) => Date.parse(created_at)).reverse()
})
