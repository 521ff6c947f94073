import { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment, Statement } from "@effect/sql/Statement"
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { unredactedStatement } from "../../../adapters/sql/redactions.ts"
import { BEFORE_ALL, pageStatement, trimAccountStatement, trimStatement } from "../../../adapters/sql/SqlMatchStore.ts"
import * as stores from "../../../adapters/sql/stores.ts"
import type { Match } from "../../../core/matches/Match.ts"
import { type MatchPage, MatchStore } from "../../../core/matches/MatchStore.ts"
import { type AccountId, fromUuid, type RuleId, toUuid } from "../../../core/model/Ids.ts"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { newAccount, newMatch, visibleRule, sent } from "../../contract/samples.ts"
import { pgliteClient, postgresClient } from "../../stores.ts"
import { isLong } from "../../long.ts"
import { Payload } from "../../../core/matches/Payload.ts"

for (const [name, client] of [
  ["PGlite", pgliteClient],
  ["Postgres", postgresClient]
] as const) {
  withLayer(Layer.provideMerge(stores.layer, client), { excludeTestServices: true, timeout: "240 seconds" })(
    `SqlMatchStore on ${name}`,
    (it) => {
      /** On Postgres, and in the long form on PGlite, which takes several seconds for the rows. */
      const planned = name === "PGlite" && !isLong ? it.effect.skip : it.effect

      it.effect("insert replaces NUL and lone surrogates by U+FFFD, in ids, keys and values", () =>
        Effect.gen(function* () {
          const store = yield* MatchStore
          const account = yield* newAccount
          const rule = yield* visibleRule(account)
          const untouched = newMatch(rule.id, { payload: { text: "\\u0000 \\ud800 🐈", backslash: "\\" } })
          const broken = newMatch(rule.id, {
            platform_post_id: "id\0\udc00",
            payload: { text: "a\0b\ud800c", list: [["\udfff\ud800"]], "key\0": { inner: "\0" }, n: 1, none: null }
          })
          assert.strictEqual(yield* store.insert([untouched, broken]), 2)
          const page = { account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 10 }
          const payload = {
            text: "a\uFFFDb\uFFFDc",
            list: [["\uFFFD\uFFFD"]],
            "key\uFFFD": { inner: "\uFFFD" },
            n: 1,
            none: null
          }
          const mended = { ...broken, platform_post_id: "id\uFFFD\uFFFD", payload: Payload.of(payload) }
          assert.deepStrictEqual(sent((yield* store.list(page)).items), sent([mended, untouched]))
        })
      )

      it.effect("insert stores large matches one after the other, in the order of their ids", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          const account = yield* newAccount
          const rule = yield* visibleRule(account)
          const payload = { padding: "p".repeat(600_000) }
          const [one, two, three] = [0, 1, 2].map(() => newMatch(rule.id, { payload })) as [Match, Match, Match]
          const small = newMatch(rule.id)
          assert.strictEqual(yield* store.insert([three, one, small, two]), 4)
          const page = { account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 1 }
          assert.deepStrictEqual(sent((yield* store.list(page)).items), sent([small]))
          const rows = yield* sql<{ readonly id: string; readonly transaction: string }>`
            select id, xmin::text as transaction from matches where rule_id = ${toUuid(rule.id)} order by id`
          assert.deepStrictEqual(
            rows.map(({ id }) => id),
            [one, two, three, small].map(({ id }) => toUuid(id))
          )
          const [first, second, third, fourth] = rows.map(({ transaction }) => transaction)
          assert.lengthOf(new Set([first, second, third]), 3)
          assert.strictEqual(fourth, third)
        })
      )

      it.effect("list reads a page from an index and sorts at most one page per platform, at any depth", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const account = yield* newAccount
          const busy = (yield* visibleRule(account)).id
          const quiet = (yield* visibleRule(account)).id
          const foreign = (yield* visibleRule(yield* newAccount)).id
          for (const [rule, owner, rows] of [
            [busy, account, 40_000],
            [quiet, account, 100],
            [foreign, yield* newAccount, 10_000]
          ] as const) {
            yield* fill({ rule, owner, rows })
          }
          const middle = fromUuid("match", uuidOf(busy, 20_000))
          const selections = [Option.none(), ...[[busy], [quiet], [foreign], [busy, quiet, foreign]].map(Option.some)]
          const pages = selections.flatMap((rules) =>
            [PLATFORM_IDS, ["x" as const], ["firehose" as const]].flatMap((platforms) =>
              [Option.none(), Option.some(middle)].map((before) => ({ account, rules, platforms, before, limit: 50 }))
            )
          )
          // First without planner statistics, then with them.
          for (const prepare of [sql`select 1`, sql`analyze`]) {
            yield* prepare
            for (const page of pages) checkPlan(page, yield* explain(page))
          }
        })
      )
      planned("trim reads only what it deletes, from an index, and no deleted rows", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          yield* sql`truncate matches`
          const account = yield* newAccount
          const rule = (yield* visibleRule(account)).id
          yield* fill({ rule, owner: account, rows: 40_000 })
          yield* sql`analyze matches`
          const before = fromUuid("match", uuidOf(rule, 39_000))
          const trim = { before, keep: Option.none(), atMost: 500 }
          for (let left = 20_000; left > 0; left -= 500) assert.strictEqual(yield* store.trim(trim), 500)
          const from = uuidOf(rule, 20_000)
          assert.deepStrictEqual(yield* store.floor(account), Option.some(fromUuid("match", from)))
          for (const keep of [Option.none(), Option.some(100)]) {
            const nodes = yield* explainStatement(trimStatement(sql, { ...trim, keep, from }))
            const shown = JSON.stringify(nodes[0], null, 1)
            const scans = nodes.filter(
              (node) => node["Relation Name"] === "matches" && node["Node Type"] !== "ModifyTable"
            )
            assert.lengthOf(scans, 2, shown)
            for (const scan of scans) {
              assert.match(scan["Node Type"], /^Index (Only )?Scan$/, shown)
              assert.strictEqual(scan["Actual Rows"] * scan["Actual Loops"], 500, shown)
            }
            // The smaller number is the search. From the start of the index it would read twice as many pages.
            const pages = scans.map((scan) => scan["Shared Hit Blocks"] + scan["Shared Read Blocks"])
            assert.isAtMost(Math.min(...pages), 50, shown)
          }
        })
      )

      planned("redact finds the matches of a post by an index, and reads no other match", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const account = yield* newAccount
          const rules = [(yield* visibleRule(account)).id, (yield* visibleRule(account)).id]
          for (const rule of rules) yield* fill({ rule, owner: account, rows: 20_000 })
          for (const prepare of [sql`select 1`, sql`analyze matches`]) {
            yield* prepare
            const [post] = yield* sql<{ readonly platform_post_id: string }>`
              select platform_post_id from matches where platform = 'x' limit 1`
            const ids = [post?.platform_post_id ?? "", "unknown"]
            const nodes = yield* explainStatement(unredactedStatement(sql, { platform: "x", ids, atMost: 500 }))
            const shown = JSON.stringify(nodes[0], null, 1)
            const [scan, ...others] = nodes.filter((node) => node["Relation Name"] === "matches")
            assert.isEmpty(others, shown)
            assert.match(scan?.["Node Type"] ?? "", /^(Index|Bitmap Heap) Scan$/, shown)
            assert.isAtMost((scan?.["Actual Rows"] ?? 0) + (scan?.["Rows Removed by Filter"] ?? 0), 10, shown)
          }
        })
      )

      planned("trimAccount reads only matches of the account, from an index, and no deleted rows", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          yield* sql`truncate matches`
          // Ids start again at the same number.
          yield* sql`update retention set floor = ${BEFORE_ALL}, oldest = ${BEFORE_ALL}`
          const [account, other] = [yield* newAccount, yield* newAccount]
          const rule = (yield* visibleRule(account)).id
          yield* fill({ rule, owner: account, rows: 20_000 })
          yield* fill({ rule: (yield* visibleRule(other)).id, owner: other, rows: 20_000 })
          yield* sql`analyze matches`
          const limits = { matches: 5_000, bytes: 0 }
          const trim = { account, platforms: PLATFORM_IDS, before: AFTER_ALL, limits, atMost: 500 }
          for (let left = 10_000; left > 0; left -= 500) assert.strictEqual(yield* store.trimAccount(trim), 500)
          const nodes = yield* explainStatement(trimAccountStatement(sql, trim))
          const shown = JSON.stringify(nodes[0], null, 1)
          const scans = nodes.filter(
            (node) => node["Relation Name"] === "matches" && node["Node Type"] !== "ModifyTable"
          )
          assert.lengthOf(scans, 2, shown)
          for (const scan of scans) {
            assert.match(scan["Node Type"], /^Index (Only )?Scan$/, shown)
            assert.isAtMost(scan["Actual Rows"] * scan["Actual Loops"], 1_000, "500 for each platform")
          }
          const pages = scans.map((scan) => scan["Shared Hit Blocks"] + scan["Shared Read Blocks"])
          assert.isAtMost(Math.min(...pages), 1_500, shown)
        })
      )

      it.effect("trim does not count matches that an operator has deleted or truncated", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          const rule = (yield* visibleRule(yield* newAccount)).id
          const trim = { before: AFTER_ALL, atMost: 100 }
          for (const statement of ["truncate matches", "delete from matches"]) {
            yield* store.insert(Array.from({ length: 30 }, () => newMatch(rule)))
            yield* sql.unsafe(statement)
            yield* store.insert(Array.from({ length: 10 }, () => newMatch(rule)))
            assert.strictEqual(yield* store.trim({ ...trim, keep: Option.some(10) }), 0)
            assert.strictEqual(yield* store.trim({ ...trim, keep: Option.some(7) }), 3)
          }
        })
      )

      // PGlite has one connection, so there are no concurrent transactions.
      if (name === "PGlite") return
      it.effect("trim returns 0 at once while another process trims", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          const rule = (yield* visibleRule(yield* newAccount)).id
          yield* store.insert([newMatch(rule)])
          const trim = store.trim({ before: AFTER_ALL, keep: Option.none(), atMost: 100_000 })
          assert.strictEqual(yield* during(sql`select 1 from retention for update`, trim), 0)
          assert.isAbove(yield* trim, 0)
        })
      )

      it.effect("trim skips matches that are being deleted with their rule, without waiting", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* MatchStore
          const trim = store.trim({ before: AFTER_ALL, keep: Option.none(), atMost: 100_000 })
          yield* trim
          const account = yield* newAccount
          const [kept, going] = [(yield* visibleRule(account)).id, (yield* visibleRule(account)).id]
          yield* store.insert([kept, going, going, kept].map((rule) => newMatch(rule)))
          assert.strictEqual(yield* during(sql`delete from matches where rule_id = ${toUuid(going)}`, trim), 2)
          assert.deepStrictEqual(yield* sql`select 1 from matches`, [])
        })
      )
    }
  )
}

// ---- helpers ----

/** Runs the effect while another connection has run the statement and not committed. */
const during = <A, E, R>(statement: Statement<object>, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const [hasRun, isDone] = [yield* Effect.makeLatch(), yield* Effect.makeLatch()]
    const other = Effect.zipRight(statement, hasRun.open).pipe(Effect.zipRight(isDone.await), sql.withTransaction)
    const bounded = Effect.ensuring(Effect.timeout(effect, "20 seconds"), isDone.open)
    const [result] = yield* Effect.all([Effect.zipRight(hasRun.await, bounded), other], { concurrency: "unbounded" })
    return result
  })

const AFTER_ALL = fromUuid("match", "ffffffff-ffff-7fff-bfff-ffffffffffff")

/** Ids of all rules are spread over the same range. */
const uuidOf = (rule: RuleId, n: number) =>
  `01900000-0000-7000-8000-${n.toString(16).padStart(8, "0")}${toUuid(rule).slice(-4)}`

const fill = ({ rule, owner, rows }: { rule: RuleId; owner: AccountId; rows: number }) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`insert into matches (id, rule_id, account_id, platform, platform_post_id, payload, bytes, created_at)
      select ('01900000-0000-7000-8000-' || lpad(to_hex(n), 8, '0') || ${toUuid(rule).slice(-4)}::text)::uuid,
        ${toUuid(rule)}, ${toUuid(owner)}, case when n % 10 = 0 then 'x' else 'firehose' end, n::text,
        jsonb_build_object('text', repeat('cat ', 20)), 100, now()
      from generate_series(1, ${rows}::int) n`
  })

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
  readonly Plans?: ReadonlyArray<Plan>
}

const explain = (page: MatchPage) => Effect.flatMap(SqlClient, (sql) => explainStatement(pageStatement(sql, page)))

const explainStatement = (statement: Fragment) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const [row] = yield* sql<{
      readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }>
    }>`explain (analyze, buffers, format json) ${statement}`
    const plan = row?.["QUERY PLAN"][0]?.Plan
    assert(plan !== undefined)
    return nodesOf(plan)
  })

const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

const checkPlan = (page: MatchPage, nodes: ReadonlyArray<Plan>) => {
  const selected = Option.match(page.rules, { onNone: () => 1, onSome: (rules) => rules.length })
  // One more row tells whether there is another page.
  const most = (page.limit + 1) * page.platforms.length * selected
  const shown = JSON.stringify(nodes[0], null, 1)
  for (const node of nodes) {
    if (node["Relation Name"] === "matches") assert.match(node["Node Type"], /^Index (Only )?Scan$/, shown)
    if (node["Node Type"].includes("Sort")) assert.isAtMost(node["Actual Rows"] * node["Actual Loops"], most, shown)
  }
  const sorted = nodes.filter((node) => node["Node Type"].includes("Sort")).flatMap((node) => node.Plans ?? [])
  for (const node of sorted) assert.isAtMost(node["Actual Rows"] * node["Actual Loops"], most, shown)
  const read = nodes
    .filter((node) => node["Relation Name"] === "matches")
    .map((node) => (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"])
  assert.isAtMost(
    read.reduce((sum, rows) => sum + rows, 0),
    most,
    shown
  )
}
