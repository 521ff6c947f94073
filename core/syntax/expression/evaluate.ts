/** Whether a rule holds for an event: the plain reading of the expression tree, which every faster way must agree with. */

import { holdsPhrase } from "../words/words.ts"
import type { EventFields } from "./eventFields.ts"
import {
  type Bound,
  type Expression,
  isTextField,
  type KeywordField,
  type Predicate,
  type TextField
} from "./expression.ts"
import { areaInBox, areaInCircle } from "./geometry.ts"
import { type Pattern, patternOf } from "./patterns.ts"

export const holds = (expression: Expression, event: EventFields): boolean => {
  switch (expression._tag) {
    case "And":
      return expression.clauses.every((clause) => holds(clause, event))
    case "Or":
      return expression.clauses.some((clause) => holds(clause, event))
    case "Not":
      return !holds(expression.clause, event)
    case "Everything":
      return true
    case "Nothing":
      return false
    default:
      return meets(expression, event)
  }
}

/** One test on the event. An absent field meets none. */
export const meets = (predicate: Predicate, event: EventFields): boolean => {
  switch (predicate._tag) {
    case "Phrase":
      return event.text(predicate.field).some((tokens) => holdsPhrase(tokens, predicate))
    case "Wildcard":
    case "Fuzzy":
    case "Regex":
    case "Contains":
      return anyFits(predicate.field, event, patternOf(predicate).fits)
    case "Equals":
      return event.keywords(predicate.field).includes(predicate.value)
    case "NumberRange": {
      const value = event.number(predicate.field)
      return value !== undefined && isBetween(value, predicate.from, predicate.to)
    }
    case "KeywordRange":
      return event.keywords(predicate.field).some((value) => isBetween(value, predicate.from, predicate.to))
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

/** A number from 0 to 99 that depends on the id alone, each about equally often also for ids that follow one another. */
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

const anyFits = (field: TextField | KeywordField, event: EventFields, fits: Pattern["fits"]): boolean =>
  isTextField(field) ? event.text(field).some(({ words }) => words.some(fits)) : event.keywords(field).some(fits)

const isBetween = <A extends number | string>(
  value: A,
  from: Bound<A> | undefined,
  to: Bound<A> | undefined
): boolean =>
  (from === undefined || value > from.value || (from.inclusive && value === from.value)) &&
  (to === undefined || value < to.value || (to.inclusive && value === to.value))
