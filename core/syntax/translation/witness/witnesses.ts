/** Translates a rule, with an example for each loss. */
import type { Turns } from "../../../work/turns.ts"
import { WorkBudget } from "../../../work/WorkBudget.ts"
import {
  type SourceLanguage,
  type TargetLanguage,
  type TranslatedClause,
  type Translation,
  translateInTurns
} from "../translate.ts"
import { type ExampleLanguage, noWitness, type Witness, witnessFinder } from "./search.ts"

export interface WitnessedTranslation extends Translation {
  readonly clauses: ReadonlyArray<WitnessedClause>
  /** Why witnesses may be missing. Absent if the search ended by itself. */
  readonly incomplete?: string
}

export interface WitnessedClause extends TranslatedClause {
  /** At most one for each effect. None if the difference shows on no event that was tried. */
  readonly witnesses: ReadonlyArray<Witness>
}

/** Never throws. */
export function* translateWithWitnessesInTurns(
  rule: { readonly language: SourceLanguage & ExampleLanguage; readonly text: string },
  to: TargetLanguage & ExampleLanguage
): Turns<WitnessedTranslation> {
  const { source, target, ...translation } = yield* translateInTurns(rule, to)
  const budget = new WorkBudget(Math.min(MAX_WORK, BASE_WORK + WORK_PER_CHARACTER * rule.text.length))
  const find =
    translation.text === undefined || source === undefined || target === undefined
      ? noWitness
      : witnessFinder(
          { ...rule, expression: source },
          { language: to, text: translation.text, expression: target },
          budget
        )
  yield
  const clauses: Array<WitnessedClause> = []
  for (const clause of translation.clauses) {
    const { span, fidelity, effects } = clause
    const witnesses: Array<Witness> = []
    for (const effect of effects) {
      const witness = yield* find({ span, effect, leftOut: fidelity === "impossible" })
      if (witness !== undefined) witnesses.push(witness)
    }
    clauses.push({ ...clause, witnesses })
  }
  return { ...translation, clauses, ...(budget.isUsedUp && { incomplete: INCOMPLETE }) }
}

// ---- helpers ----

/** Of the search, in units. Only rules of hundreds of clauses reach the maximum. */
const BASE_WORK = 10_000
const WORK_PER_CHARACTER = 100
const MAX_WORK = 30_000

const INCOMPLETE =
  "The search for witnesses stopped: it takes too much work for a filter of this size. A loss without a witness may have one"
