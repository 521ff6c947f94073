/** Backtests: tests a filter against the recent events of its platform that the account may see. */

import { Clock, Context, Effect, Either, Layer, Option, Schema, Stream } from "effect"
import type { EventFormat, Language } from "../languages/Language.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { wholeNumber } from "../model/wholeNumber.ts"
import type { Platform } from "../platforms/Platform.ts"
import { evaluateInTurns } from "../syntax/expression/evaluate.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { jsonOf } from "../text/json.ts"
import { inTurns, Pace, type Turns, withMeter } from "../work/turns.ts"
import { type LoggedEvent, ownLog, type Segment } from "./EventLog.ts"
import { RecentEvents } from "./RecentEvents.ts"
import { type RuleSet, ruleSet } from "./ruleSet.ts"
import { SeenEvents } from "./SeenEvents.ts"

export const BacktestRequest = Schema.Struct({
  events: wholeNumber({ max: 100_000, fallback: 1_000 }).annotations({
    description: "How many of the newest events of each platform to test, limited by how many the server keeps"
  }),
  samples: wholeNumber({ min: 0, max: 20, fallback: 3 }).annotations({
    description: "How many matching events to return"
  })
})
export type BacktestRequest = typeof BacktestRequest.Type

export const Basis = Schema.Literal("all_events", "matched_events").annotations({
  identifier: "Basis",
  description:
    "all_events: the platform runs in this process, and the tested events are all recent ones. matched_events: a real platform sends only events that match some rule of this server, so the tested events are those; matched is then a lower bound, and share and per_hour are absent"
})
export type Basis = typeof Basis.Type

/** A real platform sends only events that match some rule, or this server keeps only those. */
export const basisOf = ({ capabilities: { isRemote, keepsAllEvents } }: Platform): Basis =>
  isRemote && keepsAllEvents !== true ? "matched_events" : "all_events"

export const Backtest = Schema.Struct({
  basis: Basis,
  tested: count("The number of distinct events tested"),
  matched: count("How many of them match"),
  already_matched: count("How many of the matching events also match an active rule of your account"),
  share: optional(Schema.Number, "matched / tested; absent if no event was tested, and with the basis matched_events"),
  per_hour: optional(
    Schema.Number,
    "Matches per hour, by event time or else receive time. Live and recorded events have a rate each, over the time that they span, and this is the sum; absent if one with matches spans less than a minute, and with the basis matched_events"
  ),
  recorded: optional(
    Schema.Number,
    "How many of the tested events were recorded: more than an hour old when they were received, as in a replay; absent if 0, and with the basis matched_events"
  ),
  from: optional(Timestamp.Timestamp, "Time of the oldest event tested: event time or else receive time"),
  to: optional(Timestamp.Timestamp, "Time of the newest event tested"),
  samples: eventList("Matching events, newest first, as delivered by the platform"),
  newest: optional(eventList("If none matches: the newest events tested, as many as samples were wanted")),
  unreadable: optional(Schema.Number, "How many events could not be parsed and were not tested; absent if 0"),
  missed: optional(
    Schema.Number,
    "How many events of the same period were not kept, because of a burst or an outage of the store; per_hour accounts for them"
  ),
  note: optional(Schema.String, "Why fewer events were tested than requested")
}).annotations({ identifier: "Backtest" })
export type Backtest = typeof Backtest.Type

/** A rule of an account, stored or not. */
export interface OwnedRule {
  readonly account: AccountId
  readonly language: Language
  /** What the recent events of the platform are. */
  readonly basis: Basis
  readonly expression: Expression
  /** The filters of the account's active rules on the platform. */
  readonly present: ReadonlyArray<string>
}

/** The newest events that an account may see on a platform. */
export interface Visible {
  readonly account: AccountId
  readonly platform: PlatformId
  /** The maximum number. */
  readonly events: number
}

/** Gets events newest first, a few at a time. */
export interface Visitor {
  readonly visit: (events: ReadonlyArray<LoggedEvent>) => Turns<void>
  /** `missed` events were dropped before those visited since the last call. */
  readonly endSegment?: (missed: number) => void
  /** True once no further event is needed. */
  readonly isDone?: () => boolean
}

export class Backtests extends Context.Tag("core/Backtests")<
  Backtests,
  {
    /**
     * On shared events and the account's own. Works for at most ten seconds, however long it waits for the store and for
     * its turns, and yields to other fibers every few milliseconds. Ends after two minutes, so that no caller waits forever.
     */
    readonly run: (rule: OwnedRule, request: BacktestRequest) => Effect.Effect<Backtest, StoreUnavailable>
    /** With the limits of `run`. Returns why fewer events were visited than wanted. */
    readonly scan: (visible: Visible, visitor: Visitor) => Effect.Effect<Option.Option<string>, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Backtests, never, RecentEvents> = Layer.effect(
    Backtests,
    Effect.gen(function* () {
      const recent = yield* RecentEvents
      // One slice of one backtest at a time, followed by a yield to the rest of the process.
      const lock = yield* Effect.makeSemaphore(1)
      const runExclusive = <A>(work: Turns<A>) => lock.withPermits(1)(Effect.zipLeft(inTurns(work), Effect.sleep(0)))

      const scan = Effect.fn("Backtests.scan")(function* ({ account, platform, events }: Visible, visitor: Visitor) {
        const end = (yield* Clock.currentTimeMillis) + MAX_WAIT_MILLIS
        const isDone = () => visitor.isDone?.() ?? false
        let stopped: Stopped | undefined
        let isEmpty = true

        const visitSegment = (segment: Segment, workedSeconds: () => number) =>
          Effect.gen(function* () {
            isEmpty = false
            for (const slice of slicesOf(segment.events.toReversed())) {
              if (stopped !== undefined || isDone()) break
              yield* runExclusive(visitor.visit(slice))
              if (workedSeconds() >= MAX_WORK_SECONDS) stopped = "worked"
              else if ((yield* Clock.currentTimeMillis) >= end) stopped = "waited"
            }
            visitor.endSegment?.(segment.missed)
            return stopped !== undefined || isDone()
          })

        yield* withMeter((workedSeconds) =>
          recent.newest([platform, ownLog(platform, account)], events).pipe(
            Stream.takeUntilEffect((segment) => visitSegment(segment, workedSeconds)),
            Stream.runDrain
          )
        )
        return noteOf({ platform, keep: recent.keep, stopped, isEmpty })
      })

      const run = Effect.fn("Backtests.run")(function* (
        { account, language, basis, expression, present }: OwnedRule,
        { events, samples }: BacktestRequest
      ) {
        const own = yield* runExclusive(ruleSet(present, language))
        const tally = new Tally({ format: language.events, expression, own, basis, maxSamples: samples })
        const note = yield* scan({ account, platform: language.id, events }, tally)
        return { ...tally.result(), ...Option.match(note, { onNone: () => ({}), onSome: (note) => ({ note }) }) }
      })

      return Backtests.of({ run, scan })
    })
  )
}

// ---- helpers ----

/** Of its own turns. */
const MAX_WORK_SECONDS = 10

/** Of the clock: a busy server gives it few turns. */
const MAX_WAIT_MILLIS = 120_000

/** Why it ended early. */
type Stopped = "worked" | "waited"

/** The work between two yields: a few milliseconds. */
const SLICE_EVENTS = 100
const SLICE_SIZE = 64 * 1024

const MIN_SPAN_MILLIS = 60_000

const HOUR_MILLIS = 3_600_000

/** An event that is older when it is received was recorded. */
const LIVE_MILLIS = HOUR_MILLIS

/** The last millisecond of the year 9999. */
const LAST_MILLIS = 253_402_300_799_999

function* slicesOf(events: ReadonlyArray<LoggedEvent>): Generator<ReadonlyArray<LoggedEvent>> {
  let slice: Array<LoggedEvent> = []
  let size = 0
  for (const event of events) {
    slice.push(event)
    size += event.json.length
    if (slice.length < SLICE_EVENTS && size < SLICE_SIZE) continue
    yield slice
    slice = []
    size = 0
  }
  yield slice
}

interface TallyOptions {
  readonly format: EventFormat
  readonly expression: Expression
  /** The account's rules on the platform. */
  readonly own: RuleSet
  readonly basis: Basis
  readonly maxSamples: number
}

/** Expects events newest first. */
class Tally implements Visitor {
  private readonly options: TallyOptions
  private readonly samples: Array<unknown> = []
  private readonly newest: Array<unknown> = []
  private readonly seen = new SeenEvents()
  private readonly pace = new Pace()
  private tested = 0
  private matched = 0
  private alreadyMatched = 0
  private unreadable = 0
  private missed = 0
  private missedBefore = 0
  private readonly live = new Timeline()
  private readonly recorded = new Timeline()

  constructor(options: TallyOptions) {
    this.options = options
  }

  *visit(events: ReadonlyArray<LoggedEvent>): Turns<void> {
    for (const event of events) yield* this.testOne(event)
  }

  /** Events missed before the oldest segment are outside of the tested period. */
  endSegment(missed: number): void {
    this.missed += this.missedBefore
    this.missedBefore = missed
  }

  result(): Backtest {
    const tested = this.tested
    const { basis } = this.options
    const { live, recorded } = this
    const perHour = rateOf([live, recorded])
    return {
      basis,
      tested,
      matched: this.matched,
      already_matched: this.alreadyMatched,
      ...(tested === 0
        ? {}
        : {
            ...(basis === "all_events" && { share: this.matched / tested }),
            from: Timestamp.fromMillis(Math.min(live.from, recorded.from)),
            to: Timestamp.fromMillis(Math.max(live.to, recorded.to))
          }),
      ...(basis === "all_events" && perHour !== undefined
        ? { per_hour: rounded(perHour * (1 + this.missed / tested)) }
        : {}),
      ...(basis === "all_events" && recorded.tested > 0 ? { recorded: recorded.tested } : {}),
      samples: this.samples,
      ...(this.matched === 0 && this.newest.length > 0 ? { newest: this.newest } : {}),
      ...(this.unreadable === 0 ? {} : { unreadable: this.unreadable }),
      ...(this.missed === 0 ? {} : { missed: this.missed })
    }
  }

  private *testOne({ receivedAt, json }: LoggedEvent): Turns<void> {
    const { format, expression, own, maxSamples } = this.options
    const record = jsonOf(json)
    const event = format.read(record, receivedAt)
    if (Either.isLeft(event)) {
      this.unreadable++
      return
    }
    if (!this.seen.add(event.right.id)) return
    this.tested++
    const dated = format.timeOf(record)
    const time = dated !== undefined && dated >= 0 && dated <= LAST_MILLIS ? dated : receivedAt
    const timeline = Math.abs(receivedAt - time) <= LIVE_MILLIS ? this.live : this.recorded
    timeline.add(time)
    if (this.newest.length < maxSamples) this.newest.push(record)
    if (!(yield* evaluateInTurns(expression, event.right, this.pace))) return
    this.matched++
    timeline.matched++
    if (yield* own.matches(event.right)) this.alreadyMatched++
    if (this.samples.length < maxSamples) this.samples.push(record)
  }
}

/**
 * The times of live events, or of recorded ones. Together they would span all the time from the recording until now, in
 * which nothing was tested.
 */
class Timeline {
  tested = 0
  matched = 0
  from = Number.POSITIVE_INFINITY
  to = Number.NEGATIVE_INFINITY

  add(time: number): void {
    this.tested++
    this.from = Math.min(this.from, time)
    this.to = Math.max(this.to, time)
  }

  /** Whether the events span enough time for a rate. */
  get hasRate(): boolean {
    return this.to - this.from >= MIN_SPAN_MILLIS
  }

  get perHour(): number {
    return (this.matched * HOUR_MILLIS) / (this.to - this.from)
  }
}

/** Undefined if the matches of one of them have no rate, or if none has one. */
const rateOf = (timelines: ReadonlyArray<Timeline>): number | undefined => {
  const rated = timelines.filter(({ hasRate }) => hasRate)
  const isComplete = timelines.every(({ hasRate, matched }) => hasRate || matched === 0)
  return rated.length === 0 || !isComplete ? undefined : rated.reduce((sum, { perHour }) => sum + perHour, 0)
}

const rounded = (value: number): number => Number(value.toPrecision(4))

const noteOf = (run: {
  readonly platform: PlatformId
  readonly keep: number
  readonly stopped: Stopped | undefined
  readonly isEmpty: boolean
}): Option.Option<string> => {
  if (run.keep === 0) {
    return Option.some("No events to test: this server keeps no recent events (EARSHOT_RECENT_EVENTS is 0)")
  }
  if (run.isEmpty) return Option.some(`No events to test: no events of "${run.platform}" have been received yet`)
  switch (run.stopped) {
    case undefined:
      return Option.none()
    case "worked":
      return Option.some(`Stopped after ${MAX_WORK_SECONDS} seconds of work: older events were not tested`)
    case "waited":
      return Option.some(
        `Stopped after ${MAX_WAIT_MILLIS / 60_000} minutes, because the server is busy: older events were not tested`
      )
  }
}

function count(description: string) {
  return Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0 }, description })
}

function eventList(description: string) {
  return Schema.Array(Schema.Unknown).annotations({
    jsonSchema: { type: "array", items: { type: "object", additionalProperties: true }, description }
  })
}
