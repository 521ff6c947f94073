/** `FeedStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Array as Arr, Effect, Layer, Option } from "effect"
import {
  type AddedFeed,
  type FeedLimits,
  type FeedRecord,
  FeedStore,
  type ListedFeed
} from "../../core/feeds/FeedStore.ts"
import { FeedLimitReached, LimitReached } from "../../core/model/Errors.ts"
import { type AccountId, fromUuid, toUuid } from "../../core/model/Ids.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import { storableJson } from "./parameters.ts"
import { fenced, unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const columns = sql.literal("r.title, r.asked_at, r.read_at, r.next_at, r.missed_at, r.error, r.is_gone")

  /** Concurrent changes wait here until this transaction ends. */
  const change = sql`update feed_list set version = version + 1`

  const checkLimits = (account: AccountId, limits: FeedLimits) =>
    Effect.gen(function* () {
      const [row] = yield* sql<{ readonly used: number; readonly everywhere: number }>`
        select (select count(*)::int from account_feeds where account_id = ${toUuid(account)}) as used,
          (select count(*)::int from account_feeds) as everywhere`
      const { used = 0, everywhere = 0 } = row ?? {}
      if (limits.account > 0 && used >= limits.account) {
        return yield* new LimitReached({ name: "feeds", limit: limits.account, used })
      }
      if (everywhere >= limits.everywhere) return yield* new FeedLimitReached({ limit: limits.everywhere })
    })

  const add = ({ account, url, addedAt }: AddedFeed, limits: FeedLimits) =>
    Effect.gen(function* () {
      const id = toUuid(account)
      const exists = sql`select 1 from account_feeds where account_id = ${id} and url = ${url}`
      if ((yield* exists).length > 0) return
      yield* change
      if ((yield* exists).length > 0) return
      yield* checkLimits(account, limits)
      yield* sql`insert into account_feeds (account_id, url, added_at) values (${id}, ${url}, ${addedAt})`
    }).pipe(sql.withTransaction, unavailable("feeds.add"))

  const remove = (account: AccountId, url: string) =>
    Effect.gen(function* () {
      yield* change
      const removed = yield* sql`delete from account_feeds
        where account_id = ${toUuid(account)} and url = ${url} returning 1`
      return removed.length > 0
    }).pipe(sql.withTransaction, unavailable("feeds.remove"))

  const list = (account: AccountId, url: Option.Option<string>) =>
    sql<AddedRow & Nullable<RecordRow>>`
      select f.account_id, f.url, f.added_at, ${columns} from account_feeds f left join feed_records r on r.url = f.url
      where f.account_id = ${toUuid(account)} and ${Option.isNone(url) ? sql`true` : sql`f.url = ${url.value}`}
      order by f.url collate "C"`.pipe(Effect.map(Arr.map(toListed)), unavailable("feeds.list"))

  const changed = (known: number) =>
    Effect.gen(function* () {
      // First: what changes meanwhile is read again the next time.
      const [row] = yield* sql<{ readonly version: string }>`select version from feed_list`
      const version = Number(row?.version)
      if (version === known) return Option.none()
      const rows =
        yield* sql<AddedRow>`select account_id, url, added_at from account_feeds order by added_at, account_id`
      return Option.some({ version, feeds: rows.map(toAdded) })
    }).pipe(unavailable("feeds.changed"))

  return FeedStore.of({
    add,
    remove,
    list,
    changed,
    count: (account) =>
      sql<{ readonly used: number }>`select count(*)::int as used from account_feeds
        where account_id = ${toUuid(account)}`.pipe(
        Effect.map(([row]) => row?.used ?? 0),
        unavailable("feeds.count")
      ),
    records: sql<RecordRow & { readonly memory: string }>`select r.url, ${columns}, r.memory from feed_records r`.pipe(
      Effect.map(Arr.map((row) => ({ ...toRecord(row), memory: row.memory }))),
      unavailable("feeds.records")
    ),
    save: (records) =>
      sql`insert into feed_records (url, title, asked_at, read_at, next_at, missed_at, error, is_gone, memory)
        select url, title, "askedAt", "readAt", "nextAt", "missedAt", error, "isGone", memory
        from jsonb_to_recordset(${storableJson(records)}::jsonb) as r(url text, title text, "askedAt" timestamptz,
          "readAt" timestamptz, "nextAt" timestamptz, "missedAt" timestamptz, error text, "isGone" boolean, memory text)
        on conflict (url) do update set title = excluded.title, asked_at = excluded.asked_at, read_at = excluded.read_at,
          next_at = excluded.next_at, missed_at = excluded.missed_at, error = excluded.error, is_gone = excluded.is_gone,
          memory = excluded.memory`.pipe(fenced(sql), Effect.asVoid, unavailable("feeds.save")),
    prune: (kept) =>
      sql`delete from feed_records r where not exists (select 1 from account_feeds f where f.url = r.url)
        and r.url <> all(${kept}::text[])`.pipe(fenced(sql), Effect.asVoid, unavailable("feeds.prune"))
  })
})

export const layer: Layer.Layer<FeedStore, never, SqlClient> = Layer.effect(FeedStore, make)

// ---- helpers ----

interface AddedRow {
  readonly account_id: string
  readonly url: string
  readonly added_at: Date
}

interface RecordRow {
  readonly url: string
  readonly title: string | null
  readonly asked_at: Date | null
  readonly read_at: Date | null
  readonly next_at: Date
  readonly missed_at: Date | null
  readonly error: string | null
  readonly is_gone: boolean
}

/** As a left join has them. */
type Nullable<Row> = Omit<Row, "url" | "next_at" | "is_gone"> & {
  readonly next_at: Date | null
  readonly is_gone: boolean | null
}

const toAdded = ({ account_id, url, added_at }: AddedRow): AddedFeed => ({
  account: fromUuid("acct", account_id),
  url,
  addedAt: fromDate(added_at)
})

const toListed = ({ next_at, is_gone, ...row }: AddedRow & Nullable<RecordRow>): ListedFeed => ({
  ...toAdded(row),
  record: next_at === null || is_gone === null ? Option.none() : Option.some(toRecord({ ...row, next_at, is_gone }))
})

const toRecord = (row: RecordRow): Omit<FeedRecord, "memory"> => ({
  url: row.url,
  title: row.title,
  askedAt: toTimestamp(row.asked_at),
  readAt: toTimestamp(row.read_at),
  nextAt: fromDate(row.next_at),
  missedAt: toTimestamp(row.missed_at),
  error: row.error,
  isGone: row.is_gone
})

const toTimestamp = (date: Date | null): Timestamp | null => (date === null ? null : fromDate(date))
