/** What one clause of a rule becomes in the other language. */

export type Carried = Written | { readonly impossible: string }

export interface Written {
  /** How several texts belong together. */
  readonly join: "And" | "Or"
  /** Clauses of the target. Without any, the clause is one that no event of the target can meet. */
  readonly texts: ReadonlyArray<string>
  /** Each of them can be the only thing that a rule asks for. */
  readonly anchor: boolean
  /** It holds for events for which the source does not. */
  readonly wider: boolean
  /** It misses events for which the source holds. */
  readonly narrower: boolean
  readonly reason: string
}

/** Left alone by the target: the reason says why. */
export const impossible = (reason: string): Carried => ({ impossible: reason })
