/** Buffers incoming events, writes them to the event log, and reads them for backtests. */
import { Array as Arr, Clock, Context, Duration, Effect, Layer, Schedule, Stream } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { Backlog, SEGMENT_EVENTS } from "./Backlog.ts"
import { EventLog, isLogOf, isOwnLog, type Keep, type LogId, newestOf, type Segment } from "./EventLog.ts"
import { mergeLogs } from "./mergeLogs.ts"

export class RecentEvents extends Context.Tag("core/RecentEvents")<
  RecentEvents,
  {
    /** Per log. 0 turns the logs off. */
    readonly keep: number
    /**
     * Buffers events without waiting. They are written within about a second; a crash loses the buffer. If the store
     * falls behind, the oldest buffered events are dropped and counted.
     */
    readonly record: (log: LogId, records: ReadonlyArray<unknown>) => Effect.Effect<void>
    /** Up to `limit` events of these logs together, newest segment first. Writes their buffers first. */
    readonly newest: (logs: ReadonlyArray<LogId>, limit: number) => Stream.Stream<Segment, StoreUnavailable>
    /** Deletes events of a platform, from the logs and from the buffers of this process. */
    readonly remove: (
      platform: PlatformId,
      isUnwanted: (json: string) => boolean
    ) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  /** Writes the buffer when its scope closes. `keep` 0 deletes the stored events. */
  static readonly layerWith = ({ keep }: { readonly keep: number }): Layer.Layer<RecentEvents, never, EventLog> =>
    Layer.scoped(
      RecentEvents,
      Effect.gen(function* () {
        const log = yield* EventLog
        const trimTo = (logs: ReadonlyArray<{ readonly log: LogId }>, limits: Keep) =>
          Effect.forEach(logs, (one) => log.trim(one.log, limits), { discard: true })

        // Not with every write, because deleting costs as much as writing. At start, because `keep` may be smaller now.
        const trim = Effect.gen(function* () {
          const idleSince = (yield* Clock.currentTimeMillis) - OWN_IDLE_MILLIS
          const all = yield* log.logs
          const shared = all.filter(({ log }) => !isOwnLog(log))
          const [idle, own] = Arr.partition(
            all.filter(({ log }) => isOwnLog(log)),
            ({ newestAt }) => newestAt >= idleSince
          )
          const share = ownShare(own.length)
          yield* trimTo(shared, { events: keep, size: KEEP_SIZE })
          yield* trimTo(own, { events: Math.ceil(keep * share), size: Math.ceil(KEEP_SIZE * share) })
          yield* trimTo(idle, { events: 0, size: 0 })
        })
        yield* trim.pipe(
          // Debug level: other services report that the store is down.
          Effect.catchAll(({ cause }) => Effect.logDebug("Cannot trim recent events", cause)),
          Effect.repeat(Schedule.spaced("10 seconds")),
          Effect.forkScoped
        )
        if (keep === 0) {
          const nothing = () => Effect.void
          return RecentEvents.of({ keep, record: nothing, newest: () => Stream.empty, remove: nothing })
        }

        const backlogs = new Map<LogId, Backlog>()
        const lock = yield* Effect.makeSemaphore(1)
        let hasWarned = false
        let dropped = 0

        const warnOnce = (...message: ReadonlyArray<unknown>) =>
          Effect.suspend(() => {
            if (hasWarned) return Effect.void
            hasWarned = true
            return Effect.logWarning(...message)
          })

        const dropOwnExcess = (): number => {
          const own = [...backlogs.values()].filter((backlog) => isOwnLog(backlog.log) && !backlog.isEmpty)
          const share = ownShare(own.length)
          return own.reduce((count, backlog) => count + backlog.dropExcess(share), 0)
        }

        const record = (log: LogId, records: ReadonlyArray<unknown>) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const backlog = backlogs.get(log) ?? new Backlog(log, keep)
            backlogs.set(log, backlog)
            const before = dropped
            dropped += backlog.add(records, now) + dropOwnExcess()
            if (dropped === before) return
            yield* warnOnce("Recent events arrive faster than the store writes them: the oldest are dropped")
          })

        /** True if it wrote a segment. */
        const writeNext = (backlog: Backlog) =>
          Effect.suspend(() => {
            const segment = backlog.take()
            if (segment === undefined) return Effect.succeed(false)
            return log.append(backlog.log, segment).pipe(
              Effect.onError(() =>
                Effect.sync(() => {
                  dropped += backlog.putBack(segment)
                })
              ),
              Effect.as(true)
            )
          }).pipe(lock.withPermits(1))

        /** Writes the buffers and sleeps `rest` times as long as each write took. */
        const write = (waiting: () => Iterable<Backlog>, rest: number) =>
          Effect.gen(function* () {
            const [took, wrote] = yield* Effect.timed(Effect.forEach([...waiting()], writeNext))
            yield* Effect.sleep(Duration.times(took, rest))
            return wrote.includes(true)
            // Bounded: does not write events that arrive meanwhile.
          }).pipe(Effect.repeat({ while: (wrote) => wrote, times: Math.ceil(keep / SEGMENT_EVENTS) }))

        const reportRecovery = Effect.suspend(() => {
          if (!hasWarned || [...backlogs.values()].some((backlog) => !backlog.isEmpty)) return Effect.void
          const message = `Recent events are written again; ${dropped} were dropped`
          hasWarned = false
          dropped = 0
          return Effect.logInfo(message)
        })

        const writeAll = (rest: number) => write(() => backlogs.values(), rest)

        yield* writeAll(REST_FACTOR).pipe(
          Effect.zipRight(reportRecovery),
          Effect.catchAll(({ cause }) => warnOnce("Cannot write recent events, retrying", cause)),
          Effect.repeat(Schedule.spaced("1 second")),
          Effect.forkScoped
        )
        // Runs before the fork above is interrupted, so that a running write is not repeated.
        yield* Effect.addFinalizer(() =>
          Effect.interruptible(writeAll(0)).pipe(
            Effect.timeout("5 seconds"),
            Effect.catchAll((error) => Effect.logWarning("Cannot write the last recent events", error))
          )
        )

        const newest = (logs: ReadonlyArray<LogId>, limit: number) => {
          const most = Math.min(limit, keep)
          const waiting = () => logs.flatMap((one) => backlogs.get(one) ?? [])
          const segments = newestOf(mergeLogs(logs.map((one) => log.recent(one, most))), most)
          return Stream.unwrap(Effect.as(write(waiting, 0), segments))
        }

        const remove = (platform: PlatformId, isUnwanted: (json: string) => boolean) => {
          const waiting = () => [...backlogs.values()].filter((backlog) => isLogOf(platform, backlog.log))
          return Effect.zipRight(write(waiting, 0), log.remove(platform, isUnwanted))
        }

        return RecentEvents.of({ keep, record, newest, remove })
      })
    )
}

// ---- helpers ----

/** In characters per log. */
const KEEP_SIZE = 64 * 1024 * 1024

/** The logs of single accounts together hold at most as much as this number of shared logs. */
const OWN_LOGS = 4

/** The log of an account that has sent no events for a week is deleted. */
const OWN_IDLE_MILLIS = 7 * 24 * 60 * 60 * 1_000

/** Equal parts: an account cannot push out the events of another by sending more. */
const ownShare = (logs: number): number => Math.min(1, OWN_LOGS / logs)

/** Limits writing to a fifth of the time: the embedded store shares the thread. */
const REST_FACTOR = 4
