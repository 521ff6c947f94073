/** The port to the log of recent events of each platform, and a layer of it in memory. */
import { Context, Effect, Layer, Stream } from "effect"
import type { StorageUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"

export interface LoggedEvent {
  /** When it came in, in milliseconds. */
  readonly receivedAt: number
  /** The platform's record as JSON on one line; as `JSON.stringify` writes it, it has no character that a store refuses. */
  readonly json: string
}

/** Events that were written together. */
export interface Segment {
  /** One or more, in the order in which they came in. */
  readonly events: ReadonlyArray<LoggedEvent>
  /** How many came in right before these and were not kept. */
  readonly missed: number
}

/** How much of a platform is kept: the newest events, as many of them as stay within `size`, in characters. */
export interface Keep {
  readonly events: number
  readonly size: number
}

export class EventLog extends Context.Tag("core/EventLog")<
  EventLog,
  {
    /** Those that anything was logged of. */
    readonly platforms: Effect.Effect<ReadonlyArray<PlatformId>, StorageUnavailable>
    readonly append: (platform: PlatformId, segment: Segment) => Effect.Effect<void, StorageUnavailable>
    /**
     * Deletes the segments of which nothing is to be kept: at the end of it, a part of the oldest one may be more than
     * `events`. In small steps, so that nobody waits for long.
     */
    readonly trim: (platform: PlatformId, keep: Keep) => Effect.Effect<void, StorageUnavailable>
    /** The newest `limit` events, 1 or more, newest segment first; of the oldest segment only those within the limit. */
    readonly recent: (platform: PlatformId, limit: number) => Stream.Stream<Segment, StorageUnavailable>
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

/** The newest `limit` events of segments that come newest first. Asks for no segment that it does not need. */
export const newestOf = <E>(segments: Stream.Stream<Segment, E>, limit: number): Stream.Stream<Segment, E> =>
  segments.pipe(
    Stream.mapAccum(limit, (left, { events, missed }) => [
      left - events.length,
      { segment: { events: events.slice(-left), missed }, isLast: events.length >= left }
    ]),
    Stream.takeUntil(({ isLast }) => isLast),
    Stream.map(({ segment }) => segment)
  )
