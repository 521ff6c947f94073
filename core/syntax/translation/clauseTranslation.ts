/** The translation of one clause into the target language. */

export type ClauseTranslation = TargetClauses | { readonly impossible: string }

interface TargetClauses {
  /** How the texts combine. */
  readonly join: "And" | "Or"
  /** Clauses of the target. None of them: every event matches if they are joined by AND, no event if by OR. */
  readonly texts: ReadonlyArray<string>
  /** Each text is a valid rule by itself. */
  readonly standalone: boolean
  /** Matches events that the source does not match. */
  readonly wider: boolean
  /** Misses events that the source matches. */
  readonly narrower: boolean
  readonly reason: string
}

export const impossible = (reason: string): ClauseTranslation => ({ impossible: reason })

/** An exact translation: one of the texts must match. */
export const exact = (texts: ReadonlyArray<string>, reason: string): TargetClauses => ({
  join: "Or",
  texts,
  standalone: true,
  wider: false,
  narrower: false,
  reason
})

/** Adds a difference and its reason. Drops the reason of an exact translation. */
export const withDifference = (
  translation: ClauseTranslation,
  effect: "wider" | "narrower",
  reason: string
): ClauseTranslation => {
  if ("impossible" in translation) return translation
  const isExact = !(translation.wider || translation.narrower)
  return { ...translation, [effect]: true, reason: isExact ? reason : `${reason}; ${translation.reason}` }
}
