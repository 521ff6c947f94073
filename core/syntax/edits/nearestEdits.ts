/** Finds the smallest changes of a filter with which it matches an event that it missed. */
import { Pace, TurnBudget, type Turns } from "../../work/turns.ts"
import type { Checked } from "../expression/checked.ts"
import { evaluateInTurns } from "../expression/evaluate.ts"
import type { EventFields } from "../expression/eventFields.ts"
import type { Expression } from "../expression/expression.ts"
import type { Span } from "../issues/issue.ts"
import { type FilterEdits, keyOf } from "./FilterEdits.ts"

/**
 * change: one clause gets another value. remove: one clause or group is removed. remove_several: several clauses of one
 * group are removed. add: one clause, or the whole filter, gets an alternative.
 */
export type EditKind = "change" | "remove" | "remove_several" | "add"

/** One change of a filter. */
export interface FilterEdit {
  readonly kind: EditKind
  /** The clauses that change or get an alternative, in text order. Empty if the whole filter gets one. */
  readonly clauses: ReadonlyArray<Span>
  /** The new clause, of `change` and `add`. */
  readonly clause?: string
  /** The new filter, in canonical form. It is valid and matches the event. */
  readonly text: string
}

export interface MissedEvent {
  /** The filter. */
  readonly text: string
  readonly expression: Expression
  /** Whether each leaf of the expression held, in its order. */
  readonly held: ReadonlyArray<boolean>
  readonly event: EventFields
  readonly check: (text: string) => Checked
}

/** At most `max`, the smallest first. Empty if the filter matches the event, or if no single change is enough. */
export function* nearestEditsInTurns(
  { text, expression, held, event, check }: MissedEvent,
  edits: FilterEdits,
  max: number
): Turns<ReadonlyArray<FilterEdit>> {
  const pace = new Pace()
  const results: Results = new Map()
  if (judge(expression, held.values(), results)) return []
  const found: Array<FilterEdit> = []
  let checks = MAX_CHECKS
  const budget = new TurnBudget(MAX_TURNS)
  const candidates = candidatesOf({ text, expression, event, edits, results })
  for (const candidate of yield* rankedInTurns(text, candidates)) {
    // An alternative is offered only if the filter as it is cannot be made to match.
    if (found.length === max || checks-- === 0 || (found.length > 0 && candidate.kind === "add")) break
    if (found.some((other) => other.kind === candidate.kind && isSame(other.clauses, candidate.clauses))) continue
    const { rule } = check(candidate.text)
    yield
    if (rule === undefined) continue
    if ((yield* budget.run(evaluateInTurns(rule.expression, event, pace))) !== true) continue
    const { tier: _, ...edit } = candidate
    found.push({ ...edit, text: rule.canonical })
  }
  return found
}

// ---- helpers ----

/** Bounds the work for a filter with many alternatives, or with large patterns on a long text. */
const MAX_CHECKS = 100
const MAX_CANDIDATES = 1_000
const MAX_TURNS = 1_000

type Results = Map<Expression, boolean>

/** The result of every node, from those of the leaves. */
const judge = (node: Expression, leaves: Iterator<boolean>, results: Results): boolean => {
  const result = resultOf(node, leaves, results)
  results.set(node, result)
  return result
}

const resultOf = (node: Expression, leaves: Iterator<boolean>, results: Results): boolean => {
  switch (node._tag) {
    case "And":
    case "Or": {
      const parts = node.clauses.map((clause) => judge(clause, leaves, results))
      return node._tag === "And" ? parts.every((held) => held) : parts.some((held) => held)
    }
    case "Not":
      return !judge(node.clause, leaves, results)
    default:
      return leaves.next().value === true
  }
}

interface Candidate extends FilterEdit {
  /** Candidates of a lower tier are preferred. */
  readonly tier: number
}

interface Search extends Pick<MissedEvent, "text" | "expression" | "event"> {
  readonly edits: FilterEdits
  readonly results: Results
}

function* candidatesOf(search: Search): Generator<Candidate> {
  yield* flipping(search.expression, true, search)
  for (const { clause, text } of search.edits.alternatives(search.event)) {
    yield { kind: "add", clauses: [], clause, text, tier: 4 }
  }
}

/** Changes with which the node has the result `wanted`. It has the opposite one. */
function* flipping(node: Expression, wanted: boolean, search: Search): Generator<Candidate> {
  switch (node._tag) {
    case "Not":
      yield* flipping(node.clause, !wanted, search)
      return
    case "And":
    case "Or":
      if (isOneClause(node)) yield* changes(node.span, wanted, search)
      else yield* flippingGroup(node, wanted, search)
      return
    default:
      yield* changes(node.span, wanted, search)
  }
}

type Group = Extract<Expression, { readonly _tag: "And" | "Or" }>

function* flippingGroup(group: Group, wanted: boolean, search: Search): Generator<Candidate> {
  const wrong = group.clauses.filter((clause) => search.results.get(clause) !== wanted)
  const [only] = wrong
  // One clause is enough to make a disjunction true or a conjunction false.
  if ((group._tag === "Or") === wanted) {
    for (const clause of wrong) yield* flipping(clause, wanted, search)
    return
  }
  if (wrong.length === 1 && only !== undefined) yield* flipping(only, wanted, search)
  if (wrong.length < group.clauses.length) yield* removal(wrong, search)
}

/** One clause of the text can produce several leaves. */
const isOneClause = ({ clauses, span }: Group): boolean => clauses.every((clause) => keyOf(clause.span) === keyOf(span))

/** No other value is looked for that does not match. */
function* changes(span: Span, wanted: boolean, { text, event, edits }: Search): Generator<Candidate> {
  if (!wanted) return
  for (const { text: clause, isNear } of edits.replacements(span, event)) {
    const replaced = (by: string) => text.slice(0, span.start) + by + text.slice(span.end)
    yield isNear
      ? { kind: "change", clauses: [span], clause, text: replaced(clause), tier: 0 }
      : {
          kind: "add",
          clauses: [span],
          clause,
          text: replaced(`(${text.slice(span.start, span.end)} OR ${clause})`),
          tier: 3
        }
  }
}

function* removal(nodes: ReadonlyArray<Expression>, { edits }: Search): Generator<Candidate> {
  const clauses = nodes.map(({ span }) => span).sort((a, b) => a.start - b.start)
  const text = edits.without(clauses)
  if (text === undefined) return
  yield clauses.length === 1
    ? { kind: "remove", clauses, text, tier: 1 }
    : { kind: "remove_several", clauses, text, tier: 2 }
}

function* rankedInTurns(text: string, candidates: Iterable<Candidate>): Turns<ReadonlyArray<Candidate>> {
  const all: Array<{ readonly candidate: Candidate; readonly size: number }> = []
  for (const candidate of candidates) {
    // Alternatives are in the order of the language, not by length: a short word is not a better one.
    const size = candidate.kind === "add" ? 0 : sizeOfChange(text, candidate.text)
    if (all.push({ candidate, size }) === MAX_CANDIDATES) break
    yield
  }
  return all.sort((a, b) => a.candidate.tier - b.candidate.tier || a.size - b.size).map(({ candidate }) => candidate)
}

/** The length of the part that differs, in the old or the new text. */
const sizeOfChange = (before: string, after: string): number => {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  return Math.max(before.length, after.length) - start - end
}

const isSame = (some: ReadonlyArray<Span>, others: ReadonlyArray<Span>): boolean =>
  some.length === others.length && some.every((span, index) => keyOf(span) === keyOf(others[index] ?? span))
