/** Why a rule held or did not hold for an event: each clause with its outcome, and the fewest clauses that decided. */

import type { Span } from "../issue.ts"
import { describe, type Leaf } from "./describe.ts"
import { holds } from "./evaluate.ts"
import type { EventFields } from "./eventFields.ts"
import type { Expression } from "./expression.ts"

export interface Explanation {
  readonly matched: boolean
  /** The tests of the rule in the order of its tree. */
  readonly clauses: ReadonlyArray<ExplainedClause>
  /**
   * The smallest set of clauses that decided. For a match: with these as they are, the others could be anything. For a
   * miss: had exactly these come out the other way, the rule would have matched. Of several smallest sets the first.
   */
  readonly decisive: ReadonlyArray<Span>
}

export interface ExplainedClause {
  readonly span: Span
  readonly held: boolean
  /** One line: what was looked for, and where. */
  readonly description: string
}

export const explain = (expression: Expression, event: EventFields): Explanation => {
  const clauses: Array<ExplainedClause> = []
  const root = judge(expression, (leaf) => {
    const held = holds(leaf, event)
    clauses.push({ span: leaf.span, held, description: describe(leaf) })
    return held
  })
  const decisive: Array<Span> = []
  // Where no outcome of the clauses could give a match, what rules it out is all there is to say.
  collect(root, root.held || root.turn === Number.POSITIVE_INFINITY ? "proof" : "turn", decisive)
  return { matched: root.held, clauses, decisive: inOrder(decisive) }
}

// ---- helpers ----

/** A node with its outcome and two prices, both in leaves. */
interface Judged {
  readonly held: boolean
  /** How many leaves are enough to fix the outcome, whatever the others are. */
  readonly proof: number
  /** How many leaves must come out the other way to turn the outcome. */
  readonly turn: number
  readonly make: Make
}

type Make =
  | { readonly _tag: "Leaf"; readonly span: Span }
  | { readonly _tag: "Not"; readonly part: Judged }
  | {
      readonly _tag: "Group"
      /** The parts that came out as the whole did. */
      readonly parts: ReadonlyArray<Judged>
      /** The price for which one of the parts is enough; for the other all are needed. */
      readonly oneFor: Price
    }

type Price = "proof" | "turn"

const judge = (expression: Expression, test: (leaf: Leaf) => boolean): Judged => {
  switch (expression._tag) {
    case "Not": {
      const part = judge(expression.clause, test)
      return { held: !part.held, proof: part.proof, turn: part.turn, make: { _tag: "Not", part } }
    }
    case "And":
    case "Or": {
      const isOr = expression._tag === "Or"
      const all = expression.clauses.map((clause) => judge(clause, test))
      const held = isOr ? all.some((part) => part.held) : all.every((part) => part.held)
      const parts = all.filter((part) => part.held === held)
      // One part makes an alternative true or a conjunction false; to turn that, every such part has to be turned.
      const oneFor = held === isOr ? "proof" : "turn"
      const price = (of: Price) => (of === oneFor ? least(parts, of) : total(parts, of))
      return { held, proof: price("proof"), turn: price("turn"), make: { _tag: "Group", parts, oneFor } }
    }
    default:
      return { held: test(expression), proof: 1, turn: 1, make: { _tag: "Leaf", span: expression.span } }
  }
}

const collect = ({ make }: Judged, price: Price, spans: Array<Span>): void => {
  switch (make._tag) {
    case "Leaf":
      spans.push(make.span)
      return
    case "Not":
      collect(make.part, price, spans)
      return
    case "Group": {
      const cheapest = least(make.parts, price)
      const needed =
        make.oneFor === price ? make.parts.filter((part) => part[price] === cheapest).slice(0, 1) : make.parts
      for (const part of needed) {
        collect(part, price, spans)
      }
    }
  }
}

const least = (parts: ReadonlyArray<Judged>, price: Price): number =>
  parts.reduce((found, part) => Math.min(found, part[price]), Number.POSITIVE_INFINITY)

const total = (parts: ReadonlyArray<Judged>, price: Price): number => parts.reduce((sum, part) => sum + part[price], 0)

/** One clause of the rule text can have become several tests. */
const inOrder = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const byPlace = new Map(spans.map((span) => [`${span.start}-${span.end}`, span]))
  return [...byPlace.values()].sort((a, b) => a.start - b.start || a.end - b.end)
}
