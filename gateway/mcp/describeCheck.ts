/** Describes the result of check_rule to a language model. */
import type { Backtest } from "../../core/backtests/Backtests.ts"
import { describeBacktest, describeEstimate, type Source, sourceOf } from "../../core/backtests/describe.ts"
import type { Language } from "../../core/languages/Language.ts"
import type { WireTranslation } from "../../core/model/wire.ts"
import { lossesIn } from "../../core/rules/describeLoss.ts"
import { describeVerdict } from "../../core/rules/PlatformVerdict.ts"
import type { CheckedFilter, CheckResult } from "../../core/rules/RuleCheck.ts"
import { counted } from "../../core/text/counted.ts"
import { describeIssue, sentFilter } from "./describe.ts"
import { describeClauses } from "./describeExplanation.ts"
import { eventFormOf, type Form, type Forms, moreOf, type Treat } from "./matchForms.ts"
import type { Asked } from "./tool.ts"
import { delimit, TEXT, type Treatment } from "./untrusted.ts"

export const describeCheck =
  (forms: Forms, languages: ReadonlyArray<Language>) =>
  ({ platforms }: CheckResult, treatment: Treatment, asked: Asked<Form>): string => {
    const checked = Object.entries(platforms)
    const shown = (title: string, eventsOf: (backtest: Backtest) => ReadonlyArray<unknown> | undefined) => {
      const samples = checked.flatMap(([platform, filter]) => {
        const found = (filter?.backtest && eventsOf(filter.backtest)) ?? []
        const treat = forms.ofSamples(platform, found, eventFormOf(asked), { treatment, limits: TEXT })
        return found.map((sample) => ({ sample, treat }))
      })
      return samples.length === 0 ? [] : [`${title}:\n${describeSamples(samples, treatment, asked.own)}`]
    }
    return [
      ...checked.flatMap(([platform, filter]) =>
        filter === undefined
          ? []
          : [
              describeFilter(
                { source: sourceOf(languages, platform), filter, sent: sentFilter(asked.args, platform) },
                treatment
              )
            ]
      ),
      ...shown("Samples of the matches", ({ samples }) => samples),
      ...shown("None of these matches; they are the newest events", ({ newest }) => newest),
      `Next: ${nextStep(Object.values(platforms))}`
    ].join("\n\n")
  }

// ---- helpers ----

const nextStep = (filters: ReadonlyArray<CheckedFilter>): string => {
  if (filters.some(({ valid }) => !valid)) return "fix the filter and call check_rule again"
  return filters.some(matchedNothing)
    ? "a filter matched none of the events: widen it and call check_rule again. With an event that it should match in events, check_rule says which clause fails; for a rule that exists, rule_hits names the clause"
    : "if this is what the user wants, create_rule, or update_rule for a rule that exists"
}

/** Of a real platform there may be only events that match some rule: none of them proves nothing. */
const matchedNothing = ({ backtest }: CheckedFilter): boolean =>
  backtest?.basis === "all_events" && backtest.tested > 0 && backtest.matched === 0

const describeFilter = (
  { source, filter, sent }: { readonly source: Source; readonly filter: CheckedFilter; readonly sent: string },
  treatment: Treatment
): string => {
  const platform = source.id
  return [
    filter.canonical === undefined
      ? `${platform}: not valid`
      : `${platform}: valid; it would be registered as ${treatment.quoted(filter.canonical)}`,
    ...filter.issues.map((issue) => `- ${issue.severity}: ${describeIssue(issue, treatment, sent)}`),
    ...(filter.fixed === undefined ? [] : [`- with all fixes, valid: ${treatment.quoted(filter.fixed)}`]),
    ...(filter.incomplete === undefined ? [] : [`- ${filter.incomplete}`]),
    ...Object.entries(filter.translations).flatMap(([other, translation]) =>
      translation === undefined
        ? []
        : [
            translation.text === undefined
              ? `- cannot be translated to ${other}${translation.reason === undefined ? "" : `: ${treatment.line(translation.reason)}`}`
              : `- translation to ${other} (${translation.fidelity}): ${treatment.quoted(translation.text)}`,
            ...(translation.text === undefined ? [] : describeLosses({ platform, translation, sent }, treatment)),
            ...(translation.notes ?? []).map((note) => `  - ${treatment.line(note)}`),
            ...(translation.incomplete === undefined ? [] : [`  - ${translation.incomplete}`])
          ]
    ),
    ...(filter.explanation === undefined
      ? []
      : [
          `- The filter ${filter.explanation.matched ? "matches" : "does not match"} this event`,
          ...describeClauses(sent, filter.explanation.clauses, treatment).map((line) => `  ${line}`),
          ...(filter.explanation.incomplete === undefined ? [] : [`  - ${filter.explanation.incomplete}`])
        ]),
    ...(filter.backtest === undefined ? [] : [`- ${describeBacktest(source, filter.backtest)}`]),
    ...(filter.platform_verdict === undefined
      ? []
      : [`- ${treatment.line(describeVerdict(platform, filter.platform_verdict))}`]),
    ...describeEstimate(platform, filter).map((line) => `- ${treatment.line(line)}`)
  ].join("\n")
}

/** One line for each clause that is left out or differs. */
const describeLosses = (
  {
    platform,
    translation: { clauses },
    sent
  }: { readonly platform: string; readonly translation: typeof WireTranslation.Type; readonly sent: string },
  treatment: Treatment
): ReadonlyArray<string> => {
  const lost = lossesIn(clauses, platform)
  return [
    ...lost.slice(0, MAX_LOSSES).map(({ clause: { span, fidelity, reason }, examples }) => {
      return [
        `  - ${fidelity === "impossible" ? "lost" : fidelity}: ${treatment.quoted(sent.slice(span.start, span.end), 100)}`,
        treatment.line(reason),
        ...examples.map((line) => treatment.line(line))
      ].join("; ")
    }),
    ...(lost.length > MAX_LOSSES ? [`  - and ${counted(lost.length - MAX_LOSSES, "more clause")}`] : [])
  ]
}

const MAX_LOSSES = 8

const describeSamples = (
  items: ReadonlyArray<{ readonly sample: unknown; readonly treat: Treat<unknown> }>,
  { secret }: Treatment,
  form: Form
): string =>
  delimit({
    secret,
    items,
    treat: ({ sample, treat }, treatment) => treat(sample, treatment),
    more: moreOf(form, "samples")
  })
