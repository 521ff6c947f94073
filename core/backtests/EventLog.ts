/** Storage port for the log of recent events, with an in-memory layer. */
import { Context, Effect, Layer, Stream } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"

export interface LoggedEvent {
  /** In milliseconds. */
  readonly receivedAt: number
  /** The platform's record from `JSON.stringify`: one line, and every character is storable. */
  readonly json: string
}

export interface Segment {
  /** Non-empty, oldest first. */
  readonly events: ReadonlyArray<LoggedEvent>
  /** The number of events dropped right before these. */
  readonly missed: number
}

/** Limits per platform. `size` is in characters. */
export interface Keep {
  readonly events: number
  readonly size: number
}

export class EventLog extends Context.Tag("core/EventLog")<
  EventLog,
  {
    /** Those that anything was logged of. */
    readonly platforms: Effect.Effect<ReadonlyArray<PlatformId>, StoreUnavailable>
    readonly append: (platform: PlatformId, segment: Segment) => Effect.Effect<void, StoreUnavailable>
    /** Deletes whole segments in small batches. The oldest segment may keep the total slightly above `events`. */
    readonly trim: (platform: PlatformId, keep: Keep) => Effect.Effect<void, StoreUnavailable>
    /** The newest `limit` events (at least 1), newest segment first. The oldest segment is cut to the limit. */
    readonly recent: (platform: PlatformId, limit: number) => Stream.Stream<Segment, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<EventLog> = Layer.sync(EventLog, () => {
    const logs = new Map<PlatformId, Array<Segment>>()
    const segmentsOf = (platform: PlatformId) => logs.get(platform) ?? []

    return EventLog.of({
      platforms: Effect.sync(() => [...logs.keys()]),
      append: (platform, segment) =>
        Effect.sync(() => {
          logs.set(platform, [...segmentsOf(platform), segment])
        }),
      trim: (platform, keep) =>
        Effect.sync(() => {
          let { events, size } = keep
          const kept = segmentsOf(platform)
            .toReversed()
            .filter((segment) => {
              const isKept = events > 0 && sizeOf(segment) <= size
              events -= segment.events.length
              size -= sizeOf(segment)
              return isKept
            })
          logs.set(platform, kept.reverse())
        }),
      recent: (platform, limit) =>
        newestOf(
          Stream.suspend(() => Stream.fromIterable(segmentsOf(platform).toReversed())),
          limit
        )
    })
  })
}

export const sizeOf = ({ events }: Segment): number => events.reduce((size, { json }) => size + json.length, 0)

/** Cuts segments, newest first, to `limit` events. Pulls only the segments it needs. */
export const newestOf = <E>(segments: Stream.Stream<Segment, E>, limit: number): Stream.Stream<Segment, E> =>
  segments.pipe(
    Stream.mapAccum(limit, (left, { events, missed }) => [
      left - events.length,
      { segment: { events: events.slice(-left), missed }, isLast: events.length >= left }
    ]),
    Stream.takeUntil(({ isLast }) => isLast),
    Stream.map(({ segment }) => segment)
  )
