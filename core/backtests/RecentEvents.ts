/** Buffers incoming events, writes them to the event log, and reads them for backtests. */
import { Clock, Context, Duration, Effect, Layer, Schedule, Stream } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { EventLog, type LoggedEvent, type Segment } from "./EventLog.ts"

export class RecentEvents extends Context.Tag("core/RecentEvents")<
  RecentEvents,
  {
    /** Per platform. 0 turns the log off. */
    readonly keep: number
    /**
     * Buffers events without waiting. They are written within about a second; a crash loses the buffer. If the store
     * falls behind, the oldest buffered events are dropped and counted.
     */
    readonly record: (platform: PlatformId, records: ReadonlyArray<unknown>) => Effect.Effect<void>
    /** Up to `limit` events, newest segment first. Writes the buffer first. */
    readonly newest: (platform: PlatformId, limit: number) => Stream.Stream<Segment, StoreUnavailable>
  }
>() {
  /** Writes the buffer when its scope closes. `keep` 0 deletes the stored events. */
  static readonly layerWith = ({ keep }: { readonly keep: number }): Layer.Layer<RecentEvents, never, EventLog> =>
    Layer.scoped(
      RecentEvents,
      Effect.gen(function* () {
        const log = yield* EventLog
        // Not with every write, because deleting costs as much as writing. At start, because `keep` may be smaller now.
        const trim = (platform: PlatformId) => log.trim(platform, { events: keep, size: KEEP_SIZE })
        yield* Effect.flatMap(log.platforms, Effect.forEach(trim)).pipe(
          // Debug level: other services report that the store is down.
          Effect.catchAll(({ cause }) => Effect.logDebug("Cannot trim recent events", cause)),
          Effect.repeat(Schedule.spaced("10 seconds")),
          Effect.forkScoped
        )
        if (keep === 0) return RecentEvents.of({ keep, record: () => Effect.void, newest: () => Stream.empty })

        const backlogs = new Map<PlatformId, Backlog>()
        const lock = yield* Effect.makeSemaphore(1)
        let hasWarned = false
        let dropped = 0

        const warnOnce = (...message: ReadonlyArray<unknown>) =>
          Effect.suspend(() => {
            if (hasWarned) return Effect.void
            hasWarned = true
            return Effect.logWarning(...message)
          })

        const record = (platform: PlatformId, records: ReadonlyArray<unknown>) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const backlog = backlogs.get(platform) ?? new Backlog(platform, keep)
            backlogs.set(platform, backlog)
            const before = dropped
            dropped += backlog.add(records, now)
            if (dropped === before) return
            yield* warnOnce("Recent events arrive faster than the store writes them: the oldest are dropped")
          })

        /** True if it wrote a segment. */
        const writeNext = (backlog: Backlog) =>
          Effect.suspend(() => {
            const segment = backlog.take()
            if (segment === undefined) return Effect.succeed(false)
            return log.append(backlog.platform, segment).pipe(
              Effect.onError(() =>
                Effect.sync(() => {
                  dropped += backlog.putBack(segment)
                })
              ),
              Effect.as(true)
            )
          }).pipe(lock.withPermits(1))

        /** Writes the buffer and sleeps `rest` times as long as each write took. */
        const write = (rest: number) =>
          Effect.gen(function* () {
            const [took, wrote] = yield* Effect.timed(Effect.forEach([...backlogs.values()], writeNext))
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

        yield* write(REST_FACTOR).pipe(
          Effect.zipRight(reportRecovery),
          Effect.catchAll(({ cause }) => warnOnce("Cannot write recent events, retrying", cause)),
          Effect.repeat(Schedule.spaced("1 second")),
          Effect.forkScoped
        )
        // Runs before the fork above is interrupted, so that a running write is not repeated.
        yield* Effect.addFinalizer(() =>
          Effect.interruptible(write(0)).pipe(
            Effect.timeout("5 seconds"),
            Effect.catchAll((error) => Effect.logWarning("Cannot write the last recent events", error))
          )
        )

        const newest = (platform: PlatformId, limit: number) =>
          Stream.unwrap(Effect.as(write(0), log.recent(platform, Math.min(limit, keep))))

        return RecentEvents.of({ keep, record, newest })
      })
    )
}

// ---- helpers ----

/** In characters per platform: in the store, and in the buffer. */
const KEEP_SIZE = 64 * 1024 * 1024
const MAX_WAITING_SIZE = 16 * 1024 * 1024

const SEGMENT_EVENTS = 500
const SEGMENT_SIZE = 1024 * 1024

/** Limits writing to a fifth of the time: the embedded store shares the thread. */
const REST_FACTOR = 4

/** The write buffer of a platform. */
class Backlog {
  readonly platform: PlatformId
  /** As large as the log, so that a burst of that size is kept whole. */
  private readonly limit: number
  private events: Array<LoggedEvent> = []
  private size = 0
  private missed = 0

  constructor(platform: PlatformId, limit: number) {
    this.platform = platform
    this.limit = limit
  }

  get isEmpty(): boolean {
    return this.events.length === 0
  }

  /** Returns the number of events dropped. */
  add(records: ReadonlyArray<unknown>, receivedAt: number): number {
    for (const record of records) {
      const json = toJson(record)
      if (json === undefined) this.missed++
      else this.push({ receivedAt, json })
    }
    return this.dropExcess()
  }

  take(): Segment | undefined {
    let count = 0
    let size = 0
    for (const { json } of this.events) {
      if (count === SEGMENT_EVENTS || (count > 0 && size + json.length > SEGMENT_SIZE)) break
      count++
      size += json.length
    }
    if (count === 0) return undefined
    const segment = { events: this.events.splice(0, count), missed: this.missed }
    this.size -= size
    this.missed = 0
    return segment
  }

  /** For a segment that could not be written. Returns the number of events dropped. */
  putBack({ events, missed }: Segment): number {
    const newer = this.events
    this.events = []
    this.size = 0
    for (const event of [...events, ...newer]) this.push(event)
    this.missed += missed
    return this.dropExcess()
  }

  private push(event: LoggedEvent): void {
    this.events.push(event)
    this.size += event.json.length
  }

  private dropExcess(): number {
    let count = 0
    for (const { json } of this.events) {
      if (this.events.length - count <= this.limit && this.size <= MAX_WAITING_SIZE) break
      this.size -= json.length
      count++
    }
    this.events.splice(0, count)
    this.missed += count
    return count
  }
}

/** Undefined for a value that JSON cannot represent. */
const toJson = (record: unknown): string | undefined => {
  try {
    return JSON.stringify(record)
  } catch {
    return undefined
  }
}
