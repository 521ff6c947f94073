/** Translations at once, for tests. */
import { translateInTurns } from "../../../../core/syntax/translation/translate.ts"
import { translateWithWitnessesInTurns } from "../../../../core/syntax/translation/witness/witnesses.ts"
import { finish } from "../../../../core/work/turns.ts"

export const translate = (...rule: Parameters<typeof translateInTurns>) => finish(translateInTurns(...rule))

export const translateWithWitnesses = (...rule: Parameters<typeof translateWithWitnessesInTurns>) =>
  finish(translateWithWitnessesInTurns(...rule))
