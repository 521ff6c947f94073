/** A translation as it travels. */
import type { WireTranslation } from "../model/wire.ts"
import type { WitnessedClause, WitnessedTranslation } from "../syntax/translation/witness/witnesses.ts"

export const toWireTranslation = ({ text, clauses, ...rest }: WitnessedTranslation): typeof WireTranslation.Type => ({
  ...(text !== undefined && { text }),
  ...rest,
  clauses: clauses.map(toWireClause)
})

// ---- helpers ----

const toWireClause = ({ span, fidelity, reason, effects, witnesses }: WitnessedClause) => ({
  span,
  fidelity,
  reason,
  ...(effects.length > 0 && { effects }),
  ...(witnesses.length > 0 && {
    witnesses: witnesses.map(({ effect, matchedBy, events }) => ({ effect, matched_by: matchedBy, events }))
  })
})
