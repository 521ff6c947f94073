/** The counters of matches in SQL: they follow every change, and reading them costs the same for any number of matches. */
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { countsStatement } from "../../../adapters/sql/matchCounts.ts"
import * as stores from "../../../adapters/sql/stores.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { type AccountId, fromUuid, type RuleId, toUuid } from "../../../core/model/Ids.ts"
import { fromMillis } from "../../../core/model/Timestamp.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { newAccount, newMatch, visibleRule } from "../../contract/samples.ts"
import { pgliteClient, postgresClient } from "../../stores.ts"

for (const [name, client] of [
  ["PGlite", pgliteClient],
  ["Postgres", postgresClient]
] as const) {
  withLayer(Layer.provideMerge(stores.layer, client), { excludeTestServices: true, timeout: "240 seconds" })(
    `matchCounts on ${name}`,
    (it) => {
      it.effect("the trigger keeps no counter without matches, whoever deletes them", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          const rules = yield* RuleStore
          const rule = (yield* visibleRule(yield* newAccount)).id
          for (const statement of [sql`truncate matches`, sql`delete from matches`, rules.remove(rule)]) {
            yield* store.insert(Array.from({ length: 30 }, (_, i) => newMatch(rule, { created_at: minute(i * 7) })))
            assert.isAbove((yield* sql`select 1 from match_counts`).length, 3)
            yield* statement
            assert.deepStrictEqual(yield* sql`select * from match_counts`, [])
          }
        })
      )

      it.effect("countsStatement reads the counters of the rules and hours asked for, from the index", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const account = yield* newAccount
          const rules = yield* Effect.forEach(Array(10).keys(), () => visibleRule(account))
          const foreign = yield* visibleRule(yield* newAccount)
          for (const { id } of [...rules, foreign]) yield* fill(id, account)
          const [one] = rules
          assert(one !== undefined)
          // First without planner statistics, then with them.
          for (const prepare of [sql`select 1`, sql`analyze`]) {
            yield* prepare
            for (const unit of ["minute", "hour"] as const) {
              const day = { unit, from: START, count: unit === "minute" ? 1_440 : 24 }
              assert.strictEqual(yield* readRows(account, { rules: Option.some([one.id]), bars: day }), 24)
              assert.strictEqual(yield* readRows(account, { rules: Option.none(), bars: day }), 10 * 24)
            }
          }
        })
      )

      // PGlite has one connection, so there are no concurrent transactions.
      if (name === "PGlite") return
      it.effect("inserts, trims and deletions at the same time leave true counters", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          const rules = yield* RuleStore
          const account = yield* newAccount
          const kept = yield* Effect.forEach(Array(3).keys(), () => visibleRule(account))
          for (let round = 0; round < 8; round++) {
            const doomed = yield* visibleRule(account)
            const all = [...kept, doomed]
            const batch = Array.from({ length: 60 }, (_, i) =>
              newMatch(all[i % all.length]?.id ?? doomed.id, { created_at: minute((i * 37) % 300) })
            )
            const trim = store.trim({ before: AFTER_ALL, keep: Option.some(40), atMost: 30 })
            yield* store.insert(batch.slice(0, 20))
            yield* Effect.all(
              [
                Effect.forEach([20, 30, 40, 50], (from) => store.insert(batch.slice(from, from + 10)), {
                  concurrency: 4
                }),
                Effect.repeatN(trim, 3),
                rules.remove(doomed.id)
              ],
              { concurrency: "unbounded" }
            )
          }
          const counted = yield* sql`
            select rule_id, platform, hour, matches::int, (select sum(n)::int from unnest(minutes) n) as in_minutes
            from match_counts order by 1, 2, 3`
          const stored = yield* sql`
            select rule_id, platform, minute_of(created_at) / 60 as hour, count(*)::int as matches,
              count(*)::int as in_minutes
            from matches group by 1, 2, 3 order by 1, 2, 3`
          assert.isNotEmpty(stored)
          assert.deepStrictEqual(counted, stored)
        })
      )
    }
  )
}

// ---- helpers ----

const START = Date.UTC(2025, 0, 1)

const AFTER_ALL = fromUuid("match", "ffffffff-ffff-7fff-bfff-ffffffffffff")

const minute = (count: number) => fromMillis(START + count * 60_000)

/** One match in each hour of 30 days. */
const fill = (rule: RuleId, owner: AccountId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`insert into matches (id, rule_id, account_id, platform, platform_post_id, payload, bytes, created_at)
      select gen_random_uuid(), ${toUuid(rule)}, ${toUuid(owner)}, 'x', n::text, '{}', 2,
        ${fromMillis(START)}::timestamptz + n * interval '1 hour'
      from generate_series(0, 719) n`
  })

interface Plan {
  readonly "Relation Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly Plans?: ReadonlyArray<Plan>
}

/** The number of counters that the statement reads. */
const readRows = (
  account: AccountId,
  query: Pick<Parameters<typeof countsStatement>[1], "rules" | "bars">
): Effect.Effect<number, unknown, SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const statement = countsStatement(sql, { account, platforms: PLATFORM_IDS, isPerRule: true, ...query })
    const [row] = yield* sql<{
      readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }>
    }>`explain (analyze, format json) ${statement}`
    const nodes = row?.["QUERY PLAN"].flatMap(({ Plan }) => nodesOf(Plan)) ?? []
    return nodes
      .filter((node) => node["Relation Name"] === "match_counts")
      .map((node) => {
        const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)
        return Math.round((node["Actual Rows"] + removed) * node["Actual Loops"])
      })
      .reduce((sum, rows) => sum + rows, 0)
  })

const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
