/** `EventLog` in SQL: a row for each segment, its events as the lines of one text. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import { EventLog, type Keep, type LoggedEvent, newestOf, type Segment, sizeOf } from "../../core/backtests/EventLog.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { unavailable } from "./unavailable.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const platforms = sql<{ readonly platform: PlatformId }>`select platform from event_logs`.pipe(
    Effect.map((rows) => rows.map(({ platform }) => platform)),
    unavailable("events.platforms")
  )

  const insert = (platform: PlatformId, { events, missed }: Segment, size: number) => sql`
    with log as (
      insert into event_logs (platform, events, size) values (${platform}, ${events.length}, ${size})
      on conflict (platform) do update
        set events = event_logs.events + excluded.events, size = event_logs.size + excluded.size
      returning events, size
    )
    insert into event_segments (platform, last_event, last_size, events, size, missed, lines)
    select ${platform}, log.events, log.size, ${events.length}, ${size}, ${missed}, ${toLines(events)} from log`

  const append = (platform: PlatformId, segment: Segment) =>
    insert(platform, segment, sizeOf(segment)).pipe(Effect.asVoid, unavailable("events.append"))

  // What is to go is always at the old end. Deleting nothing takes no lock and writes nothing.
  const deleteSome = (platform: PlatformId, keep: Keep) => sql`
    delete from event_segments where platform = ${platform} and last_event <= (
      select max(last_event) from (
        select last_event, last_size, size from event_segments
        where platform = ${platform} order by last_event limit ${STEP}
      ) oldest
      cross join (select events as total_events, size as total_size from event_logs where platform = ${platform}) log
      where last_event <= total_events - ${keep.events} or last_size - size < total_size - ${keep.size}
    )
    returning 1`

  const trim = (platform: PlatformId, keep: Keep) =>
    deleteSome(platform, keep).pipe(
      Effect.repeat({ while: (deleted) => deleted.length === STEP }),
      Effect.asVoid,
      unavailable("events.trim")
    )

  const newest = (platform: PlatformId) => sql<Place>`
    select events::float8 as event, size::float8 as size from event_logs where platform = ${platform}`

  const pageUpTo = (platform: PlatformId, { event, size }: Place) => sql<SegmentRow>`
    select (last_event - events)::float8 as event, (last_size - size)::float8 as size, missed, lines
    from event_segments
    where platform = ${platform} and last_event <= ${event} and last_event > ${event - PAGE_EVENTS}
      and last_size > ${size - PAGE_SIZE}
    order by last_event desc`

  // From the new end to the old one, because at the old one segments may be deleted meanwhile.
  const recent = (platform: PlatformId, limit: number) => {
    const start = Effect.map(newest(platform), ([place]) => place ?? { event: 0, size: 0 })
    const page = (place: Place) =>
      Effect.map(pageUpTo(platform, place), (rows) =>
        Option.map(
          Option.fromNullable(rows.at(-1)),
          (oldest) => [Chunk.unsafeFromArray(rows.map(toSegment)), { event: oldest.event, size: oldest.size }] as const
        )
      ).pipe(unavailable("events.recent"))
    const segments = Stream.unwrap(
      Effect.map(start, (place) => Stream.unfoldChunkEffect(place, page)).pipe(unavailable("events.recent"))
    )
    return newestOf(segments, limit)
  }

  return EventLog.of({ platforms, append, trim, recent })
})

export const layer: Layer.Layer<EventLog, never, SqlClient> = Layer.effect(EventLog, make)

// ---- helpers ----

/** How many segments are deleted at once. */
const STEP = 20

/** How much is read at once, at the most: this many events, and little more than this many characters. */
const PAGE_EVENTS = 1_000
const PAGE_SIZE = 2 * 1024 * 1024

/** A place in the log, in events and in characters since it began. */
interface Place {
  readonly event: number
  readonly size: number
}

/** The place is where the segment begins. */
interface SegmentRow extends Place {
  readonly missed: number
  readonly lines: string
}

/** JSON has no line breaks of its own, and the time no space. */
const toLines = (events: ReadonlyArray<LoggedEvent>): string =>
  events.map(({ receivedAt, json }) => `${receivedAt} ${json}`).join("\n")

const toSegment = ({ lines, missed }: SegmentRow): Segment => ({ events: lines.split("\n").map(toEvent), missed })

const toEvent = (line: string): LoggedEvent => {
  const space = line.indexOf(" ")
  return { receivedAt: Number(line.slice(0, space)), json: line.slice(space + 1) }
}
