/** What a language provides so that filters of other languages can be translated into it. */
import type { Predicate } from "../expression/expression.ts"
import type { Carried } from "./carried.ts"
import type { Draft, Joined } from "./draft.ts"

export interface TranslationTarget {
  /** `source`: the clause's text in the source filter. `positive`: whether the clause is asked for rather than excluded. */
  readonly clause: (predicate: Predicate, source: string, positive: boolean) => Carried
  readonly print: (draft: Draft) => string
  /** Whether the platform refuses this conjunction because it can never hold. */
  readonly isVoid: (draft: Joined) => boolean
}
