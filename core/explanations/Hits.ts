/** How often each clause of a filter held on recent events, to find out why a rule matches nothing. */
import { Either, Schema } from "effect"
import { Basis, type Visitor } from "../backtests/Backtests.ts"
import type { LoggedEvent } from "../backtests/EventLog.ts"
import { SeenEvents } from "../backtests/SeenEvents.ts"
import type { CheckedText } from "../languages/explainFilter.ts"
import { optional } from "../model/optional.ts"
import { WireSpan } from "../model/wire.ts"
import { RegistrationState } from "../rules/Rule.ts"
import { keyOf } from "../syntax/edits/FilterEdits.ts"
import { describe } from "../syntax/expression/describe.ts"
import { leavesOf, outcomeInTurns } from "../syntax/expression/explain.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import type { Span } from "../syntax/issues/issue.ts"
import { jsonOf } from "../text/json.ts"
import { Pace, type Turns } from "../work/turns.ts"

export const ClauseHits = Schema.Struct({
  span: WireSpan,
  text: Schema.String.annotations({ description: "The clause" }),
  description: Schema.String.annotations({ description: "What the clause tests" }),
  negated: Schema.Boolean.annotations({ description: "The filter excludes events on which the clause holds" }),
  held: count("On how many of the events the clause held"),
  blocked: count(
    "How many of the events the filter missed because of this clause alone: they would match if it had the opposite result"
  )
}).annotations({ identifier: "ClauseHits" })

export const PartHits = Schema.Struct({
  span: WireSpan,
  text: Schema.String.annotations({ description: "The clause, group of alternatives or exclusion" }),
  held: count("On how many of the events the part held: for an exclusion, how many it did not exclude"),
  blocked: count("How many of the events the filter missed because of this part alone: without it, these match too")
}).annotations({ identifier: "PartHits" })

export const FilterHits = Schema.Struct({
  filter: Schema.String.annotations({ description: "The text that the spans refer to" }),
  state: RegistrationState,
  basis: Basis,
  tested: count("The number of distinct events tested"),
  matched: count("How many of them the filter matches"),
  clauses: Schema.Array(ClauseHits).annotations({ description: "In text order" }),
  parts: Schema.Array(PartHits).annotations({
    description: "What must hold at the same time: the parts of the filter that AND joins, in text order"
  }),
  unreadable: optional(Schema.Number, "How many events could not be parsed and were not tested; absent if 0"),
  note: optional(Schema.String, "Why fewer events were tested than requested")
}).annotations({ identifier: "FilterHits" })
export type FilterHits = typeof FilterHits.Type

export class HitTally implements Visitor {
  private readonly filter: CheckedText
  private readonly clauses: ReadonlyArray<Clause>
  private readonly parts: ReadonlyArray<Part>
  private readonly bySpan: ReadonlyMap<string, Clause>
  private readonly seen = new SeenEvents()
  private readonly pace = new Pace()
  private tested = 0
  private matched = 0
  private unreadable = 0

  constructor(filter: CheckedText) {
    this.filter = filter
    const clauses = new Map<string, Clause>()
    for (const [index, { leaf, isNegated }] of leavesOf(filter.expression).entries()) {
      const { span } = leaf
      // One clause of the text can produce several leaves: it holds if one of them does.
      const clause = clauses.get(keyOf(span)) ?? {
        span,
        text: filter.text.slice(span.start, span.end),
        description: describe(leaf, filter.language.fieldNames),
        negated: isNegated,
        leaves: [],
        held: 0,
        blocked: 0
      }
      clause.leaves.push(index)
      clauses.set(keyOf(span), clause)
    }
    this.bySpan = clauses
    this.clauses = [...clauses.values()].sort((a, b) => a.span.start - b.span.start)
    this.parts = partsOf(filter)
  }

  *visit(events: ReadonlyArray<LoggedEvent>): Turns<void> {
    for (const event of events) yield* this.visitOne(event)
  }

  result(): Pick<FilterHits, "tested" | "matched" | "clauses" | "parts" | "unreadable"> {
    return {
      tested: this.tested,
      matched: this.matched,
      clauses: this.clauses.map(({ leaves: _, ...clause }) => clause),
      parts: this.parts.map(({ expression: _, ...part }) => part).sort((a, b) => a.span.start - b.span.start),
      ...(this.unreadable > 0 && { unreadable: this.unreadable })
    }
  }

  private *visitOne({ receivedAt, json }: LoggedEvent): Turns<void> {
    const { language, expression } = this.filter
    const event = language.events.read(jsonOf(json), receivedAt)
    if (Either.isLeft(event)) {
      this.unreadable++
      return
    }
    if (!this.seen.add(event.right.id)) return
    this.tested++
    const { matched, held, obstacles } = yield* outcomeInTurns(expression, event.right, this.pace)
    if (matched) this.matched++
    for (const clause of this.clauses) {
      if (clause.leaves.some((leaf) => held[leaf])) clause.held++
    }
    for (const span of obstacles) {
      const clause = this.bySpan.get(keyOf(span))
      if (clause !== undefined) clause.blocked++
    }
    this.countParts(held)
  }

  private countParts(held: ReadonlyArray<boolean>): void {
    const leaves = held.values()
    const failed: Array<Part> = []
    for (const part of this.parts) {
      if (resultOf(part.expression, leaves)) part.held++
      else failed.push(part)
    }
    const [only] = failed
    if (only !== undefined && failed.length === 1) only.blocked++
  }
}

// ---- helpers ----

interface Clause {
  readonly span: Span
  readonly text: string
  readonly description: string
  readonly negated: boolean
  /** Indices in the order of `leavesOf`. */
  readonly leaves: Array<number>
  held: number
  blocked: number
}

interface Part {
  readonly expression: Expression
  readonly span: Span
  readonly text: string
  held: number
  blocked: number
}

/** In the order of the tree. */
const partsOf = ({ text, expression }: CheckedText): ReadonlyArray<Part> =>
  conjuncts(expression).map((part) => {
    // A group that Firehose adds has the span of the whole filter.
    const span = keyOf(part.span) === keyOf(expression.span) ? spanOfLeaves(part) : part.span
    return { expression: part, span, text: text.slice(span.start, span.end), held: 0, blocked: 0 }
  })

const conjuncts = (expression: Expression): ReadonlyArray<Expression> =>
  expression._tag === "And" ? expression.clauses.flatMap(conjuncts) : [expression]

const spanOfLeaves = (expression: Expression): Span => {
  const spans = leavesOf(expression).map(({ leaf }) => leaf.span)
  return { start: Math.min(...spans.map(({ start }) => start)), end: Math.max(...spans.map(({ end }) => end)) }
}

/** Takes the results of its leaves, in the order of the tree. */
const resultOf = (expression: Expression, leaves: Iterator<boolean>): boolean => {
  switch (expression._tag) {
    case "Not":
      return !resultOf(expression.clause, leaves)
    case "And":
    case "Or": {
      const results = expression.clauses.map((clause) => resultOf(clause, leaves))
      return expression._tag === "And" ? results.every(Boolean) : results.some(Boolean)
    }
    default:
      return leaves.next().value === true
  }
}

function count(description: string) {
  return Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0 }, description })
}
