/** Evaluates a rule on an event directly on the expression tree. The engine must agree with this reference. */

import { containsPhrase } from "../words/phrase.ts"
import type { EventFields } from "./eventFields.ts"
import type { Bound, Expression, Predicate } from "./expression.ts"
import { areaInBox, areaInCircle } from "./geometry.ts"
import { patternOf } from "./patterns.ts"

export const evaluate = (expression: Expression, event: EventFields): boolean => {
  switch (expression._tag) {
    case "And":
      return expression.clauses.every((clause) => evaluate(clause, event))
    case "Or":
      return expression.clauses.some((clause) => evaluate(clause, event))
    case "Not":
      return !evaluate(expression.clause, event)
    case "Everything":
      return true
    case "Nothing":
      return false
    default:
      return evaluatePredicate(expression, event)
  }
}

/** A missing field matches no predicate. */
export const evaluatePredicate = (predicate: Predicate, event: EventFields): boolean => {
  switch (predicate._tag) {
    case "Phrase":
      return event.text(predicate.field).some((tokens) => containsPhrase(tokens, predicate))
    case "Wildcard":
    case "Fuzzy":
    case "Regex": {
      const { field, over } = predicate
      const { fits } = patternOf(predicate)
      return over === "words"
        ? event.text(field).some(({ words }) => words.some(fits))
        : event.keywords(field).some(fits)
    }
    case "Contains":
      return event.keywords(predicate.field).some(patternOf(predicate).fits)
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

const isInRange = <A extends number | string>(
  value: A,
  from: Bound<A> | undefined,
  to: Bound<A> | undefined
): boolean =>
  (from === undefined || value > from.value || (from.inclusive && value === from.value)) &&
  (to === undefined || value < to.value || (to.inclusive && value === to.value))
