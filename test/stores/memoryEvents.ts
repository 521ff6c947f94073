/** `EventLog` in memory. */
import { Effect, Layer, Stream } from "effect"
import {
  EventLog,
  isLogOf,
  type LogId,
  newestOf,
  type Segment,
  sizeOf,
  withoutEvents
} from "../../core/backtests/EventLog.ts"

export const memoryEvents: Layer.Layer<EventLog> = Layer.sync(EventLog, () => {
  const logs = new Map<LogId, Array<Segment>>()
  const segmentsOf = (log: LogId) => logs.get(log) ?? []

  return EventLog.of({
    logs: Effect.sync(() =>
      [...logs].flatMap(([log, segments]) => {
        const newestAt = segments.at(-1)?.events[0]?.receivedAt
        return newestAt === undefined ? [] : [{ log, newestAt }]
      })
    ),
    append: (log, segment) =>
      Effect.sync(() => {
        logs.set(log, [...segmentsOf(log), segment])
      }),
    trim: (log, keep) =>
      Effect.sync(() => {
        let { events, size } = keep
        const kept = segmentsOf(log)
          .toReversed()
          .filter((segment) => {
            const isKept = events > 0 && sizeOf(segment) <= size
            events -= segment.events.length
            size -= sizeOf(segment)
            return isKept
          })
        logs.set(log, kept.reverse())
      }),
    recent: (log, limit) =>
      newestOf(
        Stream.suspend(() => Stream.fromIterable(segmentsOf(log).toReversed())),
        limit
      ),
    remove: (platform, isUnwanted) =>
      Effect.sync(() => {
        for (const [log, segments] of logs) {
          if (!isLogOf(platform, log)) continue
          const kept = segments.map((segment) => withoutEvents(segment, isUnwanted))
          logs.set(
            log,
            kept.filter(({ events }) => events.length > 0)
          )
        }
      })
  })
})
