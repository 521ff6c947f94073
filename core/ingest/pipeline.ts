/**
 * A platform's stream on its way into the store: read, find the rules, write in batches. Matches, the place in the
 * stream and its coverage are written in one step, and nothing is acknowledged before. A store that is down holds up the
 * stream and loses nothing; an event that cannot be stored is set aside and holds up nobody.
 */
import { Array as Arr, Chunk, Clock, Duration, Effect, Option, Queue, Schedule, type Scope, Stream } from "effect"
import { afterSignal, aliveAt, type Gap, type Ledger, newLedger, reopened } from "../coverage/Coverage.ts"
import type { StreamProgress, StreamStore } from "../coverage/StreamStore.ts"
import type { MatchStore } from "../matches/MatchStore.ts"
import type { MatchesUnstorable, StorageUnavailable } from "../model/Errors.ts"
import type { Steps } from "../model/Steps.ts"
import type { Delivery, Platform, Signal } from "../platforms/Platform.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { type FanOut, matchesOf } from "./fanOut.ts"

export interface Services extends FanOut {
  readonly matches: MatchStore["Type"]
  readonly streams: StreamStore["Type"]
  readonly steps: Steps["Type"]
}

/** Never ends by itself. */
export const pipeline = (services: Services, platform: Platform): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { streams } = services
    const record = yield* Effect.retry(streams.load(platform.id), untilItWorks).pipe(Effect.orDie)
    const from = Option.flatMap(record, ({ cursor }) => cursor)
    const ledger = Option.match(record, { onNone: () => newLedger, onSome: ({ ledger }) => reopened(ledger) })
    if (Option.exists(record, (stored) => stored.ledger !== ledger)) yield* Metrics.gap(platform.id, "process_down")
    const writer = new Writer(services, platform, { ledger })

    // A few chunks as they came off the wire: what waits is bounded in bytes too.
    const queue = yield* Effect.acquireRelease(Queue.bounded<Chunk.Chunk<Step>>(CHUNKS_WAITING), Queue.shutdown)
    let waiting = 0
    const read = Stream.runForEachChunk(platform.watch(from), (chunk) =>
      Effect.gen(function* () {
        const events = eventsIn(chunk)
        waiting += events
        yield* Metrics.received(platform.id, events)
        yield* Metrics.queued(platform.id, waiting)
        yield* Queue.offer(queue, chunk)
      })
    )
    // In its turn: all that came in before it is stored by then.
    const sayAlive = Effect.flatMap(Clock.currentTimeMillis, (at) =>
      Queue.offer(queue, Chunk.of({ _tag: "Alive", at }))
    ).pipe(Effect.repeat(Schedule.spaced(ALIVE_EVERY)))
    /** Less than a batch, while there is more to come. */
    let rest: ReadonlyArray<Step> = []
    const write = Effect.gen(function* () {
      const chunks = yield* Queue.takeBetween(queue, rest.length > 0 ? 0 : 1, CHUNKS_WAITING)
      const steps = [...rest, ...Chunk.flatten(chunks)]
      const isAll = yield* Queue.isEmpty(queue)
      const end = isAll ? steps.length : steps.length - (steps.length % BATCH)
      for (let at = 0; at < end; at += BATCH) yield* writer.write(steps.slice(at, Math.min(at + BATCH, end)))
      rest = steps.slice(end)
      waiting -= eventsIn(steps.slice(0, end))
      yield* Metrics.queued(platform.id, waiting)
    }).pipe(Effect.forever)
    const tellDrops = Stream.runForEach(services.registrations.drops(platform.id), ({ from, to }) =>
      Queue.offer(queue, Chunk.of({ _tag: "Dropped", from, to }))
    )
    yield* Effect.all([read, sayAlive, tellDrops, write], { concurrency: "unbounded", discard: true })
  })

/** Quickly at first, then every five seconds, for ever: a store that is down stops the stream and loses nothing. */
export const untilItWorks = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("5 seconds"))

// ---- helpers ----

/** What goes through the queue. Alive: all that came in before is in the queue before it. */
type Step =
  | Signal
  | { readonly _tag: "Alive"; readonly at: number }
  | { readonly _tag: "Dropped"; readonly from: number; readonly to: number }

const eventsIn = (steps: Iterable<Step>): number => {
  let count = 0
  for (const { _tag } of steps) if (_tag === "Event") count++
  return count
}

const CHUNKS_WAITING = 16

/** Small enough that the embedded store does not hold up everyone else for long. */
const BATCH = 500

const ALIVE_EVERY = "5 seconds"

/** Failures that follow one another as closely as this are one outage of the store. */
const SAME_TROUBLE_MILLIS = 30_000

const MOST_KEPT_ASIDE = 100_000

const DROPPED = {
  cause: "rules_dropped",
  detail: "The platform had lost rules, at most since it was last compared; others were watched for",
  isRecovered: false
} as const

class Writer {
  private readonly services: Services
  private readonly platform: Platform
  private ledger: Ledger
  /** The last time in which the store took nothing. */
  private down: { readonly from: number; to: number } | undefined

  constructor(services: Services, platform: Platform, { ledger }: { readonly ledger: Ledger }) {
    this.services = services
    this.platform = platform
    this.ledger = ledger
  }

  write(steps: ReadonlyArray<Step>): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const gaps: Array<Gap> = []
      let recoveredSince = Option.none<number>()
      for (const step of steps) {
        if (step._tag === "Alive") {
          this.ledger = aliveAt(this.ledger, step.at)
          continue
        }
        if (step._tag === "Dropped") {
          gaps.push({ ...DROPPED, from: step.from, to: step.to })
          yield* Metrics.gap(this.platform.id, DROPPED.cause)
          continue
        }
        const signal = yield* this.withTrueCause(step)
        const change = afterSignal(this.ledger, signal)
        if (signal._tag === "Blind" && change.ledger !== this.ledger) {
          yield* Metrics.gap(this.platform.id, signal.cause)
        }
        this.ledger = change.ledger
        gaps.push(...change.gaps)
        recoveredSince = Option.orElse(change.recoveredSince, () => recoveredSince)
      }
      const deliveries = steps.flatMap((step) => (step._tag === "Event" ? [step.delivery] : []))
      const last = Arr.findLast(deliveries, ({ cursor }) => Option.isSome(cursor))
      yield* this.store(deliveries, {
        platform: this.platform.id,
        ledger: this.ledger,
        gaps,
        recoveredSince,
        cursor: Option.flatMap(last, ({ cursor }) => cursor)
      })
    })
  }

  /** Without `progress` the stream stays where it is. */
  private store(deliveries: ReadonlyArray<Delivery>, progress?: StreamProgress): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const { steps } = this.services
      const hasEvents = deliveries.length > 0
      if (hasEvents) yield* steps.reached("ingest.taken")
      const matches = yield* this.insist(matchesOf(this.services, this.platform.id, deliveries))
      const [took, added] = yield* Effect.timed(this.insist(this.services.matches.insert(matches, progress)))
      yield* this.measure(deliveries, {
        matches: added,
        duplicates: matches.length - added,
        seconds: Duration.toSeconds(took)
      })
      if (hasEvents) yield* steps.reached("ingest.stored")
      yield* Effect.forEach(deliveries, ({ ack }) => ack, { discard: true })
    }).pipe(
      Effect.catchTag("MatchesUnstorable", (error) => this.storeApart(deliveries, progress, error)),
      // A bug that one event brings out must not stop those that follow.
      Effect.catchAllDefect((defect) => this.storeApart(deliveries, progress, defect))
    )
  }

  private measure(
    deliveries: ReadonlyArray<Delivery>,
    figures: { readonly matches: number; readonly duplicates: number; readonly seconds: number }
  ): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      if (deliveries.length === 0) return
      const { id, language } = this.platform
      yield* Metrics.stored(id, { ...figures, deliveries: deliveries.length })
      const now = yield* Clock.currentTimeMillis
      for (const { receivedAt, payload } of deliveries) {
        const happenedAt = language.events.timeOf(payload)
        Metrics.lagged(id, {
          sinceReceived: Math.max(0, now - receivedAt) / 1_000,
          ...(happenedAt !== undefined && { sinceEvent: (now - happenedAt) / 1_000 })
        })
      }
    })
  }

  /** Finds by halves what cannot be stored and sets it aside; the rest is stored. */
  private storeApart(
    deliveries: ReadonlyArray<Delivery>,
    progress: StreamProgress | undefined,
    reason: unknown
  ): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const [first, second] = deliveries
      if (first !== undefined && second !== undefined) {
        const half = deliveries.length >> 1
        yield* this.store(deliveries.slice(0, half))
        return yield* this.store(deliveries.slice(half), progress)
      }
      const { streams } = this.services
      if (first !== undefined) yield* this.insist(streams.setAside(yield* this.asideOf(first, reason)))
      if (progress !== undefined) yield* this.insist(streams.save(progress))
    }).pipe(
      // What cannot even be set aside is in the log, and the stream goes on.
      Effect.catchAllCause((cause) => Effect.logError(`Events of "${this.platform.id}" are lost`, cause))
    )
  }

  private asideOf({ platformPostId, payload }: Delivery, reason: unknown) {
    return Effect.gen(this, function* () {
      const words = reason instanceof Error ? reason.message : String(reason)
      yield* Metrics.setAside(this.platform.id, "unstorable")
      yield* Effect.logError(`An event of "${this.platform.id}" cannot be stored and is set aside: ${words}`, reason)
      return {
        platform: this.platform.id,
        platformPostId,
        at: yield* Clock.currentTimeMillis,
        reason: words,
        payload: JSON.stringify(payload).slice(0, MOST_KEPT_ASIDE)
      }
    })
  }

  /** Tries until the store takes it. */
  private insist<A>(effect: Effect.Effect<A, StorageUnavailable | MatchesUnstorable>) {
    const wait = ({ cause }: StorageUnavailable) =>
      Effect.gen(this, function* () {
        const at = yield* Clock.currentTimeMillis
        if (this.down === undefined || this.down.to < at - SAME_TROUBLE_MILLIS) {
          this.down = { from: at, to: at }
          yield* Effect.logWarning(`Matches of "${this.platform.id}" wait for the store`, cause)
        }
        this.down.to = at
      })
    return Effect.tapErrorTag(effect, "StorageUnavailable", wait).pipe(
      Effect.retry({ schedule: untilItWorks, while: ({ _tag }) => _tag === "StorageUnavailable" }),
      // The schedule does not end.
      Effect.catchTag("StorageUnavailable", Effect.die)
    )
  }

  /** The adapter knows what its stream is like; only here is it known what stands behind it. */
  private withTrueCause(signal: Signal): Effect.Effect<Signal> {
    return Effect.gen(this, function* () {
      if (signal._tag !== "Blind") return signal
      const { down, platform } = this
      const { rules, registrations } = this.services
      if (down !== undefined && signal.at >= down.from && signal.at <= down.to + SAME_TROUBLE_MILLIS) {
        return { ...signal, cause: "store_down" }
      }
      if (signal.cause !== "no_rules") return signal
      if ((yield* Effect.orElseSucceed(rules.wanted(platform.id), () => 0)) === 0) return signal
      // It should hold some, and holds none: they are not waited for until the next comparison is due.
      yield* Effect.forkDaemon(registrations.recheck(platform.id))
      const { error } = yield* registrations.standing(platform.id)
      return Option.match(error, {
        onNone: (): Signal => ({ ...signal, cause: "outage", detail: "The platform holds none of its rules" }),
        onSome: ({ isRefused, message }): Signal => ({
          ...signal,
          cause: isRefused ? "not_configured" : "outage",
          detail: message
        })
      })
    })
  }
}
