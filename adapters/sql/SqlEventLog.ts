/** `EventLog` in SQL: one row per segment, with one line of text per event. The column `platform` holds the log's id. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Chunk, Duration, Effect, Layer, Option, Stream } from "effect"
import {
  EventLog,
  isLogOf,
  type Keep,
  type LoggedEvent,
  type LogId,
  newestOf,
  type Segment,
  sizeOf,
  withoutEvents
} from "../../core/backtests/EventLog.ts"
import { textParameter } from "./parameters.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  // A segment starts with the receive time of its first event. The text is not compressed, so reading its start is cheap.
  const logs = sql<{ readonly log: LogId; readonly newestAt: number }>`
    select platform as log, split_part(left(newest.lines, 20), ' ', 1)::float8 as "newestAt"
    from event_logs cross join lateral (
      select lines from event_segments s where s.platform = event_logs.platform order by last_event desc limit 1
    ) newest`.pipe(unavailable("events.logs"))

  const insert = (log: LogId, { events, missed }: Segment, size: number) => sql`
    with log as (
      insert into event_logs (platform, events, size) values (${log}, ${events.length}, ${size})
      on conflict (platform) do update
        set events = event_logs.events + excluded.events, size = event_logs.size + excluded.size
      returning events, size
    )
    insert into event_segments (platform, last_event, last_size, events, size, missed, lines)
    select ${log}, log.events, log.size, ${events.length}, ${size}, ${missed}, ${textParameter(toLines(events))} from log`

  const append = (log: LogId, segment: Segment) =>
    insert(log, segment, sizeOf(segment)).pipe(Effect.asVoid, unavailable("events.append"))

  // Deletes from the old end. Without anything to delete it takes no lock and writes nothing.
  const deleteBatch = (log: LogId, keep: Keep) => sql<{ readonly size: number }>`
    delete from event_segments where platform = ${log} and last_event <= (
      select max(last_event) from (
        select last_event, last_size - size as start, last_size - size - min(last_size - size) over () as before
        from (
          select last_event, last_size, size from event_segments
          where platform = ${log} order by last_event limit ${MAX_DELETED}
        ) first
      ) oldest
      cross join (select events as total_events, size as total_size from event_logs where platform = ${log}) log
      where before < ${MAX_DELETED_SIZE}
        and (last_event <= total_events - ${keep.events} or start < total_size - ${keep.size})
    )
    returning size::float8`

  const trim = (log: LogId, keep: Keep) =>
    Effect.gen(function* () {
      for (;;) {
        const [took, deleted] = yield* Effect.timed(deleteBatch(log, keep))
        const size = deleted.reduce((sum, row) => sum + row.size, 0)
        if (deleted.length < MAX_DELETED && size < MAX_DELETED_SIZE) return
        // The embedded store frees the space in between: all at once, that would hold up everything else.
        yield* Effect.sleep(Duration.times(took, REST_FACTOR))
      }
    }).pipe(unavailable("events.trim"))

  const newest = (log: LogId) => sql<LogOffset>`
    select events::float8 as event, size::float8 as size from event_logs where platform = ${log}`

  const pageUpTo = (log: LogId, { event, size }: LogOffset) => sql<SegmentRow>`
    select (last_event - events)::float8 as event, (last_size - size)::float8 as size, missed, lines
    from event_segments
    where platform = ${log} and last_event <= ${event} and last_event > ${event - PAGE_EVENTS}
      and last_size > ${size - PAGE_SIZE}
    order by last_event desc`

  // Reads from the new end to the old, because segments at the old end may be deleted meanwhile.
  const recent = (log: LogId, limit: number) => {
    const start = Effect.map(newest(log), ([offset]) => offset ?? { event: 0, size: 0 })
    const page = (offset: LogOffset) =>
      Effect.map(pageUpTo(log, offset), (rows) =>
        Option.map(
          Option.fromNullable(rows.at(-1)),
          (oldest) => [Chunk.unsafeFromArray(rows.map(toSegment)), { event: oldest.event, size: oldest.size }] as const
        )
      ).pipe(unavailable("events.recent"))
    const segments = Stream.unwrap(
      Effect.map(start, (offset) => Stream.unfoldChunkEffect(offset, page)).pipe(unavailable("events.recent"))
    )
    return newestOf(segments, limit)
  }

  /** The offsets of the other segments stay: events that are gone leave a hole in the count. */
  const rewrite = (log: LogId, at: number, segment: Segment) =>
    segment.events.length === 0
      ? sql`delete from event_segments where platform = ${log} and last_event = ${at}`
      : sql`update event_segments set events = ${segment.events.length}, size = ${sizeOf(segment)},
          lines = ${toLines(segment.events)} where platform = ${log} and last_event = ${at}`

  const removeFrom = (log: LogId, isUnwanted: (json: string) => boolean) =>
    Effect.gen(function* () {
      for (let at = 0; ; ) {
        const [row] = yield* sql<{ readonly last_event: number; readonly missed: number; readonly lines: string }>`
          select last_event::float8, missed, lines from event_segments
          where platform = ${log} and last_event > ${at} order by last_event limit 1`
        if (row === undefined) return
        at = row.last_event
        const segment = toSegment(row)
        const kept = withoutEvents(segment, isUnwanted)
        if (kept.events.length < segment.events.length) yield* rewrite(log, at, kept)
      }
    })

  const remove: EventLog["Type"]["remove"] = (platform, isUnwanted) =>
    Effect.gen(function* () {
      const all = yield* sql<{ readonly log: LogId }>`select platform as log from event_logs`
      for (const { log } of all) if (isLogOf(platform, log)) yield* removeFrom(log, isUnwanted)
    }).pipe(unavailable("events.remove"))

  return EventLog.of({ logs, append, trim, recent, remove })
})

export const layer: Layer.Layer<EventLog, never, SqlClient> = Layer.effect(EventLog, make)

// ---- helpers ----

/** Limits of one delete statement, in segments and in characters. It may exceed the second by one segment. */
const MAX_DELETED = 50
const MAX_DELETED_SIZE = 1024 * 1024

/** How much longer it rests than it deletes. */
const REST_FACTOR = 20

/** Limits of one read. A page may exceed `PAGE_SIZE` (characters) by one segment. */
const PAGE_EVENTS = 1_000
const PAGE_SIZE = 2 * 1024 * 1024

/** An offset in the log, in events and in characters since it began. */
interface LogOffset {
  readonly event: number
  readonly size: number
}

/** The offset is the start of the segment. */
interface SegmentRow extends LogOffset {
  readonly missed: number
  readonly lines: string
}

/** `json` contains no line break, and the time no space. */
const toLines = (events: ReadonlyArray<LoggedEvent>): string =>
  events.map(({ receivedAt, json }) => `${receivedAt} ${json}`).join("\n")

const toSegment = ({ lines, missed }: Pick<SegmentRow, "lines" | "missed">): Segment => ({
  events: lines.split("\n").map(toEvent),
  missed
})

const toEvent = (line: string): LoggedEvent => {
  const space = line.indexOf(" ")
  return { receivedAt: Number(line.slice(0, space)), json: line.slice(space + 1) }
}
