/** Finds the smallest changes of a filter with which it matches an event that it missed. */
import { Pace, type Turns } from "../../work/turns.ts"
import type { WorkBudget } from "../../work/WorkBudget.ts"
import type { Checked } from "../expression/checked.ts"
import { evaluateInTurns } from "../expression/evaluate.ts"
import type { EventFields } from "../expression/eventFields.ts"
import { leavesOf } from "../expression/explain.ts"
import type { Expression, Predicate } from "../expression/expression.ts"
import type { Span } from "../issues/issue.ts"
import type { FixOptions } from "../issues/Report.ts"
import type { FilterEdits } from "./FilterEdits.ts"

/**
 * change: one clause gets another value. remove: one clause or group is removed. remove_several: several clauses of one
 * group are removed. add: one clause gets an alternative.
 */
export type EditKind = "change" | "remove" | "remove_several" | "add"

/** One change of a filter. */
export interface FilterEdit {
  readonly kind: EditKind
  /** The clauses that change or get an alternative, in text order. */
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
  readonly check: (text: string, options?: FixOptions) => Checked
  /** Whether the clause says more than what many events have in common. */
  readonly isSubject: (clause: Predicate) => boolean
}

/**
 * At most `max`, the smallest first. Empty if the filter matches the event, or if no single change is enough with which
 * the filter still looks for what it looked for. Gives what it has if the budget is used up.
 */
export function* nearestEditsInTurns(
  { text, expression, held, event, check, isSubject }: MissedEvent,
  edits: FilterEdits,
  { max, budget }: { readonly max: number; readonly budget: WorkBudget }
): Turns<ReadonlyArray<FilterEdit>> {
  const pace = new Pace()
  const results: Results = new Map()
  if (judge(expression, held.values(), results)) return []
  const found: Array<FilterEdit> = []
  const candidates = flipping(expression, true, { text, event, edits, results, budget })
  const needsSubject = hasSubject(expression, isSubject)
  for (const candidate of yield* rankedInTurns(text, candidates, budget)) {
    // An alternative is offered only if the filter as it is cannot be made to match.
    if (found.length === max || (found.length > 0 && candidate.kind === "add")) break
    if (found.some((other) => other.kind === candidate.kind && isSame(other.clauses, candidate.clauses))) continue
    if (!budget.take(UNITS_PER_CHECK + candidate.text.length)) break
    const { rule } = check(candidate.text, { fixes: "none" })
    yield
    if (rule === undefined || (needsSubject && !hasSubject(rule.expression, isSubject))) continue
    if ((yield* budget.run(evaluateInTurns(rule.expression, event, pace))) !== true) continue
    const { tier: _, ...edit } = candidate
    found.push({ ...edit, text: rule.canonical })
  }
  return found
}

// ---- helpers ----

/** What the parts of the search cost, in units of work. */
const UNITS_PER_CHECK = 200
const UNITS_PER_CANDIDATE = 20
/** Of printing a filter, by its length. */
const UNITS_PER_PRINTED = 0.2
/** Of comparing two filters, by their length. */
const UNITS_PER_COMPARED = 0.05
/** Of looking for other words, by the words of the event. */
const UNITS_PER_WORD = 1

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

interface Search extends Pick<MissedEvent, "text" | "event"> {
  readonly edits: FilterEdits
  readonly results: Results
  readonly budget: WorkBudget
}

/** `storm lang:en` without `storm` is all posts in English. */
const hasSubject = (expression: Expression, isSubject: MissedEvent["isSubject"]): boolean =>
  leavesOf(expression).some(
    ({ leaf, isNegated }) => !isNegated && leaf._tag !== "Everything" && leaf._tag !== "Nothing" && isSubject(leaf)
  )

/** Yields `undefined` after each part of the search, at which a turn may end. */
type Candidates = Generator<Candidate | undefined>

/** Changes with which the node has the result `wanted`. It has the opposite one. */
function* flipping(node: Expression, wanted: boolean, search: Search): Candidates {
  switch (node._tag) {
    case "Not":
      yield* flipping(node.clause, !wanted, search)
      return
    case "And":
    case "Or":
      if (isOneClause(node)) yield* changes(node, wanted, search)
      else yield* flippingGroup(node, wanted, search)
      return
    default:
      yield* changes(node, wanted, search)
  }
}

type Group = Extract<Expression, { readonly _tag: "And" | "Or" }>

function* flippingGroup(group: Group, wanted: boolean, search: Search): Candidates {
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
const isOneClause = ({ clauses, span }: Group): boolean => clauses.every((clause) => isEqual(clause.span, span))

/** No other value is looked for that does not match. */
function* changes(node: Expression, wanted: boolean, { text, event, edits, budget }: Search): Candidates {
  if (!wanted || !budget.take(UNITS_PER_CANDIDATE + UNITS_PER_WORD * wordsTestedBy(node, event))) return
  const { span } = node
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
  yield
}

/** How many words the event has in the field of the clause. */
const wordsTestedBy = (node: Expression, event: EventFields): number => {
  if (node._tag === "And" || node._tag === "Or") {
    const [first] = node.clauses
    return first === undefined ? 0 : wordsTestedBy(first, event)
  }
  return "field" in node ? event.text(node.field).reduce((sum, { words }) => sum + words.length, 0) : 0
}

function* removal(nodes: ReadonlyArray<Expression>, { text: filter, edits, budget }: Search): Candidates {
  if (!budget.take(UNITS_PER_CANDIDATE + UNITS_PER_PRINTED * filter.length)) return
  const clauses = nodes.map(({ span }) => span).sort((a, b) => a.start - b.start)
  const text = edits.without(clauses)
  if (text === undefined) return yield
  yield clauses.length === 1
    ? { kind: "remove", clauses, text, tier: 1 }
    : { kind: "remove_several", clauses, text, tier: 2 }
}

function* rankedInTurns(text: string, candidates: Candidates, budget: WorkBudget): Turns<ReadonlyArray<Candidate>> {
  const all: Array<{ readonly candidate: Candidate; readonly size: number }> = []
  for (const candidate of candidates) {
    yield
    if (candidate === undefined) continue
    if (!budget.take(UNITS_PER_CANDIDATE + UNITS_PER_COMPARED * text.length)) break
    // Alternatives are in the order of the language, not by length: a short word is not a better one.
    const size = candidate.kind === "add" ? 0 : sizeOfChange(text, candidate.text)
    all.push({ candidate, size })
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
  some.length === others.length && some.every((span, index) => isEqual(span, others[index] ?? span))

const isEqual = (one: Span, other: Span): boolean => one.start === other.start && one.end === other.end
