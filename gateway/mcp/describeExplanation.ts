/** Describes explanations of matches, misses and hits to a language model. */
import { sourceOf } from "../../core/backtests/describe.ts"
import { describeHits } from "../../core/explanations/describe.ts"
import type { ExplainResult, HitsResult } from "../../core/explanations/Explanations.ts"
import type { Language } from "../../core/languages/Language.ts"
import { delimit, notice, type Treatment } from "./untrusted.ts"

export const describeExplanation = (result: ExplainResult, treatment: Treatment): string => {
  const { rule_id, platform, filter, matched, clauses, decisive, changes = [] } = result
  const clauseAt = ({ start, end }: Span) => treatment.quoted(filter.slice(start, end), MAX_CLAUSE)
  const decided = decisive.map(clauseAt).join(", ")
  return [
    `${rule_id} ${matched ? "matches" : "does not match"} this event on ${platform}. Its filter: ${treatment.quoted(filter)}`,
    ...describeClauses(filter, clauses, treatment),
    matched
      ? `Decided by: ${decided}`
      : // Other clauses of an OR may have failed alike.
        `It would match if ${decisive.length === 1 ? "this clause" : "each of these clauses"} had the opposite result: ${decided}`,
    `What the clauses were tested on${changes.length === 0 ? "" : ", and changes of the filter with which it matches this event, the smallest first"}:`,
    delimit({
      secret: treatment.secret,
      items: [
        ...withoutRepeats(clauses).flatMap(({ span, tested }) =>
          tested === undefined || (tested.values ?? tested.place) === undefined
            ? []
            : [{ clause: filter.slice(span.start, span.end), ...tested }]
        ),
        ...changes.map(({ message, text }) => ({ change: message, filter: text }))
      ],
      treat: (item, own, max) => own.json(item, max),
      more: MORE
    }),
    `Next: ${nextStep(result)}`
  ].join("\n")
}

/** One line for each clause, without the text of the event. */
export const describeClauses = (
  filter: string,
  clauses: ExplainResult["clauses"],
  treatment: Treatment
): ReadonlyArray<string> =>
  clauses.map(
    ({ span, held, negated, description }) =>
      `- ${resultOf(held, negated)}: ${treatment.quoted(filter.slice(span.start, span.end), MAX_CLAUSE)}: ${treatment.line(description)}`
  )

/** The values of a field only with the first clause on it, not once more for each clause. */
export const withoutRepeats = (clauses: ExplainResult["clauses"]): ReadonlyArray<ShownClause> => {
  const shown = new Set<string>()
  return clauses.map((clause) => {
    const { tested } = clause
    if (tested === undefined || !shown.has(tested.field)) {
      if (tested !== undefined) shown.add(tested.field)
      return clause
    }
    const { values: _, count: __, ...rest } = tested
    return { ...clause, tested: rest }
  })
}

/** Cuts the values of the event. All other text is the account's own. */
export const treatExplanation = (result: ExplainResult, treatment: Treatment) => {
  const values = withoutRepeats(result.clauses).flatMap(({ tested }) => tested?.values ?? [])
  const max = treatment.shareOf(values, VALUES)
  return {
    ...treatment.shaped(result),
    clauses: withoutRepeats(result.clauses).map(({ tested, ...clause }) => ({
      ...treatment.shaped(clause),
      ...(tested !== undefined && {
        tested: {
          ...tested,
          ...(tested.values !== undefined && { values: tested.values.map((value) => treatment.text(value, max)) }),
          ...(tested.place !== undefined && {
            place: { ...tested.place, text: treatment.text(tested.place.text, max) }
          })
        }
      })
    })),
    notice: notice(treatment.secret, MORE)
  }
}

export const describeRuleHits =
  (languages: ReadonlyArray<Language>) =>
  ({ platforms }: HitsResult, treatment: Treatment): string =>
    [
      ...Object.entries(platforms).flatMap(([platform, hits]) =>
        hits === undefined
          ? []
          : [
              ...describeHits(sourceOf(languages, platform), hits, (text) => treatment.quoted(text)).map((line) =>
                treatment.text(line)
              ),
              ""
            ]
      ),
      "Next: for a clause with 0 hits, or one without which many more events match, check_rule with a changed filter and a backtest; explain_match, for one event that the rule should have caught"
    ].join("\n")

// ---- helpers ----

type Span = ExplainResult["decisive"][number]
type Clause = ExplainResult["clauses"][number]
type Tested = NonNullable<Clause["tested"]>

interface ShownClause extends Omit<Clause, "tested"> {
  readonly tested?: Omit<Tested, "values" | "count"> & Partial<Pick<Tested, "values" | "count">>
}

const resultOf = (held: boolean, negated: boolean): string => {
  if (negated) return held ? "held, which excludes the event" : "did not hold, as the filter demands"
  return held ? "held" : "did not hold"
}

const MAX_CLAUSE = 200

const MORE = 'Where a value was cut, list_matches with "full": true has more of the event'

/** For the values of all clauses together. */
const VALUES = { item: 1_500, total: 50_000, least: 150 }

const nextStep = ({ matched, changes = [] }: ExplainResult): string => {
  if (matched) return "if the user does not want such matches, check_rule with a narrower filter and this event"
  return changes.length === 0
    ? "no single change of the filter is enough: check_rule with another filter and this event"
    : "check_rule with the changed filter and a backtest, to see what else it would match"
}
