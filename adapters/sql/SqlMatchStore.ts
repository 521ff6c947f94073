/** `MatchStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment, Statement } from "@effect/sql/Statement"
import { Clock, Effect, Layer, Option, Predicate, PubSub, Stream } from "effect"
import type { StreamProgress } from "../../core/coverage/StreamStore.ts"
import { watermarkAt, withIdsAfter } from "../../core/matches/idOrder.ts"
import type { Match } from "../../core/matches/Match.ts"
import {
  type AccountTrim,
  type CountQuery,
  MAX_PAGE_BYTES,
  type MatchPage,
  type MatchSelector,
  MatchStore,
  type NextPage,
  type RecentCountsQuery,
  type Redact,
  type Trim,
  type Usage
} from "../../core/matches/MatchStore.ts"
import { MatchesUnstorable } from "../../core/model/Errors.ts"
import { type AccountId, fromUuid, type MatchId, type RuleId, toUuid } from "../../core/model/Ids.ts"
import { CurrentFence, type Fence } from "../../core/ownership/Ownership.ts"
import { Announcements, CHANNEL } from "./Announcements.ts"
import { countsStatement, recentCountsStatement, toBarCounts, toRecentCounts, totalsStatement } from "./matchCounts.ts"
import {
  batchesOf,
  type Encoded,
  type MatchRow,
  type Records,
  recordsOf,
  toChange,
  toMatch,
  toPage
} from "./matchRows.ts"
import { jsonbParameter } from "./parameters.ts"
import { EMPTY_BYTES, postsStatement, redactIn } from "./redactions.ts"
import { progressCtes } from "./SqlStreamStore.ts"
import { check, codeOf, orLost, unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const { self, received } = yield* Announcements
  const news = yield* PubSub.sliding<void>(1)

  const store = (matches: ReadonlyArray<Match>, { progress, next }: Place): Effect.Effect<number, SqlError> =>
    Effect.gen(function* () {
      let added = 0
      for (const { batch, isLast } of batchesOf(matches)) {
        added += yield* storeBatch(batch, { next, progress: isLast ? progress : undefined })
      }
      return added
    })

  const storeBatch = (batch: ReadonlyArray<Encoded>, place: Place): Effect.Effect<number, SqlError> =>
    Effect.flatMap(CurrentFence, (fence) => {
      const statement = insertStatement(sql, recordsOf(batch), { ...place, self, fence })
      return Option.match(fence, { onNone: () => statement, onSome: (held) => orLost(held)(statement) })
    }).pipe(
      Effect.retry({ times: 3, while: isRetryable }),
      Effect.map(([row]) => row?.added ?? 0),
      Effect.tap((added) => (added > 0 ? PubSub.publish(news, undefined) : Effect.void)),
      Effect.catchIf(isOutOfOrder, (error) =>
        store(
          withIdsAfter(
            batch.map(({ match }) => match),
            newestIn(error)
          ),
          place
        )
      )
    )

  const insert = (matches: ReadonlyArray<Match>, progress?: StreamProgress) =>
    store(matches, { progress }).pipe(Effect.catchIf(isUnstorable, unstorable), unavailable("matches.insert"))

  const insertNext = (matches: ReadonlyArray<Match>, progress: StreamProgress) =>
    store(matches, { progress, next: progress }).pipe(
      Effect.asSome,
      Effect.catchIf(isTooEarly, () => Effect.succeedNone),
      Effect.catchIf(isUnstorable, unstorable),
      unavailable("matches.insertNext")
    )

  const list = (page: MatchPage) =>
    Effect.map(pageStatement(sql, page), (rows) => toPage(rows, page.limit, toMatch)).pipe(unavailable("matches.list"))

  const next = (page: NextPage) =>
    Effect.map(nextPageStatement(sql, page), (rows) => toPage(rows, page.limit, toChange)).pipe(
      unavailable("matches.next")
    )

  const nextForAccounts: MatchStore["Type"]["nextForAccounts"] = ({ accounts, after, limit }) => {
    const from = (table: Table) => sql`(
      select ${columns(sql, table)} from ${sql(table)} m
      where m.id > ${lowerBound(after)} and m.id > (select floor from retention) and m.account_id = any(${accounts.map(toUuid)}::uuid[])
        and ${ofVisibleRule(sql, "m.rule_id")}
      order by m.id limit ${limit + 1})`
    const rows = sql`select m.* from (${from("matches")} union all ${from("redactions")}) m
      order by m.id limit ${limit + 1}`
    return Effect.map(boundedStatement(sql, rows, sql.literal("m.id")), (found) =>
      toPage(found, limit, (row) => ({
        account: fromUuid("acct", row.account_id),
        change: toChange(row),
        bytes: row.bytes
      }))
    ).pipe(unavailable("matches.nextForAccounts"))
  }

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
      // A separate statement, so that the next one sees what a concurrent trim has committed.
      const [retention] = yield* sql<{ readonly oldest: string }>`select oldest from retention for update skip locked`
      if (retention === undefined) return 0
      const [row] = yield* trimStatement(sql, { ...options, from: retention.oldest })
      return row?.deleted ?? 0
    }).pipe(sql.withTransaction, unavailable("matches.trim"))

  // Shares the lock of `trim`: one process deletes at a time.
  const trimAccount = (options: AccountTrim) =>
    Effect.gen(function* () {
      const locked = yield* sql`select 1 from retention for update skip locked`
      if (locked.length === 0) return 0
      const [row] = yield* trimAccountStatement(sql, options)
      return row?.deleted ?? 0
    }).pipe(sql.withTransaction, unavailable("matches.trimAccount"))

  const redact = (options: Redact) =>
    redactIn(sql, options, self).pipe(
      sql.withTransaction,
      Effect.retry({ times: 3, while: isRetryable }),
      Effect.tap((redacted) => (redacted > 0 ? PubSub.publish(news, undefined) : Effect.void)),
      unavailable("matches.redact")
    )

  const posts: MatchStore["Type"]["posts"] = (page) =>
    postsStatement(sql, page).pipe(
      Effect.map((rows) => ({
        postIds: rows.flatMap(({ post_id }) => post_id ?? []),
        last: Option.map(Option.fromNullable(rows.at(-1)), ({ id }) => fromUuid("match", id))
      })),
      unavailable("matches.posts")
    )

  const floor = (account: AccountId) =>
    sql<{ readonly floor: string }>`select ${floorOf(sql, sql`${toUuid(account)}`)} as floor`.pipe(
      Effect.map(([row]) =>
        Option.filter(Option.fromNullable(row?.floor), (id) => id > BEFORE_ALL).pipe(
          Option.map((id) => fromUuid("match", id))
        )
      ),
      unavailable("matches.floor")
    )

  const counts = (query: CountQuery) =>
    countsStatement(sql, query).pipe(
      Effect.map((rows) => rows.flatMap((row) => toBarCounts(row, query.bars.unit))),
      unavailable("matches.counts")
    )

  const recentCounts = (query: RecentCountsQuery) =>
    recentCountsStatement(sql, query).pipe(
      Effect.map((rows) => rows.map(toRecentCounts)),
      unavailable("matches.recentCounts")
    )

  const totalsOf = (rules: ReadonlyArray<RuleId>) =>
    totalsStatement(sql, rules).pipe(
      Effect.map((rows) => new Map(rows.map(({ rule_id, matches }) => [fromUuid("rule", rule_id), matches]))),
      unavailable("matches.totals")
    )

  const usage = (account: AccountId) =>
    sql<Usage>`select ${totals(sql)} from account_usage where account_id = ${toUuid(account)}`.pipe(
      Effect.map(([row]) => row ?? { matches: 0, bytes: 0 }),
      unavailable("matches.usage")
    )

  const usages = sql<Usage & { readonly account_id: string }>`
    select account_id, ${totals(sql)} from account_usage group by account_id having sum(matches) > 0`.pipe(
    Effect.map(
      (rows) =>
        new Map(rows.map(({ account_id, matches, bytes }) => [fromUuid("acct", account_id), { matches, bytes }]))
    ),
    unavailable("matches.usages")
  )

  const watermarkFrom = (candidate: MatchId): Effect.Effect<MatchId, SqlError> =>
    sql<{ readonly newest: string }>`
      update match_order set newest = greatest(newest, ${toUuid(candidate)}) returning newest`.pipe(
      Effect.map(([row]) => fromUuid("match", row?.newest ?? toUuid(candidate))),
      // A process whose clock is ahead has stored a newer match: retry above it.
      Effect.flatMap((newest) =>
        newest === candidate ? Effect.succeed(newest) : watermarkFrom(watermarkAt(0, Option.some(newest)))
      )
    )
  const watermark = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    watermarkFrom(watermarkAt(now, Option.none()))
  ).pipe(unavailable("matches.watermark"))

  const changes = Stream.merge(Stream.fromPubSub(news), received)

  return MatchStore.of({
    insert,
    insertNext,
    list,
    next,
    nextForAccounts,
    newest,
    watermark,
    changes,
    oldest,
    trim,
    trimAccount,
    redact,
    posts,
    floor,
    counts,
    recentCounts,
    totals: totalsOf,
    usage,
    usages
  })
})

export const layer: Layer.Layer<MatchStore, never, SqlClient | Announcements> = Layer.effect(MatchStore, make)

/** Where some matches belong in their stream. */
interface Place {
  /** Stored with the matches. */
  readonly progress?: StreamProgress | undefined
  /** Refused unless the batch before this one is stored. */
  readonly next?: Pick<StreamProgress, "platform" | "batch"> | undefined
}

/** `self` is the sender id of the notification to other processes. */
export const insertStatement = (
  sql: SqlClient,
  records: Option.Option<Records>,
  options: Place & { readonly self: string; readonly fence?: Option.Option<Fence> }
): Statement<Added> => {
  const { self, progress, next, fence = Option.none() } = options
  const progressCte = progress === undefined ? sql`` : sql`, ${progressCtes(sql, progress)}`
  const checked = Option.match(fence, { onNone: () => sql`1`, onSome: (held) => check(sql, held) })
  const follows = next === undefined ? sql`1` : sql`check_batch(${next.platform}, ${next.batch})`
  return Option.match(records, {
    onNone: () => sql<Added>`with fence as materialized (select ${checked}, ${follows}),
      added as (select 0 as added from fence) ${progressCte} select added from added`,
    // The insert reads from `turn`, so its checks run first.
    onSome: ({ json, first, last }) => sql<Added>`with turn as materialized (
        select ${checked}, take_turn(${first}, ${last}), ${follows}
      ),
      added as (
        insert into matches (id, rule_id, rule_version, reapplied, account_id, platform, platform_post_id, payload,
          bytes, created_at)
        select x.id, x.rule_id, x.rule_version, coalesce(x.reapplied, false), r.account_id, x.platform,
          x.platform_post_id, x.payload, x.bytes, x.created_at
        from turn cross join jsonb_to_recordset(${jsonbParameter(json)}::jsonb) as x(
          id uuid, rule_id uuid, rule_version integer, reapplied boolean, platform text, platform_post_id text,
          payload jsonb, bytes integer, created_at timestamptz
        )
        join rules r on r.id = x.rule_id
        order by x.id
        on conflict do nothing
        returning 1
      ) ${progressCte}
      select count(*)::int as added, case when count(*) > 0 then pg_notify(${CHANNEL}, ${self}) end from added`
  })
}

/** Lower and upper bound of all UUIDv7. */
export const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"
export const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export const lowerBound = (after: Option.Option<MatchId>): string =>
  Option.match(after, { onNone: () => BEFORE_ALL, onSome: toUuid })

/** Newest first. */
export const pageStatement = (sql: SqlClient, page: MatchPage): Statement<MatchRow> =>
  orderedStatement(sql, page, {
    tables: ["matches"],
    range: sql`m.id < ${Option.match(page.before, { onNone: () => AFTER_ALL, onSome: toUuid })}`,
    order: sql.literal("m.id desc"),
    limit: page.limit
  })

/** Matches and redactions, oldest first. */
export const nextPageStatement = (sql: SqlClient, page: NextPage): Statement<MatchRow> =>
  orderedStatement(sql, page, {
    tables: ["matches", "redactions"],
    range: sql`m.id > ${lowerBound(page.after)}`,
    order: sql.literal("m.id"),
    limit: page.limit
  })

/**
 * `from` is a lower bound of all ids. Locked matches are skipped: they are being deleted with their rule, and waiting
 * for them could deadlock.
 */
export const trimStatement = (
  sql: SqlClient,
  { from, before, keep, atMost }: Trim & { readonly from: string }
): Statement<{ readonly deleted: number }> => {
  const limit = Option.match(keep, {
    onNone: () => sql`${atMost}`,
    onSome: (keep) =>
      sql`least(${atMost}::bigint, greatest(0, (select sum(matches)::bigint from account_usage) - ${keep}::bigint))`
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
    ), forgotten as (
      delete from redactions where id = any(array(
        select r.id from redactions r where r.id <= (select id from last) order by r.id limit ${atMost}
      ))
    )
    select count(*)::int as deleted from deleted`
}

/** The oldest matches of the account, until what remains is within both limits. Skips locked matches as `trim` does. */
export const trimAccountStatement = (
  sql: SqlClient,
  { account, platforms, before, limits, atMost }: AccountTrim
): Statement<{ readonly deleted: number }> => {
  const id = toUuid(account)
  return sql`
    with used as materialized (
      select ${totals(sql)} from account_usage where account_id = ${id}
    ), oldest as materialized (
      select m.id, m.bytes from used cross join unnest(${[...new Set(platforms)]}::text[]) as p(platform) cross join lateral (
        select m.id, m.bytes from matches m
        where m.account_id = ${id} and m.platform = p.platform and m.id < ${toUuid(before)}
          and m.id > ${floorOf(sql, sql`${id}`)}
        order by m.id limit ${atMost}
        for update skip locked
      ) m
      where ${exceeds(sql, limits, { matches: sql`used.matches`, bytes: sql`used.bytes` })}
      order by m.id limit ${atMost}
    ), doomed as materialized (
      select id from (
        select id, used.matches - row_number() over (order by id) + 1 as matches,
          used.bytes - sum(oldest.bytes) over (order by id) + oldest.bytes as bytes
        from oldest cross join used
      ) rest
      where ${exceeds(sql, limits, { matches: sql`rest.matches`, bytes: sql`rest.bytes` })}
    ), deleted as (
      delete from matches where id = any(array(select id from doomed)) returning 1
    ), moved as (
      insert into account_floors as f (account_id, floor) select ${id}, id from doomed order by id desc limit 1
      on conflict (account_id) do update set floor = excluded.floor
    )
    select count(*)::int as deleted from deleted`
}

/** The newest match that retention has deleted of an account, or `BEFORE_ALL`. */
export const floorOf = (sql: SqlClient, account: Fragment): Fragment =>
  sql`(select greatest(floor, (select a.floor from account_floors a where a.account_id = ${account})) from retention)`

// ---- helpers ----

const totals = (sql: SqlClient) =>
  sql.literal("coalesce(sum(matches), 0)::float8 as matches, coalesce(sum(bytes), 0)::float8 as bytes")

const exceeds = (sql: SqlClient, limits: Usage, used: { readonly matches: Fragment; readonly bytes: Fragment }) => {
  const isOver = (used: Fragment, limit: number) => (limit > 0 ? sql`${used} > ${limit}::float8` : sql`false`)
  return sql`(${isOver(used.matches, limits.matches)} or ${isOver(used.bytes, limits.bytes)})`
}

/**
 * Reads at most `limit + 1` rows per rule and platform in index order, then sorts these few. The only rows read and
 * filtered out are matches of hidden rules.
 */
const orderedStatement = (
  sql: SqlClient,
  wanted: MatchSelector,
  {
    tables,
    range,
    order,
    limit
  }: {
    readonly tables: readonly ["matches"] | readonly ["matches", "redactions"]
    readonly range: Fragment
    readonly order: Fragment
    readonly limit: number
  }
): Statement<MatchRow> => {
  const account = toUuid(wanted.account)
  // Skips index entries of rows deleted since the last vacuum, which may be millions.
  const isKept = sql`m.id > ${floorOf(sql, sql`${account}`)}`
  const platforms = sql`unnest(${[...new Set(wanted.platforms)]}::text[]) as p(platform)`
  const inOrder = (where: Fragment) => {
    const from = (table: Table) => sql`(
        select ${columns(sql, table)} from ${sql(table)} m
        where ${where} and m.platform = p.platform and ${range} and ${isKept}
        order by ${order} limit ${limit + 1})`
    const [matches, redactions] = tables
    return redactions === undefined ? from(matches) : sql`(${from(matches)} union all ${from(redactions)})`
  }
  const rows = Option.match(wanted.rules, {
    onNone: () => sql`
      select m.* from ${platforms} cross join lateral
        ${inOrder(sql`m.account_id = ${account} and ${ofVisibleRule(sql, "m.rule_id")}`)} m
      order by ${order} limit ${limit + 1}`,
    // Checks the owner on the rule: a check on the matches would read all matches of a foreign rule.
    onSome: (rules) => sql`
      select m.* from rules r cross join ${platforms} cross join lateral
        ${inOrder(sql.literal("m.rule_id = r.id"))} m
      where r.id = any(${rules.map(toUuid)}::uuid[]) and r.account_id = ${account} and ${ofVisibleRule(sql, "r.id")}
      order by ${order} limit ${limit + 1}`
  })
  return boundedStatement(sql, rows, order)
}

/** `rows` are at most one more than the page has, in order. Rows beyond `MAX_PAGE_BYTES` get no payload: it is not loaded. */
const boundedStatement = (sql: SqlClient, rows: Fragment, order: Fragment): Statement<MatchRow> => sql<MatchRow>`
  select m.id, m.rule_id, m.account_id, m.created_at, m.platform, m.platform_post_id, m.bytes,
    m.rule_version, m.reapplied, m.redacted_at, m.redacted_reason, m.match_id,
    case when sum(m.bytes) over preceding <= greatest(${MAX_PAGE_BYTES}, first_value(m.bytes) over preceding)
      then m.payload::text end as payload
  from (${rows}) m
  window preceding as (order by ${order} rows unbounded preceding)
  order by ${order}`

type Table = "matches" | "redactions"

const columns = (sql: SqlClient, table: Table) =>
  sql.literal(
    `m.id, m.rule_id, m.account_id, m.created_at, m.platform, m.platform_post_id, m.rule_version, m.redacted_at, m.redacted_reason, ${
      table === "matches"
        ? "m.reapplied, m.payload, m.bytes, null::uuid as match_id"
        : `false as reapplied, '{}'::jsonb as payload, ${EMPTY_BYTES} as bytes, m.match_id`
    }`
  )

const ofVisibleRule = (sql: SqlClient, rule: "m.rule_id" | "r.id") =>
  sql.literal(
    `not exists (select 1 from registrations g where g.rule_id = ${rule} and g.state in ('pending', 'removing'))`
  )

/** A rule was deleted between the join and the foreign key check, or two batches deadlocked. */
const isRetryable = (error: SqlError): boolean =>
  Option.exists(codeOf(error), (code) => code === "23503" || code === "40P01" || code === "40001")

/** Invalid data, or a program limit exceeded: a retry would fail again. */
const isUnstorable = (error: SqlError): boolean => Option.exists(codeOf(error), (code) => /^(22|54)/.test(code))

const unstorable = ({ cause }: SqlError) => new MatchesUnstorable({ reason: messageOf(cause) })

/** Raised by `take_turn`, with the newest stored id as detail. */
const isOutOfOrder = (error: SqlError): boolean => Option.exists(codeOf(error), (code) => code === "ES001")

/** Raised by `check_batch`. */
const isTooEarly = (error: SqlError): boolean => Option.exists(codeOf(error), (code) => code === "ES003")

const newestIn = ({ cause }: SqlError): Option.Option<MatchId> =>
  Predicate.hasProperty(cause, "detail") && typeof cause.detail === "string"
    ? Option.some(fromUuid("match", cause.detail))
    : Option.none()

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

interface Added {
  readonly added: number
}
