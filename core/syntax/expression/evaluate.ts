/** Evaluates a rule on an event directly on the expression tree. The engine must agree with this reference. */

import { finish, Pace, type Turns } from "../../work/turns.ts"
import { findPhrase } from "../words/phrase.ts"
import type { EventFields } from "./eventFields.ts"
import type { Bound, Expression, Predicate } from "./expression.ts"
import { areaInBox, areaInCircle } from "./geometry.ts"
import { type PatternPredicate, patternInTurns } from "./patterns.ts"

export const evaluate = (expression: Expression, event: EventFields): boolean =>
  finish(evaluateInTurns(expression, event, new Pace()))

export function* evaluateInTurns(expression: Expression, event: EventFields, pace: Pace): Turns<boolean> {
  switch (expression._tag) {
    case "And":
      for (const clause of expression.clauses) {
        if (!(yield* evaluateInTurns(clause, event, pace))) return false
      }
      return true
    case "Or":
      for (const clause of expression.clauses) {
        if (yield* evaluateInTurns(clause, event, pace)) return true
      }
      return false
    case "Not":
      return !(yield* evaluateInTurns(expression.clause, event, pace))
    case "Everything":
      return true
    case "Nothing":
      return false
    default:
      return yield* testInTurns(expression, event, pace)
  }
}

/** Tests one predicate. A missing field matches no predicate. */
export function* testInTurns(predicate: Predicate, event: EventFields, pace: Pace): Turns<boolean> {
  switch (predicate._tag) {
    case "Phrase":
      yield* event.readText(predicate.field, pace)
      for (const tokens of event.text(predicate.field)) {
        if (yield* findPhrase(tokens, predicate, pace)) return true
      }
      return false
    case "Wildcard":
    case "Fuzzy":
    case "Regex":
      if (predicate.over === "words") yield* event.readText(predicate.field, pace)
      return yield* fitsAny(
        predicate,
        predicate.over === "words"
          ? event.text(predicate.field).map(({ words }) => words)
          : [event.keywords(predicate.field)],
        pace
      )
    case "Contains":
      return yield* fitsAny(predicate, [event.keywords(predicate.field)], pace)
    default:
      return testAtOnce(predicate, event)
  }
}

/** A number from 0 to 99 that depends only on the id. Consecutive ids are spread evenly. */
export const sampleOf = (id: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at++) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) % 100
}

// ---- helpers ----

/** Stops after `MAX_STEPS`. The steps depend on the pattern and the values alone, so the result is the same everywhere. */
function* fitsAny(
  predicate: PatternPredicate,
  lists: ReadonlyArray<ReadonlyArray<string>>,
  pace: Pace
): Turns<boolean> {
  const { fits, stepsPerCharacter, prepare } = yield* patternInTurns(predicate, pace)
  if (prepare !== undefined) yield* prepare(pace)
  let left = MAX_STEPS
  for (const values of lists) {
    for (const value of values) {
      const steps = STEPS_PER_VALUE + stepsPerCharacter * value.length
      left -= steps
      if (left < 0) return false
      const isFound = fits(value)
      if (pace.endsTurn(steps)) yield
      if (isFound) return true
    }
  }
  return false
}

/** Of one pattern on one event. Only large patterns reach it, and only in very long texts. */
const MAX_STEPS = 50_000_000

const STEPS_PER_VALUE = 30

const testAtOnce = (
  predicate: Exclude<Predicate, PatternPredicate | { readonly _tag: "Phrase" }>,
  event: EventFields
): boolean => {
  switch (predicate._tag) {
    case "Equals":
      return event.keywords(predicate.field).includes(predicate.value)
    case "NumberRange": {
      const value = event.number(predicate.field)
      return value !== undefined && isInRange(value, predicate.from, predicate.to)
    }
    case "KeywordRange":
      return event.keywords(predicate.field).some((value) => isInRange(value, predicate.from, predicate.to))
    case "Radius":
      return event.places().some((area) => areaInCircle(area, predicate))
    case "Box":
      return event.places().some((area) => areaInBox(area, predicate))
    case "Sample":
      return sampleOf(event.id) < predicate.percent
    case "Recent":
      return event.ageHours !== undefined && event.ageHours <= predicate.hours
  }
}

const isInRange = <A extends number | string>(
  value: A,
  from: Bound<A> | undefined,
  to: Bound<A> | undefined
): boolean =>
  (from === undefined || value > from.value || (from.inclusive && value === from.value)) &&
  (to === undefined || value < to.value || (to.inclusive && value === to.value))
