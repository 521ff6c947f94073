/** Tests events on many filters of one platform at once. */
import { NamedRules } from "../engine/NamedRules.ts"
import type { Language } from "../languages/Language.ts"
import type { PlatformEvent } from "../syntax/expression/eventFields.ts"
import type { Expression } from "../syntax/expression/expression.ts"
import { coarseFields } from "../syntax/expression/FieldNames.ts"
import type { Turns } from "../work/turns.ts"

export interface RuleSet {
  /** Whether at least one of the filters matches. */
  readonly matches: (event: PlatformEvent) => Turns<boolean>
}

/** Filters that are not valid match nothing. */
export function* ruleSet(filters: ReadonlyArray<string>, language: Language): Turns<RuleSet> {
  const expressions = new Map<string, Expression>()
  // A fixed seed: an author of colliding filters slows down only the own backtests.
  const engine = new NamedRules({ seed: 1, coarseFields: coarseFields(language.fieldNames) })
  for (const text of filters) {
    const expression = language.check(text, { fixes: "none" }).rule?.expression
    if (expression === undefined) continue
    expressions.set(text, expression)
    engine.set(text, expression)
    yield
  }
  return {
    *matches(event) {
      const matched = yield* engine.matchInTurns(event, (text) => expressions.get(text))
      return matched.length > 0
    }
  }
}
