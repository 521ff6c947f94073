/** Counts what two filters match of the same events, and keeps samples of the difference. */
import { Either } from "effect"
import type { Visitor } from "../backtests/Backtests.ts"
import type { LoggedEvent } from "../backtests/EventLog.ts"
import { SeenEvents } from "../backtests/SeenEvents.ts"
import type { EventFormat } from "../languages/Language.ts"
import type { Match } from "../matches/Match.ts"
import type { MatchId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { evaluateInTurns } from "../syntax/expression/evaluate.ts"
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import { outcomeInTurns } from "../syntax/expression/explain.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { type JsonObject, jsonOf, objectOf } from "../text/json.ts"
import { Pace, type Turns } from "../work/turns.ts"

export interface ComparedFilter {
  readonly text: string
  readonly expression: Expression
}

export interface Side {
  readonly count: number
  readonly stored: number
  readonly decided_by: ReadonlyArray<{ readonly clause: string; readonly count: number }>
  readonly samples: ReadonlyArray<Sample>
}

interface Sample {
  readonly match_id?: MatchId
  readonly payload: JsonObject
}

interface Tested {
  readonly tested: number
  readonly from?: Timestamp.Timestamp
}

export interface Compared {
  readonly kept: Pick<Side, "count" | "stored">
  readonly lost: Side
  readonly gained: Side
  readonly tested: { readonly stored: Tested; readonly recent: Tested; readonly unreadable: number }
}

/** Expects the matches first, and everything newest first. */
export class Comparison implements Visitor {
  private readonly options: Options
  private readonly pace = new Pace()
  private readonly seen = new SeenEvents()
  private readonly stored = new Span()
  private readonly recent = new Span()
  private kept = { count: 0, stored: 0 }
  private readonly lost: Tally
  private readonly gained: Tally
  private unreadable = 0

  constructor(options: Options) {
    this.options = options
    this.lost = new Tally(options.candidate, options.maxSamples)
    this.gained = new Tally(options.present, options.maxSamples)
  }

  /** The platform has found that the rule matches them: the present filter is not tested. */
  *testMatches(matches: ReadonlyArray<Match>): Turns<void> {
    for (const { id, created_at, payload } of matches) {
      const at = Date.parse(created_at)
      const event = this.read(payload.value, at)
      if (event === undefined) continue
      this.stored.add(at)
      const isKept = yield* evaluateInTurns(this.options.candidate.expression, event, this.pace)
      if (isKept) {
        this.kept.count++
        this.kept.stored++
      } else yield* this.lost.add(event, { match_id: id, payload: payload.value }, this.pace)
      yield
    }
  }

  *visit(events: ReadonlyArray<LoggedEvent>): Turns<void> {
    const { present, candidate } = this.options
    for (const { receivedAt, json } of events) {
      const record = objectOf(jsonOf(json)) ?? {}
      const event = this.read(record, receivedAt)
      if (event === undefined) continue
      this.recent.add(receivedAt)
      const isMatch = yield* evaluateInTurns(present.expression, event, this.pace)
      const isCandidate = yield* evaluateInTurns(candidate.expression, event, this.pace)
      if (isMatch && isCandidate) this.kept.count++
      else if (isMatch) yield* this.lost.add(event, { payload: record }, this.pace)
      else if (isCandidate) yield* this.gained.add(event, { payload: record }, this.pace)
    }
  }

  result(): Compared {
    const tested = { stored: this.stored.result(), recent: this.recent.result(), unreadable: this.unreadable }
    return { kept: this.kept, lost: this.lost.result(), gained: this.gained.result(), tested }
  }

  // ---- helpers ----

  /** Undefined for an event that was tested already. */
  private read(record: unknown, at: number): PlatformEvent | undefined {
    const event = this.options.format.read(record, at)
    if (Either.isRight(event)) return this.seen.add(event.right.id) ? event.right : undefined
    this.unreadable++
    return undefined
  }
}

// ---- helpers ----

interface Options {
  readonly format: EventFormat
  readonly present: ComparedFilter
  readonly candidate: ComparedFilter
  readonly maxSamples: number
}

const MAX_CLAUSES = 10

/** Events that one of the filters does not match, with the clauses of this filter that decided. */
class Tally {
  private readonly filter: ComparedFilter
  private readonly maxSamples: number
  private readonly samples: Array<Sample> = []
  private readonly clauses = new Map<string, number>()
  private count = 0
  private stored = 0

  constructor(filter: ComparedFilter, maxSamples: number) {
    this.filter = filter
    this.maxSamples = maxSamples
  }

  *add(event: PlatformEvent, sample: Sample, pace: Pace): Turns<void> {
    const { text, expression } = this.filter
    const { matched, decisive } = yield* outcomeInTurns(expression, event, pace)
    this.count++
    if (sample.match_id !== undefined) this.stored++
    if (this.samples.length < this.maxSamples) this.samples.push(sample)
    if (matched) return
    for (const { start, end } of decisive) {
      const clause = text.slice(start, end)
      this.clauses.set(clause, (this.clauses.get(clause) ?? 0) + 1)
    }
  }

  result(): Side {
    const decided = [...this.clauses].sort(([, a], [, b]) => b - a).slice(0, MAX_CLAUSES)
    return {
      count: this.count,
      stored: this.stored,
      decided_by: decided.map(([clause, count]) => ({ clause, count })),
      samples: this.samples
    }
  }
}

/** How many were tested, and the oldest. */
class Span {
  private count = 0
  private oldest = Number.POSITIVE_INFINITY

  add(at: number): void {
    this.count++
    this.oldest = Math.min(this.oldest, at)
  }

  result(): Tested {
    return { tested: this.count, ...(this.count > 0 && { from: Timestamp.fromMillis(this.oldest) }) }
  }
}
