/** The comparison of a filter with that of a rule, for a language model. */
import { Schema } from "effect"
import {
  type CompareFilterResult,
  CompareFilterResult as CompareResult,
  type FilterComparison
} from "../../core/comparison/compareFilter.ts"
import { PlatformId } from "../../core/model/PlatformId.ts"
import { callOf } from "./describe.ts"
import type { Forms } from "./matchForms.ts"
import type { Asked } from "./tool.ts"
import { delimit, notice, STRUCTURED, TEXT, type Treatment } from "./untrusted.ts"

const { platforms: _, ...fields } = CompareResult.fields

/** With samples in short. */
export const ShownComparison = Schema.Struct({
  ...fields,
  platforms: Schema.Record({ key: PlatformId, value: Schema.Unknown }),
  notice: Schema.String
})

export const treatComparison =
  (forms: Forms) =>
  ({ rule_id, platforms }: CompareFilterResult, treatment: Treatment) => ({
    rule_id,
    platforms: Object.fromEntries(
      Object.entries(platforms).map(([platform, { lost, gained, ...rest }]) => {
        const treated = ({ samples, ...side }: FilterComparison["lost"]) => ({
          ...treatment.shaped(side),
          samples: samplesOf(forms, platform, samples, { treatment, limits: STRUCTURED }).map(({ show }) =>
            show(treatment)
          )
        })
        return [platform, { ...treatment.shaped(rest), lost: treated(lost), gained: treated(gained) }]
      })
    ),
    notice: notice(treatment.secret, MORE)
  })

export const describeFilterComparison =
  (forms: Forms) =>
  ({ rule_id, platforms }: CompareFilterResult, treatment: Treatment, { args }: Asked<undefined>): string =>
    [
      ...Object.entries(platforms).flatMap(([platform, compared]) => [
        describeOne(platform, compared, treatment),
        ...describeSamples(forms, { platform, title: "lost", samples: compared.lost.samples }, treatment),
        ...describeSamples(forms, { platform, title: "gained", samples: compared.gained.samples }, treatment)
      ]),
      `Next: if this is what the user wants, ${callOf("update_rule", { rule_id, overrides: overridesOf(args) })}; else compare_filter with another filter. shadow_rule tries it on live events`
    ].join("\n\n")

// ---- helpers ----

const MORE = "get_match has the whole of a stored match"

type Samples = FilterComparison["lost"]["samples"]

const overridesOf = (args: unknown): unknown => (args as { readonly overrides?: unknown }).overrides

/** An event as a summary, with the id of its match. */
const samplesOf = (forms: Forms, platform: string, samples: Samples, space: Parameters<Forms["ofSamples"]>[3]) => {
  const payloads = samples.map(({ payload }) => payload)
  const treat = forms.ofSamples(platform, payloads, { full: false, excerpts: new Map() }, space)
  return samples.map(({ match_id, payload }) => ({
    show: (treatment: Treatment) => ({ ...(match_id !== undefined && { match_id }), ...treat(payload, treatment) })
  }))
}

const describeOne = (
  platform: string,
  { present, candidate, kept, lost, gained, basis, incomplete }: FilterComparison,
  treatment: Treatment
): string => {
  const causes = ({ decided_by }: FilterComparison["lost"]) =>
    decided_by.length === 0
      ? ""
      : `; decided by ${decided_by.map(({ clause, count }) => `${treatment.quoted(clause, MAX_CLAUSE)} (${count})`).join(", ")}`
  const since = ({ from }: { readonly from?: string }) => (from === undefined ? "" : ` since ${from}`)
  return [
    `${platform}: ${treatment.quoted(present)} compared with the candidate ${treatment.quoted(candidate)}`,
    `- kept: ${kept.count}, of them ${kept.stored} stored matches`,
    `- lost: ${lost.count}, of them ${lost.stored} stored matches${causes(lost)}`,
    `- gained: ${gained.count}${causes(gained)}`,
    `- tested: ${basis.stored.tested} stored matches${since(basis.stored)}, and ${basis.recent.tested} other recent events${since(basis.recent)}`,
    ...basis.not_covered.map((text) => `- not covered: ${text}`),
    ...(incomplete === undefined ? [] : [`- incomplete: ${incomplete}`])
  ].join("\n")
}

const describeSamples = (
  forms: Forms,
  { platform, title, samples }: { readonly platform: string; readonly title: string; readonly samples: Samples },
  treatment: Treatment
): ReadonlyArray<string> => {
  if (samples.length === 0) return []
  const items = samplesOf(forms, platform, samples, { treatment, limits: TEXT })
  const shown = delimit({
    secret: treatment.secret,
    items,
    treat: ({ show }, its) => show(its),
    more: MORE
  })
  return [`Samples of what is ${title} on ${platform}:\n${shown}`]
}

const MAX_CLAUSE = 200
