/** `MatchStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Statement } from "@effect/sql/Statement"
import { Effect, Layer, Option } from "effect"
import { MatchesUnstorable } from "../../core/Errors.ts"
import { fromUuid, toUuid } from "../../core/Ids.ts"
import type { Match } from "../../core/Match.ts"
import { type MatchPage, MatchStore, type Trim } from "../../core/MatchStore.ts"
import type { PlatformId } from "../../core/PlatformId.ts"
import type { StreamProgress } from "../../core/StreamStore.ts"
import { fromDate } from "../../core/Timestamp.ts"
import { progressTables } from "./SqlStreamStore.ts"
import { storableJson } from "./storable.ts"
import { codeOf, unavailable } from "./unavailable.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const insert = (matches: ReadonlyArray<Match>, progress?: StreamProgress) =>
    Effect.suspend(() => insertStatement(sql, storableJson(matches.map(toRecord)), progress)).pipe(
      Effect.retry({ times: 3, while: lostARace }),
      Effect.map(([row]) => row?.added ?? 0),
      Effect.catchIf(isRefused, ({ cause }) => new MatchesUnstorable({ reason: messageOf(cause) })),
      unavailable("matches.insert")
    )

  const list = (page: MatchPage) =>
    Effect.map(pageStatement(sql, page), (rows) => rows.map(toMatch)).pipe(unavailable("matches.list"))

  const oldest = sql<{ readonly id: string }>`
    select id from matches where id >= (select oldest from retention) order by id limit 1`.pipe(
    Effect.map(([row]) => Option.map(Option.fromNullable(row?.id), (id) => fromUuid("match", id))),
    unavailable("matches.oldest")
  )

  const trim = (options: Trim) =>
    Effect.gen(function* () {
      // A statement of its own: the next one then sees what the trimmer before us has committed.
      const [place] = yield* sql<{ readonly oldest: string }>`select oldest from retention for update skip locked`
      if (place === undefined) return 0
      const [row] = yield* trimStatement(sql, { ...options, from: place.oldest })
      return row?.deleted ?? 0
    }).pipe(sql.withTransaction, unavailable("matches.trim"))

  const floor = sql<{ readonly floor: string }>`select floor from retention where floor > ${BEFORE_ALL}`.pipe(
    Effect.map(([row]) => Option.map(Option.fromNullable(row?.floor), (id) => fromUuid("match", id))),
    unavailable("matches.floor")
  )

  return MatchStore.of({ insert, list, oldest, trim, floor })
})

export const layer: Layer.Layer<MatchStore, never, SqlClient> = Layer.effect(MatchStore, make)

/** `json`: an array of matches with their ids as UUIDs. */
export const insertStatement = (sql: SqlClient, json: string, progress?: StreamProgress): Statement<Added> => {
  // Sorted, so that two processes with the same events take their locks in the same order and never wait in a circle.
  const added = sql`added as (
      insert into matches (id, rule_id, account_id, platform, platform_post_id, payload, created_at)
      select x.id, x.rule_id, r.account_id, x.platform, x.platform_post_id, x.payload, x.created_at
      from jsonb_to_recordset(${json}::jsonb) as x(
        id uuid, rule_id uuid, platform text, platform_post_id text, payload jsonb, created_at timestamptz
      )
      join rules r on r.id = x.rule_id
      order by x.rule_id, x.platform, x.platform_post_id, x.id
      on conflict do nothing
      returning 1
    )`
  return progress === undefined
    ? sql<Added>`with ${added} select count(*)::int as added from added`
    : sql<Added>`with ${progressTables(sql, progress)}, ${added} select count(*)::int as added from added`
}

/**
 * Per platform at most `limit` rows come out of an index in their order, whatever lies beneath: only those of the few
 * platforms are ever sorted together. All that is read and left out are matches of rules about to be removed.
 */
export const pageStatement = (sql: SqlClient, page: MatchPage): Statement<MatchRow> => {
  const account = toUuid(page.account)
  const platforms = sql`unnest(${[...new Set(page.platforms)]}::text[]) as p(platform)`
  const before = Option.match(page.before, { onNone: () => AFTER_ALL, onSome: toUuid })
  // Below the floor the index holds what was deleted since the last vacuum, maybe millions of entries.
  const aboveFloor = sql.literal("m.id > (select floor from retention)")
  const columns = sql.literal("m.id, m.rule_id, m.created_at, m.platform, m.platform_post_id, m.payload")
  return Option.match(page.rule, {
    onNone: () => sql<MatchRow>`
      select m.* from ${platforms} cross join lateral (
        select ${columns} from matches m
        where m.account_id = ${account} and m.platform = p.platform and m.id < ${before} and ${aboveFloor}
          and not exists (select 1 from registrations g where g.rule_id = m.rule_id and g.state in ('pending', 'removing'))
        order by m.id desc limit ${page.limit}
      ) m
      order by m.id desc limit ${page.limit}`,
    // The owner is asked of the rule: asked of the matches, a foreign rule would have all of its matches read.
    onSome: (rule) => sql<MatchRow>`
      select m.* from rules r cross join ${platforms} cross join lateral (
        select ${columns} from matches m
        where m.rule_id = r.id and m.platform = p.platform and m.id < ${before} and ${aboveFloor}
        order by m.id desc limit ${page.limit}
      ) m
      where r.id = ${toUuid(rule)} and r.account_id = ${account}
        and not exists (select 1 from registrations g where g.rule_id = r.id and g.state in ('pending', 'removing'))
      order by m.id desc limit ${page.limit}`
  })
}

/**
 * No match is before `from`, which is where the search begins. Matches that are being deleted with their rule are left
 * to that: to wait for them could be to wait in a circle.
 */
export const trimStatement = (
  sql: SqlClient,
  { from, before, keep, atMost }: Trim & { readonly from: string }
): Statement<{ readonly deleted: number }> => {
  const limit = Option.match(keep, {
    onNone: () => sql`${atMost}`,
    onSome: (keep) =>
      sql`least(${atMost}::bigint, greatest(0, (select sum(matches)::bigint from match_counts) - ${keep}::bigint))`
  })
  return sql`
    with doomed as materialized (
      select id from matches where id >= ${from} and id < ${toUuid(before)} order by id limit ${limit}
      for update skip locked
    ), deleted as (
      delete from matches where id = any(array(select id from doomed)) returning 1
    ), last as (
      select id from doomed order by id desc limit 1
    ), moved as (
      update retention set floor = greatest(floor, last.id), oldest = last.id from last
    )
    select count(*)::int as deleted from deleted`
}

// ---- helpers ----

/** No UUIDv7 is as small, or as large. */
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/** A rule was deleted between the join and the check of the foreign key, or two batches waited for each other. */
const lostARace = (error: SqlError): boolean =>
  Option.exists(codeOf(error), (code) => code === "23503" || code === "40P01" || code === "40001")

/** Bad data, or more of it than Postgres holds in one place: it will never take it. */
const isRefused = (error: SqlError): boolean => Option.exists(codeOf(error), (code) => /^(22|54)/.test(code))

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

interface Added {
  readonly added: number
}

export interface MatchRow {
  readonly id: string
  readonly rule_id: string
  readonly created_at: Date
  readonly platform: PlatformId
  readonly platform_post_id: string
  readonly payload: Record<string, unknown>
}

const toMatch = (row: MatchRow): Match => ({
  id: fromUuid("match", row.id),
  rule_id: fromUuid("rule", row.rule_id),
  created_at: fromDate(row.created_at),
  platform: row.platform,
  platform_post_id: row.platform_post_id,
  payload: row.payload
})

const toRecord = (match: Match) => ({ ...match, id: toUuid(match.id), rule_id: toUuid(match.rule_id) })
