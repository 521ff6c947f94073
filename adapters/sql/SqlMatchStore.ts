/** `MatchStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment, Statement } from "@effect/sql/Statement"
import { Clock, Effect, Layer, Option, Predicate, PubSub, Stream } from "effect"
import type { StreamProgress } from "../../core/coverage/StreamStore.ts"
import type { Match } from "../../core/matches/Match.ts"
import {
  inTurn,
  type MatchPage,
  MatchStore,
  markAt,
  type NextPage,
  type Trim,
  type Wanted
} from "../../core/matches/MatchStore.ts"
import { MatchesUnstorable } from "../../core/model/Errors.ts"
import { fromUuid, type MatchId, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate } from "../../core/model/Timestamp.ts"
import { Announcements, CHANNEL } from "./Announcements.ts"
import { progressTables } from "./SqlStreamStore.ts"
import { storableJson } from "./storable.ts"
import { codeOf, unavailable } from "./unavailable.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const { self, heard } = yield* Announcements
  const news = yield* PubSub.sliding<void>(1)

  const store = (matches: ReadonlyArray<Match>, progress?: StreamProgress): Effect.Effect<number, SqlError> =>
    insertStatement(sql, recordsOf(matches), { self, ...(progress !== undefined && { progress }) }).pipe(
      Effect.retry({ times: 3, while: lostARace }),
      Effect.map(([row]) => row?.added ?? 0),
      Effect.catchIf(isOutOfTurn, (error) => store(inTurn(matches, newestIn(error)), progress))
    )

  const insert = (matches: ReadonlyArray<Match>, progress?: StreamProgress) =>
    Effect.suspend(() => store(matches, progress)).pipe(
      Effect.tap((added) => (added > 0 ? PubSub.publish(news, undefined) : Effect.void)),
      Effect.catchIf(isRefused, ({ cause }) => new MatchesUnstorable({ reason: messageOf(cause) })),
      unavailable("matches.insert")
    )

  const list = (page: MatchPage) =>
    Effect.map(pageStatement(sql, page), (rows) => rows.map(toMatch)).pipe(unavailable("matches.list"))

  const next = (page: NextPage) =>
    Effect.map(nextPageStatement(sql, page), (rows) => rows.map(toMatch)).pipe(unavailable("matches.next"))

  const nextOf: MatchStore["Type"]["nextOf"] = ({ accounts, after, limit }) =>
    sql<MatchRow & { readonly account_id: string }>`
      select m.account_id, ${columns(sql)} from matches m
      where m.id > ${lowerBound(after)} and ${aboveFloor(sql)} and m.account_id = any(${accounts.map(toUuid)}::uuid[])
        and ${ofVisibleRule(sql, "m.rule_id")}
      order by m.id limit ${limit}`.pipe(
      Effect.map((rows) => rows.map((row) => ({ account: fromUuid("acct", row.account_id), match: toMatch(row) }))),
      unavailable("matches.nextOf")
    )

  const newest = sql<{ readonly newest: string }>`select newest from match_order where newest > ${BEFORE_ALL}`.pipe(
    Effect.map(([row]) => Option.map(Option.fromNullable(row?.newest), (id) => fromUuid("match", id))),
    unavailable("matches.newest")
  )

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

  const markFrom = (candidate: MatchId): Effect.Effect<MatchId, SqlError> =>
    sql<{ readonly newest: string }>`
      update match_order set newest = greatest(newest, ${toUuid(candidate)}) returning newest`.pipe(
      Effect.map(([row]) => fromUuid("match", row?.newest ?? toUuid(candidate))),
      // A match is there already, of a process whose clock is ahead.
      Effect.flatMap((newest) =>
        newest === candidate ? Effect.succeed(newest) : markFrom(markAt(0, Option.some(newest)))
      )
    )
  const mark = Effect.flatMap(Clock.currentTimeMillis, (now) => markFrom(markAt(now, Option.none()))).pipe(
    unavailable("matches.mark")
  )

  const changes = Stream.merge(Stream.fromPubSub(news), heard)

  return MatchStore.of({ insert, list, next, nextOf, newest, mark, changes, oldest, trim, floor })
})

export const layer: Layer.Layer<MatchStore, never, SqlClient | Announcements> = Layer.effect(MatchStore, make)

/** Matches as the statement takes them, with the smallest and the largest of their ids. */
export interface Records {
  readonly json: string
  readonly first: string
  readonly last: string
}

/** `self` is what others hear by it who listen. */
export const insertStatement = (
  sql: SqlClient,
  records: Option.Option<Records>,
  { self, progress }: { readonly self: string; readonly progress?: StreamProgress }
): Statement<Added> => {
  const place = progress === undefined ? sql`` : sql`, ${progressTables(sql, progress)}`
  return Option.match(records, {
    onNone: () => sql<Added>`with added as (select 0 as added) ${place} select added from added`,
    // The insert reads from the turn, which so comes before it.
    onSome: ({ json, first, last }) => sql<Added>`with turn as materialized (select take_turn(${first}, ${last})),
      added as (
        insert into matches (id, rule_id, account_id, platform, platform_post_id, payload, created_at)
        select x.id, x.rule_id, r.account_id, x.platform, x.platform_post_id, x.payload, x.created_at
        from turn cross join jsonb_to_recordset(${json}::jsonb) as x(
          id uuid, rule_id uuid, platform text, platform_post_id text, payload jsonb, created_at timestamptz
        )
        join rules r on r.id = x.rule_id
        order by x.id
        on conflict do nothing
        returning 1
      ) ${place}
      select count(*)::int as added, case when count(*) > 0 then pg_notify(${CHANNEL}, ${self}) end from added`
  })
}

/** Newest first. */
export const pageStatement = (sql: SqlClient, page: MatchPage): Statement<MatchRow> =>
  orderedStatement(sql, page, {
    range: sql`m.id < ${Option.match(page.before, { onNone: () => AFTER_ALL, onSome: toUuid })}`,
    order: sql.literal("m.id desc"),
    limit: page.limit
  })

/** Oldest first. */
export const nextPageStatement = (sql: SqlClient, page: NextPage): Statement<MatchRow> =>
  orderedStatement(sql, page, {
    range: sql`m.id > ${lowerBound(page.after)}`,
    order: sql.literal("m.id"),
    limit: page.limit
  })

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

/**
 * Per platform at most `limit` rows come out of an index in their order, whatever lies beneath: only those of the few
 * platforms are ever sorted together. All that is read and left out are matches of rules about to be removed.
 */
const orderedStatement = (
  sql: SqlClient,
  wanted: Wanted,
  { range, order, limit }: { readonly range: Fragment; readonly order: Fragment; readonly limit: number }
): Statement<MatchRow> => {
  const account = toUuid(wanted.account)
  const platforms = sql`unnest(${[...new Set(wanted.platforms)]}::text[]) as p(platform)`
  return Option.match(wanted.rule, {
    onNone: () => sql<MatchRow>`
      select m.* from ${platforms} cross join lateral (
        select ${columns(sql)} from matches m
        where m.account_id = ${account} and m.platform = p.platform and ${range} and ${aboveFloor(sql)}
          and ${ofVisibleRule(sql, "m.rule_id")}
        order by ${order} limit ${limit}
      ) m
      order by ${order} limit ${limit}`,
    // The owner is asked of the rule: asked of the matches, a foreign rule would have all of its matches read.
    onSome: (rule) => sql<MatchRow>`
      select m.* from rules r cross join ${platforms} cross join lateral (
        select ${columns(sql)} from matches m
        where m.rule_id = r.id and m.platform = p.platform and ${range} and ${aboveFloor(sql)}
        order by ${order} limit ${limit}
      ) m
      where r.id = ${toUuid(rule)} and r.account_id = ${account} and ${ofVisibleRule(sql, "r.id")}
      order by ${order} limit ${limit}`
  })
}

const columns = (sql: SqlClient) =>
  sql.literal("m.id, m.rule_id, m.created_at, m.platform, m.platform_post_id, m.payload")

/** Below the floor the index holds what was deleted since the last vacuum, maybe millions of entries. */
const aboveFloor = (sql: SqlClient) => sql.literal("m.id > (select floor from retention)")

const ofVisibleRule = (sql: SqlClient, rule: "m.rule_id" | "r.id") =>
  sql.literal(
    `not exists (select 1 from registrations g where g.rule_id = ${rule} and g.state in ('pending', 'removing'))`
  )

const lowerBound = (after: Option.Option<MatchId>): string =>
  Option.match(after, { onNone: () => BEFORE_ALL, onSome: toUuid })

/** No UUIDv7 is as small, or as large. */
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/** A rule was deleted between the join and the check of the foreign key, or two batches waited for each other. */
const lostARace = (error: SqlError): boolean =>
  Option.exists(codeOf(error), (code) => code === "23503" || code === "40P01" || code === "40001")

/** Bad data, or more of it than Postgres holds in one place: it will never take it. */
const isRefused = (error: SqlError): boolean => Option.exists(codeOf(error), (code) => /^(22|54)/.test(code))

/** What `take_turn` says, with the id that was there first. */
const isOutOfTurn = (error: SqlError): boolean => Option.exists(codeOf(error), (code) => code === "ES001")

const newestIn = ({ cause }: SqlError): Option.Option<MatchId> =>
  Predicate.hasProperty(cause, "detail") && typeof cause.detail === "string"
    ? Option.some(fromUuid("match", cause.detail))
    : Option.none()

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

const recordsOf = (matches: ReadonlyArray<Match>): Option.Option<Records> => {
  const [one] = matches
  if (one === undefined) return Option.none()
  let [first, last] = [one.id, one.id]
  for (const { id } of matches) {
    if (id < first) first = id
    if (id > last) last = id
  }
  return Option.some({ json: storableJson(matches.map(toRecord)), first: toUuid(first), last: toUuid(last) })
}

const toRecord = (match: Match) => ({ ...match, id: toUuid(match.id), rule_id: toUuid(match.rule_id) })
