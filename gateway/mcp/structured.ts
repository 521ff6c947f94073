/** The structured content of results with events of platforms. */
import { Record } from "effect"
import type { Match } from "../../core/matches/Match.ts"
import type { CheckedFilter, CheckResult } from "../../core/rules/RuleCheck.ts"
import { withoutRepeats } from "./describeExplanation.ts"
import { eventFormOf, type Form, type Forms, MORE_OF_ONE, matchFormOf, moreOf, WHOLE } from "./matchForms.ts"
import type { Asked } from "./tool.ts"
import { notice, ONE_MATCH, STRUCTURED, Treatment } from "./untrusted.ts"

export const treatMatches =
  (forms: Forms) =>
  <A extends { readonly matches: ReadonlyArray<Match> }>(
    { matches, ...rest }: A,
    treatment: Treatment,
    asked: Asked<Form>
  ) => {
    const treat = forms.ofMatches(matches, matchFormOf(asked), { treatment, limits: STRUCTURED })
    return {
      ...treatment.shaped(rest),
      matches: matches.map((match) => {
        const its = new Treatment(treatment.secret)
        return {
          ...treat(match, its),
          ...(its.hidden.length > 0 && { hidden_characters: its.hidden }),
          ...(its.isShortened && { shortened: true })
        }
      }),
      notice: notice(treatment.secret, moreOf(asked.own, "limit"))
    }
  }

export const treatMatch =
  (forms: Forms) =>
  ({ match }: { readonly match: Match }, treatment: Treatment) => ({
    match: forms.ofMatches([match], WHOLE, { treatment, limits: ONE_MATCH })(match, treatment),
    notice: notice(treatment.secret, MORE_OF_ONE)
  })

export const treatChecks =
  (forms: Forms) =>
  ({ platforms }: CheckResult, treatment: Treatment, asked: Asked<Form>) => ({
    platforms: Record.map(platforms, ({ backtest, explanation, ...rest }, platform) => {
      const checked = {
        ...rest,
        ...(explanation && { explanation: { ...explanation, clauses: withoutRepeats(explanation.clauses) } })
      }
      if (backtest === undefined) return treatment.shaped(checked)
      const treated = (events: ReadonlyArray<unknown>) => {
        const treat = forms.ofSamples(platform, events, eventFormOf(asked), { treatment, limits: STRUCTURED })
        return events.map((event) => treat(event, treatment))
      }
      const { samples, newest, ...figures } = backtest
      return {
        ...treatment.shaped(checked),
        backtest: { ...figures, samples: treated(samples), ...(newest && { newest: treated(newest) }) }
      }
    }),
    ...(Object.values(platforms).some(hasSamples) && {
      notice: notice(treatment.secret, moreOf(asked.own, "samples"))
    })
  })

// ---- helpers ----

const hasSamples = ({ backtest }: CheckedFilter): boolean =>
  backtest !== undefined && (backtest.samples.length > 0 || backtest.newest !== undefined)
