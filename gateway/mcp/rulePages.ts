/** Searches and pages the rules of an account. */
import { Schema } from "effect"
import { RuleId } from "../../core/model/Ids.ts"
import { cursorField, nextCursor } from "../../core/model/paging.ts"
import { wholeNumber } from "../../core/model/wholeNumber.ts"
import { Rule } from "../../core/rules/Rule.ts"

export const RuleQuery = Schema.Struct({
  query: Schema.optionalWith(
    Schema.String.annotations({
      description: "Only rules with this text in their id, name, intent or a filter, in upper or lower case"
    }),
    { exact: true }
  ),
  limit: wholeNumber({ max: 100, fallback: 20 }),
  cursor: cursorField(RuleId, {
    expected: "Expected the next_cursor of an earlier response",
    description: "The next_cursor of an earlier response: returns the page after it"
  })
})
export type RuleQuery = typeof RuleQuery.Type

export const RulePage = Schema.Struct({ rules: Schema.Array(Rule), next_cursor: nextCursor(RuleId) })

/** `rules` are sorted by id, newest first. `found` counts those of all pages. */
export const rulePage = (
  rules: ReadonlyArray<Rule>,
  { query = "", limit, cursor }: RuleQuery
): { readonly page: typeof RulePage.Type; readonly found: number } => {
  const wanted = query.trim().toLowerCase()
  const found = rules.filter((rule) => textsOf(rule).some((text) => text.toLowerCase().includes(wanted)))
  const rest = cursor === undefined ? found : found.filter(({ id }) => id < cursor)
  const shown = rest.slice(0, limit)
  const last = rest.length > limit ? shown.at(-1)?.id : undefined
  return { page: { rules: shown, ...(last !== undefined && { next_cursor: last }) }, found: found.length }
}

// ---- helpers ----

const textsOf = ({ id, name, intent, platforms }: Rule): ReadonlyArray<string> => [
  id,
  name,
  intent,
  ...Object.values(platforms).map((registration) => registration.translated_value)
]
