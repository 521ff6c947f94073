/** `StreamStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect, Layer, Option } from "effect"
import type { Gap } from "../../core/coverage/Coverage.ts"
import {
  type DeadLetter,
  type StreamProgress,
  type StreamRecord,
  StreamStore
} from "../../core/coverage/StreamStore.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { GapCause } from "../../core/platforms/Platform.ts"
import { storableText } from "./parameters.ts"
import { fenced, unavailable } from "./statements.ts"

/**
 * Common table expressions that store the progress of a stream, to be combined with other writes in one statement. They
 * see the state before the statement.
 */
export const progressCtes = (sql: SqlClient, progress: StreamProgress): Fragment => {
  const { platform, cursor, batch, ledger, gaps, recovered } = progress
  const openGap = Option.getOrUndefined(ledger.openGap)
  const saved = sql`progress as (
      insert into streams (
        platform, cursor, watched_since, watched_until, blind_since, blind_cause, blind_detail, replaying_since,
        batch
      )
      values (
        ${platform}, ${Option.getOrNull(cursor)}, ${time(Option.getOrUndefined(ledger.watchedSince))}::timestamptz,
        ${time(ledger.watchedUntil)}::timestamptz, ${time(openGap?.since)}::timestamptz, ${openGap?.cause ?? null},
        ${storableText(openGap?.detail ?? null)}, ${time(Option.getOrUndefined(ledger.replayingSince))}::timestamptz,
        ${batch}
      )
      on conflict (platform) do update set
        cursor = coalesce(excluded.cursor, streams.cursor), watched_since = excluded.watched_since,
        watched_until = excluded.watched_until, blind_since = excluded.blind_since,
        blind_cause = excluded.blind_cause, blind_detail = excluded.blind_detail,
        replaying_since = excluded.replaying_since, batch = excluded.batch
      where streams.batch <= excluded.batch
    )`
  const ended =
    gaps.length === 0
      ? saved
      : sql`${saved}, ended_gaps as (
      insert into gaps (platform, started_at, ended_at, cause, detail, recovered, suspected)
      select ${platform}, x.started_at, x.ended_at, x.cause, x.detail, x.recovered, x.suspected
      from jsonb_to_recordset(${JSON.stringify(gaps.map(toGapRow))}::jsonb) as x(
        started_at timestamptz, ended_at timestamptz, cause text, detail text, recovered boolean, suspected boolean
      )
    )`
  if (recovered.length === 0) return ended
  const periods = JSON.stringify(recovered.map(({ from, to }) => ({ from_time: time(from), to_time: time(to) })))
  return sql`${ended}, recovered_gaps as (
    update gaps g set recovered = true
    from jsonb_to_recordset(${periods}::jsonb) as x(from_time timestamptz, to_time timestamptz)
    where g.platform = ${platform} and g.started_at >= x.from_time and g.ended_at <= x.to_time
  )`
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  return StreamStore.of({
    load: (platform) =>
      sql<StreamRow>`select * from streams where platform = ${platform}`.pipe(
        Effect.map(([row]) => Option.map(Option.fromNullable(row), toRecord)),
        unavailable("streams.load")
      ),
    save: (progress) =>
      sql`with ${progressCtes(sql, progress)} select 1`.pipe(Effect.asVoid, fenced(sql), unavailable("streams.save")),
    gaps: (platform, { from, to, limit }) =>
      sql<GapRow>`select started_at, ended_at, cause, detail, recovered, suspected from gaps
        where platform = ${platform} and started_at < ${time(to)}::timestamptz and ended_at > ${time(from)}::timestamptz
        order by started_at desc limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(toGap)),
        unavailable("streams.gaps")
      ),
    addDeadLetter: ({ platform, platformPostId, at, reason, payload }) =>
      sql`insert into set_aside (platform, platform_post_id, at, reason, payload)
        values (${platform}, ${storableText(platformPostId)}, ${time(at)}::timestamptz, ${storableText(reason)},
          ${storableText(payload)})`.pipe(Effect.asVoid, fenced(sql), unavailable("streams.addDeadLetter")),
    deadLetters: (limit) =>
      sql<DeadLetterRow>`select * from set_aside order by id desc limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(toDeadLetter)),
        unavailable("streams.deadLetters")
      )
  })
})

export const layer: Layer.Layer<StreamStore, never, SqlClient> = Layer.effect(StreamStore, make)

// ---- helpers ----

/** The end of the year 9999. `toISOString` writes later years in a form that Postgres rejects. */
const LAST_TIME = 253_402_300_799_999

const time = (millis: number | undefined): string | null =>
  millis === undefined ? null : new Date(Math.min(Math.max(millis, 0), LAST_TIME)).toISOString()

interface StreamRow {
  readonly cursor: string | null
  readonly batch: string
  readonly watched_since: Date | null
  readonly watched_until: Date
  readonly blind_since: Date | null
  readonly blind_cause: GapCause | null
  readonly blind_detail: string | null
  readonly replaying_since: Date | null
}

const toRecord = (row: StreamRow): StreamRecord => ({
  cursor: Option.fromNullable(row.cursor),
  batch: Number(row.batch),
  ledger: {
    watchedSince: Option.map(Option.fromNullable(row.watched_since), (date) => date.getTime()),
    watchedUntil: row.watched_until.getTime(),
    openGap:
      row.blind_since === null || row.blind_cause === null
        ? Option.none()
        : Option.some({ since: row.blind_since.getTime(), cause: row.blind_cause, detail: row.blind_detail ?? "" }),
    replayingSince: Option.map(Option.fromNullable(row.replaying_since), (date) => date.getTime())
  }
})

interface GapRow {
  readonly started_at: Date
  readonly ended_at: Date
  readonly cause: GapCause
  readonly detail: string
  readonly recovered: boolean
  readonly suspected: boolean
}

const toGap = (row: GapRow): Gap => ({
  from: row.started_at.getTime(),
  to: row.ended_at.getTime(),
  cause: row.cause,
  detail: row.detail,
  isRecovered: row.recovered,
  isSuspected: row.suspected
})

const toGapRow = ({ from, to, cause, detail, isRecovered, isSuspected }: Gap) => ({
  started_at: time(from),
  ended_at: time(to),
  cause,
  detail: storableText(detail),
  recovered: isRecovered,
  suspected: isSuspected
})

interface DeadLetterRow {
  readonly platform: PlatformId
  readonly platform_post_id: string
  readonly at: Date
  readonly reason: string
  readonly payload: string
}

const toDeadLetter = (row: DeadLetterRow): DeadLetter => ({
  platform: row.platform,
  platformPostId: row.platform_post_id,
  at: row.at.getTime(),
  reason: row.reason,
  payload: row.payload
})
