/** Backtests: what a rule would have matched among the recent events of its platform. */
import { Clock, Context, Effect, Either, Layer, Schema, Stream } from "effect"
import { Fingerprints } from "../engine/fingerprints.ts"
import type { StorageUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { evaluate } from "../syntax/expression/evaluate.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import type { EventFormat, Language } from "../syntax/language.ts"
import type { LoggedEvent } from "./EventLog.ts"
import { RecentEvents } from "./RecentEvents.ts"

export const BacktestRequest = Schema.Struct({
  events: wholeNumber({ min: 1, max: 100_000, fallback: 1_000 }).annotations({
    description: "On how many of the newest events of each platform; at most as many as the server keeps are tested"
  }),
  samples: wholeNumber({ min: 0, max: 20, fallback: 3 }).annotations({
    description: "How many of the events that match to show"
  })
})
export type BacktestRequest = typeof BacktestRequest.Type

export const Backtest = Schema.Struct({
  tested: count("How many events the filter was tested on, each once, also where it came in several times"),
  matched: count("How many of them it matches"),
  share: optionalNumber("matched / tested; absent when there was nothing to test"),
  per_hour: optionalNumber(
    "Matches an hour, by the events' own times, or else when they were received; absent when they span less than a minute, which is too short to say"
  ),
  from: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "Time of the oldest event tested: its own, or else when it was received"
  }),
  to: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "Time of the newest event tested"
  }),
  samples: Schema.Array(Schema.Unknown).annotations({
    jsonSchema: {
      type: "array",
      items: { type: "object", additionalProperties: true },
      description: "Events that match, newest first, as the platform delivered them"
    }
  }),
  unreadable: optionalNumber("How many events could not be read and were not tested; absent when all could"),
  missed: optionalNumber(
    "How many events of the same time were not kept, because too many came in at once or the store was away; per_hour allows for them"
  ),
  note: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "Why less was tested than was asked for, where the events themselves do not say it"
  })
}).annotations({ identifier: "Backtest" })
export type Backtest = typeof Backtest.Type

export class Backtests extends Context.Tag("core/Backtests")<
  Backtests,
  {
    /** Takes ten seconds at the most, and gives everyone else a turn every few milliseconds. */
    readonly run: (
      rule: { readonly language: Language; readonly expression: Expression },
      request: BacktestRequest
    ) => Effect.Effect<Backtest, StorageUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Backtests, never, RecentEvents> = Layer.effect(
    Backtests,
    Effect.gen(function* () {
      const recent = yield* RecentEvents
      // Of any number of backtests one computes at a time, and then the rest of the process has its turn.
      const turns = yield* Effect.makeSemaphore(1)
      const inTurn = (work: () => void) => turns.withPermits(1)(Effect.zipRight(Effect.sync(work), Effect.sleep(0)))

      const run = Effect.fn("Backtests.run")(function* (
        { language, expression }: { readonly language: Language; readonly expression: Expression },
        { events, samples }: BacktestRequest
      ) {
        const end = (yield* Clock.currentTimeMillis) + MOST_MILLIS
        const platform = language.id
        const tally = new Tally(language.events, expression, samples)
        let isLate = false

        yield* recent.newest(platform, events).pipe(
          Stream.takeUntilEffect((segment) =>
            Effect.gen(function* () {
              for (const slice of slicesOf(segment.events.toReversed())) {
                if (isLate) break
                yield* inTurn(() => tally.test(slice))
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

const MOST_MILLIS = 10_000

/** What is tested without a pause: some milliseconds' worth. */
const SLICE_EVENTS = 100
const SLICE_SIZE = 64 * 1024

/** The shortest time that says something about an hour. */
const SHORTEST_SPAN_MILLIS = 60_000

/** The last millisecond that is written with a year of four digits. */
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

/** Counts while it is shown events, newest first. */
class Tally {
  readonly #format: EventFormat
  readonly #expression: Expression
  readonly #mostSamples: number
  readonly #samples: Array<unknown> = []
  /** Short names of the events tested: an id can be a whole page. */
  readonly #known = new Set<string>()
  readonly #fingerprints = new Fingerprints(1)
  #tested = 0
  #matched = 0
  #unreadable = 0
  #missed = 0
  #missedBefore = 0
  #from = Number.POSITIVE_INFINITY
  #to = Number.NEGATIVE_INFINITY

  constructor(format: EventFormat, expression: Expression, mostSamples: number) {
    this.#format = format
    this.#expression = expression
    this.#mostSamples = mostSamples
  }

  get isEmpty(): boolean {
    return this.#tested + this.#unreadable === 0
  }

  test(events: ReadonlyArray<LoggedEvent>): void {
    for (const event of events) this.#testOne(event)
  }

  /** Those missed before the oldest segment are outside the time that was tested. */
  endSegment(missed: number): void {
    this.#missed += this.#missedBefore
    this.#missedBefore = missed
  }

  result(): Backtest {
    const tested = this.#tested
    const hours = (this.#to - this.#from) / 3_600_000
    return {
      tested,
      matched: this.#matched,
      ...(tested === 0
        ? {}
        : {
            share: this.#matched / tested,
            from: Timestamp.fromMillis(this.#from),
            to: Timestamp.fromMillis(this.#to)
          }),
      ...(hours * 3_600_000 >= SHORTEST_SPAN_MILLIS
        ? { per_hour: rounded((this.#matched * (1 + this.#missed / tested)) / hours) }
        : {}),
      samples: this.#samples,
      ...(this.#unreadable === 0 ? {} : { unreadable: this.#unreadable }),
      ...(this.#missed === 0 ? {} : { missed: this.#missed })
    }
  }

  #isKnown(id: string): boolean {
    this.#fingerprints.hashText(0, id)
    const name = `${this.#fingerprints.high} ${this.#fingerprints.low}`
    const isKnown = this.#known.has(name)
    this.#known.add(name)
    return isKnown
  }

  #testOne({ receivedAt, json }: LoggedEvent): void {
    const record = parsed(json)
    const event = this.#format.read(record, receivedAt)
    if (Either.isLeft(event)) {
      this.#unreadable++
      return
    }
    // Whoever hands in an event again does not make it happen again.
    if (this.#isKnown(event.right.id)) return
    this.#tested++
    const own = this.#format.timeOf(record)
    const time = own !== undefined && own >= 0 && own <= LAST_MILLIS ? own : receivedAt
    this.#from = Math.min(this.#from, time)
    this.#to = Math.max(this.#to, time)
    if (!evaluate(this.#expression, event.right)) return
    this.#matched++
    if (this.#samples.length < this.#mostSamples) this.#samples.push(record)
  }
}

/** Undefined, which is no event, for what is not JSON. */
const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
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
    return { note: "Nothing to test on: this server keeps no recent events (its setting EARSHOT_RECENT_EVENTS is 0)" }
  }
  if (run.isEmpty) return { note: `Nothing to test on: no events of "${run.platform}" have come in yet` }
  return run.isLate ? { note: `Ended after ${MOST_MILLIS / 1000} seconds: older events were not tested` } : {}
}

function count(description: string) {
  return Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0 }, description })
}

function optionalNumber(description: string) {
  return Schema.optionalWith(Schema.Number, { exact: true }).annotations({ description })
}

function wholeNumber({
  min,
  max,
  fallback
}: {
  readonly min: number
  readonly max: number
  readonly fallback: number
}) {
  return Schema.optionalWith(
    Schema.Number.pipe(
      Schema.filter(
        (n) => (Number.isInteger(n) && n >= min && n <= max) || `Expected a whole number from ${min} to ${max}`
      )
    ).annotations({ jsonSchema: { type: "integer", minimum: min, maximum: max, default: fallback } }),
    { exact: true, default: () => fallback }
  )
}
