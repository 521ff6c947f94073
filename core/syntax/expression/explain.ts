/** Explains why a rule matched an event or not: the result of each clause, and a smallest set of decisive clauses. */

import { Pace, type Turns } from "../../work/turns.ts"
import type { Span } from "../issues/issue.ts"
import { describe, type Leaf } from "./describe.ts"
import { evaluateInTurns } from "./evaluate.ts"
import type { EventFields, PlatformEvent } from "./eventFields.ts"
import type { Expression } from "./expression.ts"
import type { FieldNames } from "./FieldNames.ts"
import { PlaceSearch, type Tested, testedInTurns } from "./tested.ts"

export interface Explanation {
  readonly matched: boolean
  /** In the order of the tree. */
  readonly clauses: ReadonlyArray<ExplainedClause>
  /** See `Outcome`. */
  readonly decisive: ReadonlyArray<Span>
}

export interface ExplainedClause {
  readonly span: Span
  readonly held: boolean
  /** The filter excludes events on which the clause holds. */
  readonly negated: boolean
  /** One line: what was tested, and on which field. */
  readonly description: string
  /** Absent for a clause that is the same for all events, and for a flag, which is there or not. */
  readonly tested?: Tested
}

/** The result of a filter on an event. */
export interface Outcome {
  readonly matched: boolean
  /** Whether each leaf held, in the order of the tree. */
  readonly held: ReadonlyArray<boolean>
  /**
   * A smallest set of decisive clauses. For a match: these results alone imply it. For a miss: flipping exactly these
   * results would have made the rule match. The first one, if there are several.
   */
  readonly decisive: ReadonlyArray<Span>
  /** The clauses of which each alone would have turned a miss into a match, had it the opposite result. */
  readonly obstacles: ReadonlyArray<Span>
}

export function* explainInTurns(expression: Expression, event: PlatformEvent, names: FieldNames): Turns<Explanation> {
  const pace = new Pace()
  const { matched, held, decisive } = yield* outcomeInTurns(expression, event, pace)
  const search = new PlaceSearch(pace)
  const clauses: Array<ExplainedClause> = []
  for (const [index, { leaf, isNegated }] of leavesOf(expression).entries()) {
    const leafHeld = held[index] ?? false
    const tested = isFlag(leaf, names) ? undefined : yield* testedInTurns(leaf, leafHeld, event, search)
    if (pace.endsTurn(STEPS_PER_CLAUSE)) yield
    clauses.push({
      span: leaf.span,
      held: leafHeld,
      negated: isNegated,
      description: describe(leaf, names),
      ...(tested && { tested })
    })
  }
  return { matched, clauses, decisive }
}

export function* outcomeInTurns(expression: Expression, event: EventFields, pace: Pace): Turns<Outcome> {
  const results: Array<boolean> = []
  const root = yield* evaluateNode(expression, function* (leaf) {
    const held = yield* evaluateInTurns(leaf, event, pace)
    if (pace.endsTurn(STEPS_PER_LEAF)) yield
    results.push(held)
    return held
  })
  const decisive: Array<Span> = []
  // If no combination of results can match, show the proof of the miss instead.
  collect(root, root.held || root.flip === Number.POSITIVE_INFINITY ? "proof" : "flip", decisive)
  const obstacles: Array<Span> = []
  if (!root.held) collectObstacles(root, obstacles)
  return {
    matched: root.held,
    held: results,
    decisive: distinctSpans(decisive),
    obstacles: distinctSpans(obstacles)
  }
}

export interface PlacedLeaf {
  readonly leaf: Leaf
  /** The leaf is inside of an odd number of negations. */
  readonly isNegated: boolean
}

/** In the order of the tree. */
export const leavesOf = (expression: Expression): ReadonlyArray<PlacedLeaf> => {
  // One list for all levels: a list for each would copy the leaves as often as they are nested.
  const leaves: Array<PlacedLeaf> = []
  const add = (part: Expression, isNegated: boolean): void => {
    switch (part._tag) {
      case "And":
      case "Or":
        for (const clause of part.clauses) add(clause, isNegated)
        return
      case "Not":
        add(part.clause, !isNegated)
        return
      default:
        leaves.push({ leaf: part, isNegated })
    }
  }
  add(expression, false)
  return leaves
}

// ---- helpers ----

/** Besides the test itself: a clause may have thousands of leaves. */
const STEPS_PER_LEAF = 500
const STEPS_PER_CLAUSE = 2_000

const isFlag = (leaf: Leaf, { keyword }: FieldNames): boolean =>
  leaf._tag === "Equals" && keyword[leaf.field]?.isFlag === true

/** A node with its result and two costs, both in leaves. */
interface EvaluatedNode {
  readonly held: boolean
  /** How many leaves prove the result, whatever the others are. */
  readonly proof: number
  /** How many leaves must flip to flip the result. */
  readonly flip: number
  readonly shape: Shape
}

type Shape =
  | { readonly _tag: "Leaf"; readonly span: Span }
  | { readonly _tag: "Not"; readonly part: EvaluatedNode }
  | {
      readonly _tag: "Group"
      /** The parts with the same result as the group. */
      readonly parts: ReadonlyArray<EvaluatedNode>
      /** The cost for which one part is enough. The other cost needs all parts. */
      readonly oneFor: Cost
    }

type Cost = "proof" | "flip"

function* evaluateNode(expression: Expression, test: (leaf: Leaf) => Turns<boolean>): Turns<EvaluatedNode> {
  switch (expression._tag) {
    case "Not": {
      const part = yield* evaluateNode(expression.clause, test)
      return { held: !part.held, proof: part.proof, flip: part.flip, shape: { _tag: "Not", part } }
    }
    case "And":
    case "Or": {
      const isOr = expression._tag === "Or"
      const all: Array<EvaluatedNode> = []
      for (const clause of expression.clauses) all.push(yield* evaluateNode(clause, test))
      const held = isOr ? all.some((part) => part.held) : all.every((part) => part.held)
      const parts = all.filter((part) => part.held === held)
      // One part proves that a disjunction is true or a conjunction is false. To flip that, every such part must flip.
      const oneFor = held === isOr ? "proof" : "flip"
      const cost = (of: Cost) => (of === oneFor ? least(parts, of) : total(parts, of))
      return { held, proof: cost("proof"), flip: cost("flip"), shape: { _tag: "Group", parts, oneFor } }
    }
    default:
      return { held: yield* test(expression), proof: 1, flip: 1, shape: { _tag: "Leaf", span: expression.span } }
  }
}

const collect = ({ shape }: EvaluatedNode, cost: Cost, spans: Array<Span>): void => {
  switch (shape._tag) {
    case "Leaf":
      spans.push(shape.span)
      return
    case "Not":
      collect(shape.part, cost, spans)
      return
    case "Group": {
      const cheapest = least(shape.parts, cost)
      const needed =
        shape.oneFor === cost ? shape.parts.filter((part) => part[cost] === cheapest).slice(0, 1) : shape.parts
      for (const part of needed) {
        collect(part, cost, spans)
      }
    }
  }
}

const collectObstacles = ({ shape, flip }: EvaluatedNode, spans: Array<Span>): void => {
  if (flip > 1) return
  switch (shape._tag) {
    case "Leaf":
      spans.push(shape.span)
      return
    case "Not":
      collectObstacles(shape.part, spans)
      return
    case "Group":
      for (const part of shape.parts) collectObstacles(part, spans)
  }
}

const least = (parts: ReadonlyArray<EvaluatedNode>, cost: Cost): number =>
  parts.reduce((found, part) => Math.min(found, part[cost]), Number.POSITIVE_INFINITY)

const total = (parts: ReadonlyArray<EvaluatedNode>, cost: Cost): number =>
  parts.reduce((sum, part) => sum + part[cost], 0)

/** One clause of the rule's text can produce several leaves. */
const distinctSpans = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const bySpan = new Map(spans.map((span) => [`${span.start}-${span.end}`, span]))
  return [...bySpan.values()].sort((a, b) => a.start - b.start || a.end - b.end)
}
