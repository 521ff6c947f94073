/** What a language provides to change one clause of a filter. A clause is identified by its span. */
import type { EventFields } from "../expression/eventFields.ts"
import type { Span } from "../issues/issue.ts"

export interface Replacement {
  /** The new clause. */
  readonly text: string
  /** It resembles the old clause. Otherwise it is better kept beside it, as an alternative. */
  readonly isNear: boolean
}

export interface FilterEdits {
  /** The filter without these clauses; `undefined` if no clause is left. */
  readonly without: (clauses: ReadonlyArray<Span>) => string | undefined
  /** Most of them match the event. */
  readonly replacements: (clause: Span, event: EventFields) => Iterable<Replacement>
}

export const keyOf = ({ start, end }: Span): string => `${start}-${end}`
