/** Searches and pages the rules of an account. */
import { Effect, Schema } from "effect"
import { wholeNumber } from "../../core/model/wholeNumber.ts"
import { MAX_RULES_PER_PAGE, type Rule, type RuleList, RuleQuery as RuleListQuery } from "../../core/rules/Rule.ts"

export const RuleQuery = Schema.Struct({
  query: Schema.optionalWith(
    Schema.String.annotations({
      description: "Only rules with this text in their id, name, intent or a filter, in upper or lower case"
    }),
    { exact: true }
  ),
  limit: wholeNumber({ max: MAX_RULES_PER_PAGE, fallback: 20 }),
  cursor: RuleListQuery.fields.cursor
})
export type RuleQuery = typeof RuleQuery.Type

/** Newest first. `list` may answer one page at a time, or all rules. */
export const findRules = <E, R>(
  list: (query: RuleListQuery) => Effect.Effect<RuleList, E, R>,
  { query = "", limit, cursor }: RuleQuery
): Effect.Effect<RuleList, E, R> => {
  const wanted = query.trim().toLowerCase()
  const after = cursor === undefined ? {} : { cursor }
  if (wanted === "") return list({ limit, ...after })
  return Effect.gen(function* () {
    const found: Array<Rule> = []
    for (let next: RuleListQuery | undefined = after; next !== undefined && found.length <= limit; ) {
      const { rules, next_cursor }: RuleList = yield* list(next)
      found.push(...rules.filter((rule) => textsOf(rule).some((text) => text.toLowerCase().includes(wanted))))
      next = next_cursor === undefined ? undefined : { cursor: next_cursor }
    }
    const rules = found.slice(0, limit)
    const last = found.length > limit ? rules.at(-1)?.id : undefined
    return { rules, ...(last !== undefined && { next_cursor: last }) }
  })
}

// ---- helpers ----

const textsOf = ({ id, name, intent, platforms }: Rule): ReadonlyArray<string> => [
  id,
  name,
  intent,
  ...Object.values(platforms).map((registration) => registration.translated_value)
]
