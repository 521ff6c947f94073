/** Rules with their activity: search, filters, order and pages. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { listRules } from "../../../core/activity/ruleActivity.ts"
import { Matches } from "../../../core/matches/Matches.ts"
import { fromUuid, type RuleId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import type { Registration, Rule, RuleQuery } from "../../../core/rules/Rule.ts"
import { Rules } from "../../../core/rules/Rules.ts"

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")

const HOUR = 3_600_000
const NOW = 10 * 24 * HOUR

/** The higher the index, the newer. Every rule with an even index has matches, the last one `index` hours ago. */
const ruleAt = (index: number, created = 0): Rule => ({
  id: idOf(index),
  name: `Rule ${index}`,
  intent: "Show that it works",
  platforms: { x: { platform_rule_id: "1", translated_value: `word${index}`, state: "active" } },
  created_at: Timestamp.fromMillis(created),
  version: 1
})

const idOf = (index: number): RuleId => fromUuid("rule", `01890000-0000-7000-8000-${String(index).padStart(12, "0")}`)

const world = (all: ReadonlyArray<Rule>) => {
  const calls = { lists: 0, counts: 0 }
  const newestFirst = all.toReversed()
  const indexById = new Map(all.map(({ id, name }) => [id, Number(name.slice(5))]))
  const placeById = new Map(newestFirst.map(({ id }, place) => [id, place]))
  const layer = Layer.merge(
    Layer.mock(Rules, {
      list: (_, { limit = 100, cursor }) =>
        Effect.sync(() => {
          calls.lists++
          const start = cursor === undefined ? 0 : (placeById.get(cursor) ?? 0) + 1
          const rules = newestFirst.slice(start, start + limit)
          const last = newestFirst.length > start + limit ? rules.at(-1)?.id : undefined
          return { rules, ...(last !== undefined && { next_cursor: last }) }
        })
    }),
    Layer.mock(Matches, {
      recentCounts: (ids) =>
        Effect.sync(() => {
          calls.counts++
          const indexOf = (id: RuleId) => indexById.get(id) ?? 0
          const found = ids.filter((id) => indexOf(id) % 2 === 0)
          return new Map(
            found.map((rule) => {
              const index = indexOf(rule)
              return [rule, { rule, last: NOW - index * HOUR, hour: index === 0 ? 1 : 0, day: index <= 24 ? index : 0 }]
            })
          )
        })
    })
  )
  const list = (query: RuleQuery) =>
    Effect.zipRight(TestClock.setTime(NOW), Effect.provide(listRules(ann, query), layer))
  return { calls, list }
}

const indexes = ({ rules }: { readonly rules: ReadonlyArray<Rule> }): ReadonlyArray<number> =>
  rules.map(({ name }) => Number(name.slice(5)))

const many = (count: number) => Array.from({ length: count }, (_, index) => ruleAt(index))

describe("listRules", () => {
  it.effect("reads no counters unless it is asked for them, and then one statement per page", () =>
    Effect.gen(function* () {
      const { calls, list } = world(many(250))
      assert.isUndefined((yield* list({})).rules[0]?.activity)
      assert.deepStrictEqual(calls, { lists: 1, counts: 0 })
      const page = yield* list({ activity: true })
      assert.lengthOf(page.rules, 100)
      assert.strictEqual(page.next_cursor, idOf(150))
      assert.deepStrictEqual(calls, { lists: 2, counts: 1 })
      assert.deepStrictEqual(
        page.rules.slice(0, 2).map(({ activity }) => activity),
        [
          { matches_hour: 0, matches_day: 0, state: "active" },
          { last_match_at: Timestamp.fromMillis(NOW - 248 * HOUR), matches_hour: 0, matches_day: 0, state: "active" }
        ]
      )
      const searched = yield* list({ query: "WORD7", limit: 2 })
      assert.deepStrictEqual(indexes(searched), [79, 78])
      assert.strictEqual(calls.counts, 1, "a search needs none")
    })
  )

  it.effect("pages what it filters, without a gap or repeat, and no page but the last is empty", () =>
    Effect.gen(function* () {
      const { list } = world(many(250))
      // Those with an odd index never matched, the others too long ago: all are quiet, except the newest 100 hours.
      const expected = many(250)
        .map((_, index) => index)
        .filter((index) => index % 2 === 1 || index > 100)
        .toReversed()
      for (const limit of [7, 100, undefined]) {
        const found: Array<number> = []
        for (let query: RuleQuery | undefined = { quiet_for: "100h" }; query !== undefined; ) {
          const page: Effect.Effect.Success<ReturnType<typeof list>> = yield* list({
            ...query,
            ...(limit !== undefined && { limit })
          })
          assert.isAtLeast(page.rules.length, 1)
          if (limit !== undefined) assert.isAtMost(page.rules.length, limit)
          found.push(...indexes(page))
          query = page.next_cursor === undefined ? undefined : { quiet_for: "100h", cursor: page.next_cursor }
        }
        assert.deepStrictEqual(found, expected, `${limit}`)
      }
      const young = world([ruleAt(0, 0), ruleAt(1, NOW - HOUR), ruleAt(3, NOW - 3 * HOUR)])
      assert.deepStrictEqual(indexes(yield* young.list({ quiet_for: "2h" })), [3], "not those that are newer")
    })
  )

  it.effect("sorts by the last match and by the matches of a day, in one page", () =>
    Effect.gen(function* () {
      const { list } = world(many(300))
      const quietest = yield* list({ sort: "last_match", limit: 151 })
      assert.deepStrictEqual(indexes(quietest).slice(0, 2), [1, 3], "never matched, the oldest first")
      assert.strictEqual(indexes(quietest).at(-1), 298, "then the longest ago")
      assert.deepStrictEqual(indexes(yield* list({ sort: "matches_day", limit: 3 })), [24, 22, 20])
      const first = yield* list({ sort: "matches_day" })
      assert.lengthOf(first.rules, 100)
      assert.isUndefined(first.next_cursor)
      const error = yield* Effect.flip(list({ sort: "last_match", cursor: idOf(5) }))
      assert.match(error.message, /"cursor": Leave it out: with "sort" last_match there is one page/)
    })
  )

  it.effect("refuses to sort more than 10,000 rules", () =>
    Effect.gen(function* () {
      const { calls, list } = world(many(10_001))
      const error = yield* Effect.flip(list({ sort: "matches_day" }))
      assert.match(error.message, /"sort": The account has more than 10000 rules.*quiet_for/)
      assert.strictEqual(calls.lists, 100)
    })
  )

  it.effect("tells the state of a rule by its platforms, with the reason", () =>
    Effect.gen(function* () {
      const on = (x: Partial<Registration>, firehose: Partial<Registration>): Rule => {
        const held = { platform_rule_id: "1", translated_value: "word", state: "active" as const }
        return { ...ruleAt(1), platforms: { firehose: { ...held, ...firehose }, x: { ...held, ...x } } }
      }
      const stateOf = (rule: Rule) =>
        Effect.map(world([rule]).list({ activity: true }), ({ rules }) => [
          rules[0]?.activity?.state,
          rules[0]?.activity?.reason
        ])
      assert.deepStrictEqual(yield* stateOf(on({}, {})), ["active", undefined])
      const failed = { state: "failed", reason: "too long" } as const
      const paused = { state: "paused", paused_by: "account" } as const
      assert.deepStrictEqual(yield* stateOf(on(failed, paused)), ["failed", "x: too long"])
      assert.deepStrictEqual(yield* stateOf(on({}, paused)), ["paused", "firehose: The account paused the rule"])
      assert.deepStrictEqual((yield* world([on({}, paused)]).list({ state: "active" })).rules, [])
      assert.lengthOf((yield* world([on({}, paused)]).list({ state: "paused" })).rules, 1)
    })
  )
})
