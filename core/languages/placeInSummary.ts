/** Finds the place in the summary of an event at which a filter matches. */
import { Either } from "effect"
import { explainInTurns } from "../syntax/expression/explain.ts"
import type { Turns } from "../work/turns.ts"
import type { CheckedText } from "./explainFilter.ts"

/** The first such place, as an offset in the text. `undefined` if there is none: the filter matches an author or a link. */
export function* placeInSummary(
  { language, expression }: Omit<CheckedText, "text">,
  record: unknown
): Turns<number | undefined> {
  const { read, summaryOf, timeOf } = language.events
  const summary = summaryOf(record).text ?? ""
  const event = read(record, timeOf(record) ?? 0)
  if (Either.isLeft(event)) return undefined
  const { matched, clauses } = yield* explainInTurns(expression, event.right, language.fieldNames)
  if (!matched) return undefined
  let first: number | undefined
  for (const { held, negated, tested } of clauses) {
    if (!held || negated || tested?.place === undefined) continue
    const { value, start } = tested.place
    const text = event.right.texts(tested.field)[value]
    const at = text === undefined ? -1 : summary.indexOf(text)
    if (at !== -1) first = Math.min(first ?? Number.POSITIVE_INFINITY, at + start)
  }
  return first
}
