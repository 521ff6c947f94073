/**
 * The ingest pipeline of one platform: read the stream, fan out to rules, write in batches. The cursor and the coverage
 * are written in the transaction of a batch's last matches; acknowledgements follow. A batch is prepared and sent while
 * the one before it is being stored, and the store keeps their order. While the store is down the stream waits
 * (back-pressure). An event that cannot be stored becomes a dead letter.
 */
import {
  Array as Arr,
  Cause,
  Chunk,
  Clock,
  Deferred,
  Duration,
  Effect,
  type Exit,
  Option,
  Queue,
  Schedule,
  type Scope,
  Stream
} from "effect"
import type { PostBudget } from "../budget/PostBudget.ts"
import type { Withdrawals, Withdrawn } from "../compliance/Withdrawals.ts"
import {
  afterRestart,
  afterSignal,
  type Gap,
  isWithin,
  type Ledger,
  type LedgerChange,
  newLedger
} from "../coverage/Coverage.ts"
import type { StreamProgress, StreamStore } from "../coverage/StreamStore.ts"
import type { Match } from "../matches/Match.ts"
import type { MatchStore } from "../matches/MatchStore.ts"
import type { MatchesUnstorable, StoreUnavailable } from "../model/Errors.ts"
import type { Failpoints } from "../model/Failpoints.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Delivery, Period, Platform, Signal } from "../platforms/Platform.ts"
import type { ShadowStore } from "../shadows/ShadowStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { type FannedOut, type FanOutServices, fanOut } from "./fanOut.ts"

export interface Services extends FanOutServices {
  readonly matches: MatchStore["Type"]
  readonly shadows: ShadowStore["Type"]
  readonly streams: StreamStore["Type"]
  readonly budget: PostBudget["Type"]
  readonly withdrawals: Withdrawals["Type"]
  readonly failpoints: Failpoints["Type"]
}

export interface CoverageOptions {
  /** This server has watched the platform since then without a break, whatever the owner before it did. */
  readonly watchingSince?: number
}

/** Never ends by itself. Without `coverage` it stores only the matches: another pipeline writes the coverage. */
export const pipeline = (
  services: Services,
  platform: Platform,
  coverage?: CoverageOptions
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { streams } = services
    const record = yield* Effect.retry(streams.load(platform.id), retryForever).pipe(Effect.orDie)
    const from = Option.flatMap(record, ({ cursor }) => cursor)
    const wasWatched = ({ watchedUntil }: Ledger) =>
      (coverage?.watchingSince ?? Number.POSITIVE_INFINITY) <= watchedUntil
    const ledger = Option.match(record, {
      onNone: () => newLedger,
      onSome: ({ ledger }) => (wasWatched(ledger) ? ledger : afterRestart(ledger))
    })
    const hasGap = Option.exists(record, (stored) => stored.ledger !== ledger)
    if (coverage !== undefined && hasGap) yield* Metrics.gap(platform.id, "process_down")
    const batch = Option.match(record, { onNone: () => 0, onSome: (stored) => stored.batch })
    const writer = new Writer(services, platform, { batch, ...(coverage !== undefined && { ledger }) })

    // Holds chunks as they were received, so that the queue is bounded in bytes, too.
    const queue = yield* Effect.acquireRelease(Queue.bounded<Chunk.Chunk<Signal>>(QUEUE_CHUNKS), Queue.shutdown)
    let waiting = 0
    // Beside a pipeline for the events there is another one for the coverage.
    const measureQueue = Effect.suspend(() =>
      coverage?.watchingSince === undefined
        ? Effect.zipRight(Metrics.queued(platform.id, waiting), services.budget.setWaiting(platform, waiting))
        : Effect.void
    )
    const read = Stream.runForEachChunk(platform.watch(from), (chunk) =>
      Effect.gen(function* () {
        const events = eventsIn(chunk)
        waiting += events
        yield* Metrics.received(platform.id, events)
        yield* measureQueue
        yield* Queue.offer(queue, chunk)
      })
    )
    // Queued behind the events received so far: when it is written, they are stored.
    const heartbeat = Effect.flatMap(Clock.currentTimeMillis, (at) =>
      Queue.offer(queue, Chunk.of({ _tag: "Alive", at }))
    ).pipe(Effect.repeat(Schedule.spaced(HEARTBEAT_INTERVAL)))
    /** Taken from the queue, for the next batches. */
    let rest: ReadonlyArray<Signal> = []
    const nextItems = Effect.gen(function* () {
      while (rest.length < BATCH) {
        const chunks = yield* Queue.takeBetween(queue, rest.length > 0 ? 0 : 1, QUEUE_CHUNKS)
        if (Chunk.isEmpty(chunks)) break
        rest = [...rest, ...Chunk.flatten(chunks)]
      }
      const size = batchSizeOf(rest)
      const items = rest.slice(0, size)
      rest = rest.slice(size)
      return items
    })
    // Batches get their order here, so one is prepared at a time.
    const preparing = yield* Effect.makeSemaphore(1)
    const write = Effect.gen(function* () {
      const { items, store } = yield* preparing.withPermits(1)(
        Effect.flatMap(nextItems, (items) => Effect.map(writer.prepare(items), (store) => ({ items, store })))
      )
      yield* store
      waiting -= eventsIn(items)
      yield* measureQueue
    }).pipe(Effect.forever)
    const writes = Arr.replicate(write, BATCHES_IN_FLIGHT)
    const heartbeats = platform.capabilities.sendsAlive || coverage === undefined ? [] : [heartbeat]
    yield* Effect.all([read, ...writes, ...heartbeats], { concurrency: "unbounded", discard: true })
  })

/** Exponential backoff up to five seconds, without end. */
export const retryForever = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("5 seconds"))

// ---- helpers ----

const cursorOf = (item: Signal): Option.Option<string> =>
  item._tag === "Event" ? item.delivery.cursor : item._tag === "Alive" ? (item.cursor ?? Option.none()) : Option.none()

const eventsIn = (items: Iterable<Signal>): number => {
  let count = 0
  for (const { _tag } of items) if (_tag === "Event") count++
  return count
}

/** A batch ends with what is withdrawn: the cursor of the next one shows that this is obeyed. */
const batchSizeOf = (items: ReadonlyArray<Signal>): number => {
  const first = items.findIndex(isWithdrawn)
  const next = first < 0 ? -1 : items.findIndex((item, index) => index > first && !isWithdrawn(item))
  return Math.min(BATCH, first < 0 || next < 0 ? items.length : next)
}

const isWithdrawn = (item: Signal): item is Withdrawn => item._tag === "Withdrawn"

const QUEUE_CHUNKS = 16

/** Small, because the embedded store runs one statement at a time. */
const BATCH = 500

/** While one is being stored, the store reads the next one. More would only wait. */
const BATCHES_IN_FLIGHT = 2

const HEARTBEAT_INTERVAL = "5 seconds"

/** Failures closer together than this belong to one outage of the store. */
const SAME_OUTAGE_MILLIS = 30_000

const MAX_PAYLOAD = 100_000

const MAX_IN_EFFECT = 100_000

const keyOf = ({ ruleId, platformRuleId }: FannedOut["met"][number]): string => `${ruleId} ${platformRuleId}`

const ALL_PAUSED = "All rules are paused: the monthly budget is used up"

/** Where some events belong in their stream. */
interface Place {
  /** Without it the cursor does not move. */
  readonly progress: StreamProgress | undefined
  /** Waits until the batch before is stored. */
  readonly previous: Effect.Effect<void>
  readonly fannedOut: Exit.Exit<FannedOut, MatchesUnstorable>
}

class Writer {
  private readonly services: Services
  private readonly platform: Platform
  /** Undefined if another pipeline writes the coverage. */
  private ledger: Ledger | undefined
  /** The number of the last batch. */
  private batch: number
  /** Waits until the last batch is stored. */
  private lastStored: Effect.Effect<void> = Effect.void
  /** The last batch ended with posts to withdraw. */
  private isWithdrawing = false
  /** Rules with their rules of the platform that have received an event. */
  private readonly inEffect = new Set<string>()
  /** The last outage of the store. */
  private outage: { readonly from: number; to: number } | undefined

  constructor(
    services: Services,
    platform: Platform,
    { batch, ledger }: { readonly batch: number; readonly ledger?: Ledger }
  ) {
    this.services = services
    this.platform = platform
    this.batch = batch
    this.ledger = ledger
  }

  /** Returns the effect that stores the batch. It may run while the batch before is being stored. */
  prepare(items: ReadonlyArray<Signal>): Effect.Effect<Effect.Effect<void>> {
    return Effect.gen(this, function* () {
      const coverage = yield* this.coverageAfter(items)
      const deliveries = items.flatMap((item) => (item._tag === "Event" ? [item.delivery] : []))
      const last = Arr.findLast(items, (item) => Option.isSome(cursorOf(item)))
      const withdrawn = items.filter(isWithdrawn)
      const [intact, damaged] = Arr.partition(deliveries, (delivery) => delivery.damaged !== undefined)
      const cursor = Option.flatMap(last, cursorOf)
      const batch = ++this.batch
      const progress = coverage && { platform: this.platform.id, ...coverage, cursor, batch }
      const fannedOut = yield* Effect.exit(this.fanOut(intact))
      const previous = this.lastStored
      if (this.isWithdrawing) yield* previous
      this.isWithdrawing = withdrawn.length > 0
      yield* Effect.orDie(this.retry(this.services.withdrawals.note(this.platform, deliveries)))
      const stored = yield* Deferred.make<void>()
      this.lastStored = Deferred.await(stored)
      return Effect.gen(this, function* () {
        for (const delivery of damaged) yield* this.storeHalves([delivery], undefined, delivery.damaged?.reason)
        yield* this.store(intact, { progress, previous, fannedOut })
        yield* this.withdraw(withdrawn)
        for (const item of items) if (item._tag === "Alive" && item.ack !== undefined) yield* item.ack
        yield* Deferred.succeed(stored, undefined)
      })
    })
  }

  private coverageAfter(items: ReadonlyArray<Signal>): Effect.Effect<LedgerChange | undefined> {
    return Effect.gen(this, function* () {
      if (this.ledger === undefined) return undefined
      const gaps: Array<Gap> = []
      const recovered: Array<Period> = []
      let ledger = this.ledger
      for (const item of items) {
        const signal = yield* this.withActualCause(item)
        const change = afterSignal(ledger, signal)
        if (signal._tag === "GapStarted" && change.ledger !== ledger) {
          yield* Metrics.gap(this.platform.id, signal.cause)
        }
        if (signal._tag === "Lost") yield* Metrics.gap(this.platform.id, signal.cause)
        ledger = change.ledger
        gaps.push(...change.gaps)
        recovered.push(...change.recovered)
      }
      this.ledger = ledger
      // The store marks only the gaps that it has already.
      const isReplayed = (gap: Gap) => recovered.some((period) => isWithin(gap, period))
      return { ledger, gaps: gaps.map((gap) => (isReplayed(gap) ? { ...gap, isRecovered: true } : gap)), recovered }
    })
  }

  private fanOut(deliveries: ReadonlyArray<Delivery>): Effect.Effect<FannedOut, MatchesUnstorable> {
    return Effect.gen(this, function* () {
      if (deliveries.length > 0) yield* this.services.failpoints.hit("ingest.taken")
      return yield* this.retry(fanOut(this.services, this.platform, deliveries))
    })
  }

  private store(deliveries: ReadonlyArray<Delivery>, { progress, previous, fannedOut }: Place): Effect.Effect<void> {
    if (deliveries.length === 0 && progress === undefined) return previous
    return Effect.gen(this, function* () {
      const { failpoints } = this.services
      const hasEvents = deliveries.length > 0
      const { matches, shadows, met } = yield* fannedOut
      // First: if the process dies in between, the events come again, or lie in a gap.
      if (shadows.length > 0) yield* this.retry(this.services.shadows.insert(shadows))
      const [took, added] = yield* Effect.timed(this.insert(matches, progress, previous))
      // Acknowledges in order.
      yield* previous
      yield* this.measure(deliveries, {
        matches: added,
        duplicates: matches.length - added,
        seconds: Duration.toSeconds(took)
      })
      yield* this.services.budget.count(this.platform, { posts: deliveries.length, matches, added })
      yield* this.noteEffect(met, deliveries)
      if (hasEvents) yield* failpoints.hit("ingest.stored")
      yield* Effect.forEach(deliveries, ({ ack }) => ack, { discard: true })
    }).pipe(
      Effect.catchTag("MatchesUnstorable", (error) =>
        Effect.zipRight(previous, this.storeHalves(deliveries, progress, error))
      ),
      // A defect caused by one event must not stop the others.
      Effect.catchAllDefect((defect) => Effect.zipRight(previous, this.storeHalves(deliveries, progress, defect)))
    )
  }

  private withdraw(withdrawn: ReadonlyArray<Withdrawn>): Effect.Effect<void> {
    if (withdrawn.length === 0) return Effect.void
    return this.retry(
      Effect.catchTag(this.services.withdrawals.withdraw(this.platform, withdrawn), "PlatformNotConfigured", Effect.die)
    ).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.interrupt
          : Effect.logError(`Cannot remove posts that "${this.platform.id}" has withdrawn`, cause)
      )
    )
  }

  private insert(
    matches: ReadonlyArray<Match>,
    progress: StreamProgress | undefined,
    previous: Effect.Effect<void>
  ): Effect.Effect<number, MatchesUnstorable> {
    const store = this.services.matches
    const afterPrevious = Effect.flatMap(previous, () => this.retry(store.insert(matches, progress)))
    // The statement sees the gaps before it: a change of gaps waits for the batch before.
    const canOverlap =
      progress !== undefined && matches.length > 0 && progress.gaps.length + progress.recovered.length === 0
    if (!canOverlap) return afterPrevious
    return Effect.flatMap(
      this.retry(store.insertNext(matches, progress)),
      Option.match({
        onNone: () => afterPrevious,
        onSome: Effect.succeed
      })
    )
  }

  /** The first event for a rule of the platform shows that it has taken effect. If this fails, that shows later. */
  private noteEffect(met: FannedOut["met"], deliveries: ReadonlyArray<Delivery>): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const { id, capabilities } = this.platform
      if (capabilities.ruleDelayMillis === undefined) return
      const fresh = met.filter((link) => !this.inEffect.has(keyOf(link)))
      if (fresh.length === 0) return
      // Earlier events may have met it already, but those that happen after this one do.
      const at = Timestamp.fromMillis(Math.max(...deliveries.map(({ receivedAt }) => receivedAt)))
      yield* this.services.rules.tookEffect(id, [...new Set(fresh.map(({ ruleId }) => ruleId))], at)
      if (this.inEffect.size > MAX_IN_EFFECT) this.inEffect.clear()
      for (const link of fresh) this.inEffect.add(keyOf(link))
    }).pipe(Effect.ignore)
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
        Metrics.observeLag(id, {
          sinceReceived: Math.max(0, now - receivedAt) / 1_000,
          ...(happenedAt !== undefined && { sinceEvent: (now - happenedAt) / 1_000 })
        })
      }
    })
  }

  /** Bisects the batch: events that cannot be stored become dead letters, the rest is stored. */
  private storeHalves(
    deliveries: ReadonlyArray<Delivery>,
    progress: StreamProgress | undefined,
    reason: unknown
  ): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      const [first, second] = deliveries
      if (first !== undefined && second !== undefined) {
        const half = deliveries.length >> 1
        yield* this.storeHalf(deliveries.slice(0, half))
        return yield* this.storeHalf(deliveries.slice(half), progress)
      }
      const { streams } = this.services
      if (first !== undefined) yield* this.retry(streams.addDeadLetter(yield* this.deadLetterOf(first, reason)))
      if (progress !== undefined) yield* this.retry(streams.save(progress))
    }).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.interrupt
          : Effect.logError(`Lost events of "${this.platform.id}"`, cause)
      )
    )
  }

  private storeHalf(deliveries: ReadonlyArray<Delivery>, progress?: StreamProgress): Effect.Effect<void> {
    return Effect.flatMap(Effect.exit(this.fanOut(deliveries)), (fannedOut) =>
      this.store(deliveries, { progress, previous: Effect.void, fannedOut })
    )
  }

  private deadLetterOf({ platformPostId, payload, damaged }: Delivery, reason: unknown) {
    return Effect.gen(this, function* () {
      const message = reason instanceof Error ? reason.message : String(reason)
      yield* Metrics.deadLettered(this.platform.id, "unstorable")
      yield* Effect.logError(
        `Cannot store an event of "${this.platform.id}", moved it to the dead letters: ${message}`,
        reason
      )
      return {
        platform: this.platform.id,
        platformPostId,
        at: yield* Clock.currentTimeMillis,
        reason: message,
        payload: (damaged?.text ?? JSON.stringify(payload)).slice(0, MAX_PAYLOAD)
      }
    })
  }

  private retry<A>(effect: Effect.Effect<A, StoreUnavailable | MatchesUnstorable>) {
    const wait = ({ cause }: StoreUnavailable) =>
      Effect.gen(this, function* () {
        const at = yield* Clock.currentTimeMillis
        if (this.outage === undefined || this.outage.to < at - SAME_OUTAGE_MILLIS) {
          this.outage = { from: at, to: at }
          yield* Effect.logWarning(`Cannot store matches of "${this.platform.id}", retrying`, cause)
        }
        this.outage.to = at
      })
    return Effect.tapErrorTag(effect, "StoreUnavailable", wait).pipe(
      Effect.retry({ schedule: retryForever, while: ({ _tag }) => _tag === "StoreUnavailable" }),
      // Unreachable: the schedule does not end.
      Effect.catchTag("StoreUnavailable", Effect.die)
    )
  }

  /** The adapter sees only its stream. The cause may be an outage of the store, or rules that the platform lost. */
  private withActualCause(signal: Signal): Effect.Effect<Signal> {
    return Effect.gen(this, function* () {
      if (signal._tag !== "GapStarted") return signal
      const { outage, platform } = this
      const { rules, registrations } = this.services
      if (outage !== undefined && signal.at >= outage.from && signal.at <= outage.to + SAME_OUTAGE_MILLIS) {
        return { ...signal, cause: "store_down" }
      }
      if (signal.cause !== "no_rules") return signal
      if ((yield* Effect.orElseSucceed(rules.wanted(platform.id), () => 0)) === 0) {
        const paused = yield* Effect.orElseSucceed(rules.paused(platform.id), () => 0)
        return paused === 0 ? signal : { ...signal, cause: "budget", detail: ALL_PAUSED }
      }
      // The platform lost its rules: compare now instead of waiting for the next round.
      yield* Effect.forkDaemon(registrations.recheck(platform.id))
      const { error } = yield* registrations.syncStatus(platform.id)
      return Option.match(error, {
        onNone: (): Signal => ({ ...signal, cause: "outage", detail: "The platform has lost all rules" }),
        onSome: ({ isRefused, message }): Signal => ({
          ...signal,
          cause: isRefused ? "not_configured" : "outage",
          detail: message
        })
      })
    })
  }
}
