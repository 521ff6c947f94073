/** How much a clause says about what a rule looks for. */
import type { Field, Predicate } from "../expression/expression.ts"

/** `subject`: words, tags, accounts and posts. `site`: an address or a place. `kind`: what many events have in common. */
export const strengths = { kind: 0, site: 1, subject: 2 } as const

export type Strength = (typeof strengths)[keyof typeof strengths]

export const strengthOf = (predicate: Predicate): Strength => {
  switch (predicate._tag) {
    case "Radius":
    case "Box":
      return strengths.site
    case "Sample":
    case "Recent":
    case "NumberRange":
    case "KeywordRange":
      return strengths.kind
    default:
      return byField.get(predicate.field) ?? strengths.subject
  }
}

// ---- helpers ----

const byField: ReadonlyMap<Field, Strength> = new Map([
  ["x.url", strengths.site],
  ["x.place", strengths.site],
  ["x.place_id", strengths.site],
  ["x.place_country", strengths.kind],
  ["x.lang", strengths.kind],
  ["x.source", strengths.kind],
  ["x.is", strengths.kind],
  ["x.has", strengths.kind],
  ["bluesky.domain", strengths.site],
  ["bluesky.label", strengths.kind],
  ["firehose.url", strengths.site],
  ["firehose.domain", strengths.site],
  ["firehose.publish_time", strengths.kind],
  ["firehose.page_category", strengths.kind],
  ["firehose.page_type", strengths.kind],
  ["firehose.language", strengths.kind]
])
