/** What a language provides to be a translation target. */
import type { Predicate } from "../expression/expression.ts"
import type { ClauseTranslation } from "./clauseTranslation.ts"
import type { Group, PartialRule } from "./partialRule.ts"

export interface TranslationTarget {
  /** `raw`: its clause as `rawText` reads it, for a `Phrase`. `positive`: false if the clause is negated. */
  readonly clause: (predicate: Predicate, raw: string | undefined, positive: boolean) => ClauseTranslation
  /** The words of a clause of the source filter with their punctuation, which predicates do not keep. */
  readonly rawText: (source: string) => string | undefined
  readonly print: (rule: PartialRule) => string
  /** Whether the platform rejects this conjunction because it never matches. */
  readonly isUnsatisfiable: (rule: Group) => boolean
}
