/** The contract of `counts` of `MatchStore`: true for what is stored, whatever was added and deleted. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import * as fc from "fast-check"
import { v7 } from "uuid"
import type { Unit } from "../../core/matches/Bars.ts"
import { UNIT_MILLIS } from "../../core/matches/Bars.ts"
import type { Match } from "../../core/matches/Match.ts"
import { type BarCount, type CountQuery, MatchStore, type RecentCounts } from "../../core/matches/MatchStore.ts"
import { type AccountId, fromUuid, type RuleId } from "../../core/model/Ids.ts"
import { fromMillis } from "../../core/model/Timestamp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { rounds } from "../stores.ts"
import { at, newAccount, newMatch, newRule, noLimits, visibleRule } from "./samples.ts"

export const matchCountsContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`counts of MatchStore on ${name}`, (it) => {
    it.effect("counts returns each bar with matches, by minute, hour and day", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = (yield* visibleRule(account)).id
        const times = ["00:00:00.000", "00:00:59.999", "00:01:00.000", "00:59:59.999", "01:00:00.000", "23:59:59.999"]
        const days = ["2025-03-01", "2025-03-02"]
        yield* store.insert(days.flatMap((day) => times.map((time) => created(rule, `${day}T${time}Z`))))
        const counts = (unit: Unit, from: string, count: number) =>
          Effect.map(store.counts(queryOf(account, { bars: { unit, from: Date.parse(from), count } })), shown)
        assert.deepStrictEqual(yield* counts("minute", "2025-03-01T00:00Z", 60), [
          "x 2025-03-01T00:00 2",
          "x 2025-03-01T00:01 1",
          "x 2025-03-01T00:59 1"
        ])
        assert.deepStrictEqual(yield* counts("minute", "2025-03-01T00:01Z", 1), ["x 2025-03-01T00:01 1"])
        assert.deepStrictEqual(yield* counts("minute", "2025-03-01T00:02Z", 57), [])
        assert.deepStrictEqual(yield* counts("hour", "2025-03-01T00:00Z", 24), [
          "x 2025-03-01T00:00 4",
          "x 2025-03-01T01:00 1",
          "x 2025-03-01T23:00 1"
        ])
        assert.deepStrictEqual(yield* counts("day", "2025-03-01T00:00Z", 2), [
          "x 2025-03-01T00:00 6",
          "x 2025-03-02T00:00 6"
        ])
        assert.deepStrictEqual(yield* counts("day", "2025-03-03T00:00Z", 100), [])
      })
    )

    it.effect("counts adds up the rules of the account, or keeps them apart, on the given platforms", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const [one, two] = [(yield* visibleRule(account)).id, (yield* visibleRule(account)).id]
        const foreign = (yield* visibleRule(yield* newAccount)).id
        yield* store.insert([
          newMatch(one),
          newMatch(one),
          newMatch(two),
          newMatch(two, { platform: "firehose" }),
          newMatch(foreign)
        ])
        const counts = (query: Partial<CountQuery>) => Effect.map(store.counts(queryOf(account, query)), shown)
        const bar = "2025-01-01T00:00"
        assert.deepStrictEqual(yield* counts({}), [`firehose ${bar} 1`, `x ${bar} 3`])
        assert.deepStrictEqual(yield* counts({ platforms: ["x"] }), [`x ${bar} 3`])
        assert.deepStrictEqual(yield* counts({ isPerRule: true, platforms: ["x"] }), [
          `${one} x ${bar} 2`,
          `${two} x ${bar} 1`
        ])
        assert.deepStrictEqual(yield* counts({ isPerRule: true, rules: Option.some([two]) }), [
          `${two} firehose ${bar} 1`,
          `${two} x ${bar} 1`
        ])
        assert.deepStrictEqual(yield* counts({ rules: Option.some([foreign]) }), [])
      })
    )

    it.effect("counts counts only what insert stored, and no hidden rule", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = (yield* visibleRule(account)).id
        const pending = newRule(account)
        yield* rules.reserve(pending, noLimits)
        const match = newMatch(rule)
        const again = { ...match, id: fromUuid("match", v7()) }
        yield* store.insert([match, again, newMatch(pending.id), newMatch(fromUuid("rule", v7()))])
        yield* store.insert([again])
        assert.strictEqual(yield* totalOf(account), 1)
        yield* rules.hide(account, rule, at(5))
        assert.strictEqual(yield* totalOf(account), 0)
      })
    )

    it.effect("counts forgets the matches of a deleted rule, and keeps those that are redacted", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const rules = yield* RuleStore
        const account = yield* newAccount
        const [kept, gone] = [(yield* visibleRule(account)).id, (yield* visibleRule(account)).id]
        const match = newMatch(kept)
        yield* store.insert([match, newMatch(kept), newMatch(gone)])
        yield* store.redact({
          platform: match.platform,
          postIds: [match.platform_post_id],
          redacted: { at: at(9), reason: "deleted" },
          atMost: 10
        })
        yield* rules.remove(gone)
        assert.strictEqual(yield* totalOf(account), 2)
      })
    )

    it.effect("counts agrees with a count of all matches after any inserts and trims", () =>
      Effect.gen(function* () {
        const store = yield* MatchStore
        const account = yield* newAccount
        const ids = [(yield* visibleRule(account)).id, (yield* visibleRule(account)).id]
        const newest = fc.integer({ min: 0, max: SPAN })
        const step = fc.record({
          created: fc.array(fc.record({ rule: fc.constantFrom(...ids), time: newest }), { maxLength: 12 }),
          keep: fc.nat({ max: 20 })
        })
        for (const steps of fc.sample(fc.array(step, { minLength: 1, maxLength: 5 }), {
          numRuns: rounds(name, 12),
          seed: 26
        })) {
          for (const { created: matches, keep } of steps) {
            yield* store.insert(
              matches.map(({ rule, time }, i) =>
                newMatch(rule, {
                  created_at: fromMillis(START + time),
                  platform: PLATFORM_IDS[i % PLATFORM_IDS.length] ?? "x"
                })
              )
            )
            yield* store.trimAccount({
              account,
              platforms: PLATFORM_IDS,
              before: fromUuid("match", "ffffffff-ffff-7fff-bfff-ffffffffffff"),
              limits: { matches: keep, bytes: 0 },
              atMost: 7
            })
            const page = { account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 500 }
            const { items } = yield* store.list(page)
            for (const unit of ["minute", "hour", "day"] as const) {
              const bars = { unit, from: START, count: Math.ceil((SPAN + 1) / UNIT_MILLIS[unit]) }
              const counted = yield* store.counts(queryOf(account, { bars, isPerRule: true }))
              assert.deepStrictEqual(shown(counted), shown(modelOf(items, unit)))
            }
            const totals = yield* store.totals(ids)
            for (const now of [START, START + SPAN / 2, START + SPAN, START + 2 * SPAN]) {
              const found = yield* store.recentCounts({ rules: ids, platforms: PLATFORM_IDS, now })
              assert.sameDeepMembers([...found], [...recentModelOf(items, now)])
              assert.deepStrictEqual(
                [...totals].sort(),
                ids.flatMap((id) => {
                  const count = items.filter(({ rule_id }) => rule_id === id).length
                  return count === 0 ? [] : [[id, count] as const]
                })
              )
            }
          }
        }
      })
    )
  })

// ---- helpers ----

const START = Date.UTC(2025, 4, 1)

/** Two days. */
const SPAN = 172_799_999

const created = (rule: RuleId, time: string): Match => newMatch(rule, { created_at: fromMillis(Date.parse(time)) })

/** By default the hour of the samples. */
const queryOf = (account: AccountId, query: Partial<CountQuery> = {}): CountQuery => ({
  account,
  rules: Option.none(),
  platforms: PLATFORM_IDS,
  bars: { unit: "hour", from: Date.parse(at(0)), count: 1 },
  isPerRule: false,
  ...query
})

const totalOf = (account: AccountId) =>
  Effect.gen(function* () {
    const store = yield* MatchStore
    return (yield* store.counts(queryOf(account))).reduce((sum, { matches }) => sum + matches, 0)
  })

const shown = (counts: ReadonlyArray<BarCount>): ReadonlyArray<string> =>
  counts
    .map(({ rule, platform, start, matches }) =>
      [...(rule === undefined ? [] : [rule]), platform, fromMillis(start).slice(0, 16), matches].join(" ")
    )
    .sort()

const recentModelOf = (matches: ReadonlyArray<Match>, now: number): ReadonlyArray<RecentCounts> =>
  [...new Set(matches.map(({ rule_id }) => rule_id))].map((rule) => {
    const minutes = matches
      .filter(({ rule_id }) => rule_id === rule)
      .map(({ created_at }) => Math.floor(Date.parse(created_at) / 60_000))
    const since = (length: number) => minutes.filter((minute) => minute >= Math.floor(now / 60_000) - length).length
    return { rule, last: Math.max(...minutes) * 60_000, hour: since(60), day: since(1_440) }
  })

const modelOf = (matches: ReadonlyArray<Match>, unit: Unit): ReadonlyArray<BarCount> => {
  const bars = new Map<string, BarCount>()
  for (const { rule_id: rule, platform, created_at } of matches) {
    const start = Math.floor(Date.parse(created_at) / UNIT_MILLIS[unit]) * UNIT_MILLIS[unit]
    const key = `${rule} ${platform} ${start}`
    bars.set(key, { rule, platform, start, matches: (bars.get(key)?.matches ?? 0) + 1 })
  }
  return [...bars.values()]
}
