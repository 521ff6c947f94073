/** The recent events of each platform: collected as they come in, kept in the log, read again by backtests. */
import { Clock, Context, Duration, Effect, Layer, Schedule, Stream } from "effect"
import type { StorageUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { EventLog, type LoggedEvent, type Segment } from "./EventLog.ts"

export class RecentEvents extends Context.Tag("core/RecentEvents")<
  RecentEvents,
  {
    /** How many events of a platform are kept; 0 when none are. */
    readonly keep: number
    /**
     * Takes note of events as their platform streams them. Never fails and waits for nothing: they are written within
     * about a second, and a process that is killed loses those. When more come than the store takes, the oldest of
     * those that wait are given up and counted.
     */
    readonly record: (platform: PlatformId, records: ReadonlyArray<unknown>) => Effect.Effect<void>
    /** The newest events, `limit` or as many as are kept, newest segment first; also those recorded just now. */
    readonly newest: (platform: PlatformId, limit: number) => Stream.Stream<Segment, StorageUnavailable>
  }
>() {
  /** Writes what still waits when its scope closes. `keep` 0 keeps nothing, and drops what was kept before. */
  static readonly layerWith = ({ keep }: { readonly keep: number }): Layer.Layer<RecentEvents, never, EventLog> =>
    Layer.scoped(
      RecentEvents,
      Effect.gen(function* () {
        const log = yield* EventLog
        // Not with every write: deleting costs as much as writing. At the start there may be more than is kept now.
        const trim = (platform: PlatformId) => log.trim(platform, { events: keep, size: KEEP_SIZE })
        yield* Effect.flatMap(log.platforms, Effect.forEach(trim)).pipe(
          // It is tried again soon; that the store is away is told by those who need it more.
          Effect.catchAll(({ cause }) => Effect.logDebug("Recent events could not be trimmed", cause)),
          Effect.repeat(Schedule.spaced("10 seconds")),
          Effect.forkScoped
        )
        if (keep === 0) return RecentEvents.of({ keep, record: () => Effect.void, newest: () => Stream.empty })

        const backlogs = new Map<PlatformId, Backlog>()
        const oneAtATime = yield* Effect.makeSemaphore(1)
        let isInTrouble = false
        let givenUp = 0

        const warnOnce = (...message: ReadonlyArray<unknown>) =>
          Effect.suspend(() => {
            if (isInTrouble) return Effect.void
            isInTrouble = true
            return Effect.logWarning(...message)
          })

        const record = (platform: PlatformId, records: ReadonlyArray<unknown>) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const backlog = backlogs.get(platform) ?? new Backlog(platform, keep)
            backlogs.set(platform, backlog)
            const before = givenUp
            givenUp += backlog.add(records, now)
            if (givenUp === before) return
            yield* warnOnce("Recent events come in faster than the store takes them: the oldest that wait are given up")
          })

        /** True when something was written. */
        const writeNext = (backlog: Backlog) =>
          Effect.suspend(() => {
            const segment = backlog.take()
            if (segment === undefined) return Effect.succeed(false)
            return log.append(backlog.platform, segment).pipe(
              Effect.onError(() =>
                Effect.sync(() => {
                  givenUp += backlog.putBack(segment)
                })
              ),
              Effect.as(true)
            )
          }).pipe(oneAtATime.withPermits(1))

        /** Writes what waits, and rests `rest` times as long as that takes. */
        const write = (rest: number) =>
          Effect.gen(function* () {
            const [took, wrote] = yield* Effect.timed(Effect.forEach([...backlogs.values()], writeNext))
            yield* Effect.sleep(Duration.times(took, rest))
            return wrote.includes(true)
            // Whoever waits for this does not wait for what comes in meanwhile.
          }).pipe(Effect.repeat({ while: (wrote) => wrote, times: Math.ceil(keep / SEGMENT_EVENTS) }))

        const calmDown = Effect.suspend(() => {
          if (!isInTrouble || [...backlogs.values()].some((backlog) => !backlog.isEmpty)) return Effect.void
          const message = `Recent events are all written again; ${givenUp} were given up`
          isInTrouble = false
          givenUp = 0
          return Effect.logInfo(message)
        })

        yield* write(REST).pipe(
          Effect.zipRight(calmDown),
          Effect.catchAll(({ cause }) => warnOnce("Recent events wait for the store", cause)),
          Effect.repeat(Schedule.spaced("1 second")),
          Effect.forkScoped
        )
        // After the fork, and so before its end: what is being written is not cut off, to be written a second time.
        yield* Effect.addFinalizer(() =>
          Effect.interruptible(write(0)).pipe(
            Effect.timeout("5 seconds"),
            Effect.catchAll((error) => Effect.logWarning("The last recent events were not written", error))
          )
        )

        const newest = (platform: PlatformId, limit: number) =>
          Stream.unwrap(Effect.as(write(0), log.recent(platform, Math.min(limit, keep))))

        return RecentEvents.of({ keep, record, newest })
      })
    )
}

// ---- helpers ----

/** In characters, for each platform: what a platform's events may take in the store, and in the memory of a process. */
const KEEP_SIZE = 64 * 1024 * 1024
const MOST_WAITING_SIZE = 16 * 1024 * 1024

/** What is written at once. */
const SEGMENT_EVENTS = 500
const SEGMENT_SIZE = 1024 * 1024

/** In a flood, at most a fifth of the time goes into the log: the embedded store shares its thread with everyone. */
const REST = 4

/** The events of a platform that wait to be written. */
class Backlog {
  readonly platform: PlatformId
  /** As many as are kept may wait: what is handed in at once can then be tested on as a whole. */
  readonly #most: number
  #events: Array<LoggedEvent> = []
  #size = 0
  #missed = 0

  constructor(platform: PlatformId, most: number) {
    this.platform = platform
    this.#most = most
  }

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  /** How many events were given up for these. */
  add(records: ReadonlyArray<unknown>, receivedAt: number): number {
    for (const record of records) {
      const json = written(record)
      if (json === undefined) this.#missed++
      else this.#push({ receivedAt, json })
    }
    return this.#giveUp()
  }

  take(): Segment | undefined {
    let count = 0
    let size = 0
    for (const { json } of this.#events) {
      if (count === SEGMENT_EVENTS || (count > 0 && size + json.length > SEGMENT_SIZE)) break
      count++
      size += json.length
    }
    if (count === 0) return undefined
    const segment = { events: this.#events.splice(0, count), missed: this.#missed }
    this.#size -= size
    this.#missed = 0
    return segment
  }

  /** For a segment that could not be written. How many events were given up for it. */
  putBack({ events, missed }: Segment): number {
    const since = this.#events
    this.#events = []
    this.#size = 0
    for (const event of [...events, ...since]) this.#push(event)
    this.#missed += missed
    return this.#giveUp()
  }

  #push(event: LoggedEvent): void {
    this.#events.push(event)
    this.#size += event.json.length
  }

  #giveUp(): number {
    let count = 0
    for (const { json } of this.#events) {
      if (this.#events.length - count <= this.#most && this.#size <= MOST_WAITING_SIZE) break
      this.#size -= json.length
      count++
    }
    this.#events.splice(0, count)
    this.#missed += count
    return count
  }
}

/** Undefined for what cannot be written as JSON. */
const written = (record: unknown): string | undefined => {
  try {
    return JSON.stringify(record)
  } catch {
    return undefined
  }
}
