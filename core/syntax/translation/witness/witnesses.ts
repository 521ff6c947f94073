/** Translates a rule, with an example for each loss. */
import {
  type SourceLanguage,
  type TargetLanguage,
  type TranslatedClause,
  type Translation,
  translate
} from "../translate.ts"
import { type ExampleLanguage, type Witness, witnessFinder } from "./search.ts"

export interface WitnessedTranslation extends Translation {
  readonly clauses: ReadonlyArray<WitnessedClause>
}

export interface WitnessedClause extends TranslatedClause {
  /** At most one for each effect. None if the difference shows on no event that was tried. */
  readonly witnesses: ReadonlyArray<Witness>
}

/** Never throws. */
export const translateWithWitnesses = (
  rule: { readonly language: SourceLanguage & ExampleLanguage; readonly text: string },
  to: TargetLanguage & ExampleLanguage
): WitnessedTranslation => {
  const translation = translate(rule, to)
  const source = rule.language.check(rule.text).rule
  const target = translation.text === undefined ? undefined : to.check(translation.text).rule
  const find =
    translation.text === undefined || source === undefined || target === undefined
      ? () => undefined
      : witnessFinder(
          { ...rule, expression: source.expression },
          { language: to, text: translation.text, expression: target.expression }
        )
  return {
    ...translation,
    clauses: translation.clauses.map((clause) => {
      const { span, fidelity, effects } = clause
      const found = effects.map((effect) => find({ span, effect, leftOut: fidelity === "impossible" }))
      return { ...clause, witnesses: found.filter((witness) => witness !== undefined) }
    })
  }
}
