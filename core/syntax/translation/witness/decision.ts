/** Which values of the other clauses leave the result of a rule to one clause. */
import type { Pace, Turns } from "../../../work/turns.ts"
import { leavesOf } from "../../expression/explain.ts"
import type { Expression, Predicate } from "../../expression/expression.ts"
import type { Span } from "../../issues/issue.ts"

export interface Wanted {
  readonly expression: Expression
  readonly value: boolean
}

export interface WantedLeaf {
  readonly predicate: Predicate
  readonly value: boolean
}

interface Place {
  readonly clause: Expression
  /** False under an odd number of negations. */
  readonly positive: boolean
  /** With the values that leave the decision to the clause. */
  readonly siblings: ReadonlyArray<Wanted>
}

/** The outermost expression with this span. */
export function placeOf(expression: Expression, span: Span): Place | undefined {
  if (expression.span.start === span.start && expression.span.end === span.end && expression._tag !== "Not") {
    return { clause: expression, positive: true, siblings: [] }
  }
  switch (expression._tag) {
    case "And":
    case "Or":
      for (const [index, clause] of expression.clauses.entries()) {
        const inner = placeOf(clause, span)
        if (inner === undefined) continue
        const others = expression.clauses
          .filter((_, at) => at !== index)
          .map((other): Wanted => ({ expression: other, value: expression._tag === "And" }))
        return { ...inner, siblings: [...others, ...inner.siblings] }
      }
      return undefined
    case "Not": {
      const inner = placeOf(expression.clause, span)
      return inner && { ...inner, positive: !inner.positive }
    }
    default:
      return undefined
  }
}

/** Adds the leaves that give the expression its value. `choice` selects an alternative where one is enough. */
export function require({ expression, value }: Wanted, choice: number, leaves: Array<WantedLeaf>): boolean {
  switch (expression._tag) {
    case "And":
    case "Or": {
      const { clauses } = expression
      if ((expression._tag === "And") === value) {
        return clauses.every((clause) => require({ expression: clause, value }, choice, leaves))
      }
      const possible = clauses.filter((clause) => canBe(clause, value))
      const chosen = possible[choice % Math.max(1, possible.length)]
      return chosen !== undefined && require({ expression: chosen, value }, choice, leaves)
    }
    case "Not":
      return require({ expression: expression.clause, value: !value }, choice, leaves)
    case "Everything":
      return value
    case "Nothing":
      return !value
    default:
      leaves.push({ predicate: expression, value })
      return true
  }
}

/** Equal for clauses that test the same. */
export type ClauseKeys = ReadonlyMap<Expression, number>

/** Of the expression and all its parts. */
export function* keysOf(expression: Expression, pace: Pace): Turns<ClauseKeys> {
  const keys = new Map<Expression, number>()
  const numbers = new Map<string, number>()
  function* add(part: Expression): Turns<number> {
    const text = yield* textOf(part, add)
    const key = numbers.get(text) ?? numbers.size
    numbers.set(text, key)
    keys.set(part, key)
    if (pace.endsTurn(STEPS_PER_KEY)) yield
    return key
  }
  yield* add(expression)
  return keys
}

/** Replaces every clause that fits: a rule may repeat a clause. */
export function withConstant(
  expression: Expression,
  fits: (clause: Expression) => boolean,
  value: boolean
): Expression {
  const { span } = expression
  if (fits(expression)) return { _tag: value ? "Everything" : "Nothing", span }
  switch (expression._tag) {
    case "And":
    case "Or":
      return { ...expression, clauses: expression.clauses.map((clause) => withConstant(clause, fits, value)) }
    case "Not":
      return { ...expression, clause: withConstant(expression.clause, fits, value) }
    default:
      return expression
  }
}

/** The leaves that depend on the event. */
export function predicatesOf(expression: Expression): ReadonlyArray<Predicate> {
  return leavesOf(expression).flatMap(({ leaf }) =>
    leaf._tag === "Everything" || leaf._tag === "Nothing" ? [] : [leaf]
  )
}

export function sizeOf(expression: Expression): number {
  return predicatesOf(expression).length
}

// ---- helpers ----

/** Not a constant of the opposite value. */
function canBe(expression: Expression, value: boolean): boolean {
  return expression._tag !== (value ? "Nothing" : "Everything")
}

const STEPS_PER_KEY = 2_000

/** `keyOf`: for the parts of a group. */
function* textOf(expression: Expression, keyOf: (part: Expression) => Turns<number>): Turns<string> {
  switch (expression._tag) {
    case "And":
    case "Or": {
      const keys: Array<number> = []
      for (const clause of expression.clauses) keys.push(yield* keyOf(clause))
      return `${expression._tag} ${keys.join(" ")}`
    }
    case "Not":
      return `Not ${yield* keyOf(expression.clause)}`
    case "Phrase": {
      // A filter may have thousands of single words, and JSON takes several times as long.
      const { field, words, slop } = expression
      return words.length === 1 ? `Word ${field} ${slop} ${words[0]}` : jsonOf(expression)
    }
    default:
      return jsonOf(expression)
  }
}

const jsonOf = (expression: Expression): string => JSON.stringify({ ...expression, span: undefined })
