/** What a language provides to be a translation target. */
import type { Predicate } from "../expression/expression.ts"
import type { ClauseTranslation } from "./clauseTranslation.ts"
import type { Group, PartialRule } from "./partialRule.ts"

export interface TranslationTarget {
  /** `source`: the clause's text in the source filter. `positive`: false if the clause is negated. */
  readonly clause: (predicate: Predicate, source: string, positive: boolean) => ClauseTranslation
  readonly print: (rule: PartialRule) => string
  /** Whether the platform rejects this conjunction because it never matches. */
  readonly isUnsatisfiable: (rule: Group) => boolean
}
