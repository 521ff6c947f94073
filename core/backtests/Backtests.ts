/** Backtests: tests a filter against the recent events of its platform that the account may see. */

import { Clock, Context, Effect, Either, Layer, Schema, Stream } from "effect"
import { Fingerprints } from "../engine/fingerprints.ts"
import type { EventFormat, Language } from "../languages/Language.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { wholeNumber } from "../model/wholeNumber.ts"
import { evaluateInTurns } from "../syntax/expression/evaluate.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { jsonOf } from "../text/json.ts"
import { inTurns, Pace, type Turns } from "../work/turns.ts"
import { type LoggedEvent, ownLog } from "./EventLog.ts"
import { RecentEvents } from "./RecentEvents.ts"

export const BacktestRequest = Schema.Struct({
  events: wholeNumber({ max: 100_000, fallback: 1_000 }).annotations({
    description: "How many of the newest events of each platform to test, limited by how many the server keeps"
  }),
  samples: wholeNumber({ min: 0, max: 20, fallback: 3 }).annotations({
    description: "How many matching events to return"
  })
})
export type BacktestRequest = typeof BacktestRequest.Type

export const Backtest = Schema.Struct({
  tested: count("The number of distinct events tested"),
  matched: count("How many of them match"),
  share: optionalNumber("matched / tested; absent if no event was tested"),
  per_hour: optionalNumber(
    "Matches per hour, by event time or else receive time; absent if the events span less than a minute"
  ),
  from: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "Time of the oldest event tested: event time or else receive time"
  }),
  to: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "Time of the newest event tested"
  }),
  samples: Schema.Array(Schema.Unknown).annotations({
    jsonSchema: {
      type: "array",
      items: { type: "object", additionalProperties: true },
      description: "Matching events, newest first, as delivered by the platform"
    }
  }),
  unreadable: optionalNumber("How many events could not be parsed and were not tested; absent if 0"),
  missed: optionalNumber(
    "How many events of the same period were not kept, because of a burst or an outage of the store; per_hour accounts for them"
  ),
  note: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "Why fewer events were tested than requested"
  })
}).annotations({ identifier: "Backtest" })
export type Backtest = typeof Backtest.Type

/** A rule of an account, stored or not. */
export interface OwnedRule {
  readonly account: AccountId
  readonly language: Language
  readonly expression: Expression
}

export class Backtests extends Context.Tag("core/Backtests")<
  Backtests,
  {
    /** On shared events and the account's own. Takes at most ten seconds and yields to other fibers every few milliseconds. */
    readonly run: (rule: OwnedRule, request: BacktestRequest) => Effect.Effect<Backtest, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Backtests, never, RecentEvents> = Layer.effect(
    Backtests,
    Effect.gen(function* () {
      const recent = yield* RecentEvents
      // One slice of one backtest at a time, followed by a yield to the rest of the process.
      const lock = yield* Effect.makeSemaphore(1)
      const runExclusive = (work: Turns<void>) => lock.withPermits(1)(Effect.zipRight(inTurns(work), Effect.sleep(0)))

      const run = Effect.fn("Backtests.run")(function* (
        { account, language, expression }: OwnedRule,
        { events, samples }: BacktestRequest
      ) {
        const end = (yield* Clock.currentTimeMillis) + MAX_MILLIS
        const platform = language.id
        const tally = new Tally(language.events, expression, samples)
        let isLate = false

        yield* recent.newest([platform, ownLog(platform, account)], events).pipe(
          Stream.takeUntilEffect((segment) =>
            Effect.gen(function* () {
              for (const slice of slicesOf(segment.events.toReversed())) {
                if (isLate) break
                yield* runExclusive(tally.test(slice))
                isLate = (yield* Clock.currentTimeMillis) >= end
              }
              tally.endSegment(segment.missed)
              return isLate
            })
          ),
          Stream.runDrain
        )
        return { ...tally.result(), ...noteOf({ platform, keep: recent.keep, isLate, isEmpty: tally.isEmpty }) }
      })

      return Backtests.of({ run })
    })
  )
}

// ---- helpers ----

const MAX_MILLIS = 10_000

/** The work between two yields: a few milliseconds. */
const SLICE_EVENTS = 100
const SLICE_SIZE = 64 * 1024

const MIN_SPAN_MILLIS = 60_000

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

/** Expects events newest first. */
class Tally {
  private readonly format: EventFormat
  private readonly expression: Expression
  private readonly maxSamples: number
  private readonly samples: Array<unknown> = []
  /** Hashes of event ids, because an id can be a whole page. */
  private readonly seen = new Set<string>()
  private readonly fingerprints = new Fingerprints(1)
  private readonly pace = new Pace()
  private tested = 0
  private matched = 0
  private unreadable = 0
  private missed = 0
  private missedBefore = 0
  private from = Number.POSITIVE_INFINITY
  private to = Number.NEGATIVE_INFINITY

  constructor(format: EventFormat, expression: Expression, maxSamples: number) {
    this.format = format
    this.expression = expression
    this.maxSamples = maxSamples
  }

  get isEmpty(): boolean {
    return this.tested + this.unreadable === 0
  }

  *test(events: ReadonlyArray<LoggedEvent>): Turns<void> {
    for (const event of events) yield* this.testOne(event)
  }

  /** Events missed before the oldest segment are outside of the tested period. */
  endSegment(missed: number): void {
    this.missed += this.missedBefore
    this.missedBefore = missed
  }

  result(): Backtest {
    const tested = this.tested
    const hours = (this.to - this.from) / 3_600_000
    return {
      tested,
      matched: this.matched,
      ...(tested === 0
        ? {}
        : {
            share: this.matched / tested,
            from: Timestamp.fromMillis(this.from),
            to: Timestamp.fromMillis(this.to)
          }),
      ...(hours * 3_600_000 >= MIN_SPAN_MILLIS
        ? { per_hour: rounded((this.matched * (1 + this.missed / tested)) / hours) }
        : {}),
      samples: this.samples,
      ...(this.unreadable === 0 ? {} : { unreadable: this.unreadable }),
      ...(this.missed === 0 ? {} : { missed: this.missed })
    }
  }

  /** Marks the id as seen. */
  private isDuplicate(id: string): boolean {
    this.fingerprints.hashText(0, id)
    const hash = `${this.fingerprints.high} ${this.fingerprints.low}`
    const isDuplicate = this.seen.has(hash)
    this.seen.add(hash)
    return isDuplicate
  }

  private *testOne({ receivedAt, json }: LoggedEvent): Turns<void> {
    const record = jsonOf(json)
    const event = this.format.read(record, receivedAt)
    if (Either.isLeft(event)) {
      this.unreadable++
      return
    }
    if (this.isDuplicate(event.right.id)) return
    this.tested++
    const own = this.format.timeOf(record)
    const time = own !== undefined && own >= 0 && own <= LAST_MILLIS ? own : receivedAt
    this.from = Math.min(this.from, time)
    this.to = Math.max(this.to, time)
    if (!(yield* evaluateInTurns(this.expression, event.right, this.pace))) return
    this.matched++
    if (this.samples.length < this.maxSamples) this.samples.push(record)
  }
}

const rounded = (value: number): number => Number(value.toPrecision(4))

const noteOf = (run: {
  readonly platform: PlatformId
  readonly keep: number
  readonly isLate: boolean
  readonly isEmpty: boolean
}): { readonly note?: string } => {
  if (run.keep === 0) {
    return { note: "No events to test: this server keeps no recent events (EARSHOT_RECENT_EVENTS is 0)" }
  }
  if (run.isEmpty) return { note: `No events to test: no events of "${run.platform}" have been received yet` }
  return run.isLate ? { note: `Stopped after ${MAX_MILLIS / 1000} seconds: older events were not tested` } : {}
}

function count(description: string) {
  return Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0 }, description })
}

function optionalNumber(description: string) {
  return Schema.optionalWith(Schema.Number, { exact: true }).annotations({ description })
}
