/** The two forms in which tools show matches and sample events: a summary, or the whole payload. */
import { Predicate, Schema } from "effect"
import type { Language } from "../../core/languages/Language.ts"
import { Match } from "../../core/matches/Match.ts"
import { optional } from "../../core/model/optional.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import type { EventSummary } from "../../core/syntax/expression/eventFields.ts"
import type { Excerpts } from "./excerpts.ts"
import { HiddenCharacters } from "./hidden.ts"
import type { Asked } from "./tool.ts"
import { type Limits, type Treatment, treatMatch } from "./untrusted.ts"

const FULL = "Return the whole event of the platform, not just author, text, time and link. Up to seven times as long"

/** The argument that chooses the form. */
export const Form = Schema.Struct({
  full: Schema.optionalWith(
    Schema.Boolean.annotations({ jsonSchema: { type: "boolean", default: false, description: FULL } }),
    { exact: true, default: () => false }
  )
})
export type Form = typeof Form.Type

/** How to get what was cut, as a sentence. `count`: the argument that limits the number of events. */
export const moreOf = ({ full }: Form, count: "limit" | "samples"): string =>
  full
    ? `Where something was cut, a smaller "${count}" leaves more space for each event, up to 2,000 characters in the text and 8,000 in structured content`
    : 'Where a text was cut, the same call with "full": true has more: up to 2,000 characters of each event in the text, and 8,000 in structured content'

/** How to show events. */
export interface EventForm extends Form {
  readonly excerpts: Excerpts
}

/** `isOneRule`: the call named the rule of the matches. */
export interface MatchForm extends EventForm {
  readonly isOneRule: boolean
}

export const eventFormOf = ({ own, excerpts = new Map() }: Asked<Form>): EventForm => ({ ...own, excerpts })

export const matchFormOf = (asked: Asked<Form>): MatchForm => ({
  ...eventFormOf(asked),
  isOneRule: Predicate.hasProperty(asked.args, "rule_id")
})

/** Of one match. */
export const WHOLE: MatchForm = { full: true, isOneRule: false, excerpts: new Map() }

export const MORE_OF_ONE = "Where something was cut, GET /matches/get of the HTTP API has the whole"

/** `time` to `link` in a summary, without `rule_id` if the call has it; `created_at` to `payload` in the full form. */
export const ShownMatch = Schema.Struct({
  id: Match.fields.id,
  rule_id: optional(Match.fields.rule_id),
  platform: Match.fields.platform,
  time: optional(Timestamp.Timestamp),
  author: optional(Schema.String),
  text: optional(Schema.String),
  link: optional(Schema.String),
  created_at: optional(Match.fields.created_at),
  platform_post_id: optional(Schema.String),
  payload: optional(Schema.Unknown),
  redacted: Match.fields.redacted,
  hidden_characters: optional(Schema.Array(HiddenCharacters)),
  shortened: optional(Schema.Boolean)
}).annotations({ identifier: "Match" })

/** Prepares an item for the model. */
export type Treat<A> = (item: A, treatment: Treatment) => Readonly<Record<string, unknown>>

export interface Forms {
  /** `limits` apply to whole payloads. All matches of a result share the space. */
  readonly ofMatches: (matches: ReadonlyArray<Match>, form: MatchForm, space: Space) => Treat<Match>
  readonly ofSamples: (
    platform: string,
    samples: ReadonlyArray<unknown>,
    form: EventForm,
    space: Space
  ) => Treat<unknown>
}

export interface Space {
  readonly treatment: Treatment
  readonly limits: Limits
}

export const makeForms = (languages: ReadonlyArray<Language>): Forms => {
  const formats = new Map(languages.map(({ id, events }) => [id, events]))
  const summaryOf = (platform: string, event: unknown): EventSummary => formats.get(platform)?.summaryOf(event) ?? {}
  const timeOf = (platform: string, event: unknown) => {
    const millis = formats.get(platform)?.timeOf(event)
    return millis === undefined ? undefined : Timestamp.fromMillis(millis)
  }
  const spaceForTexts = (texts: ReadonlyArray<string>, { treatment }: Space) => treatment.shareOf(texts, SUMMARY)

  return {
    ofMatches: (matches, { full, isOneRule, excerpts }, space) => {
      if (full) {
        const max = space.treatment.shareOf(matches, space.limits)
        return (match, treatment) => treatMatch(match, treatment, max)
      }
      const texts = matches.map(({ platform, payload }) => summaryOf(platform, payload.value).text ?? "")
      const max = spaceForTexts(texts, space)
      return ({ id, rule_id, created_at, platform, payload, redacted }, treatment) => {
        const event = payload.value
        const time = timeOf(platform, event) ?? created_at
        const head = { id, ...(!isOneRule && { rule_id }), platform, time }
        if (redacted !== undefined) return { ...head, redacted }
        const shown = { max, place: excerpts.get(event), used: JSON.stringify(head).length }
        return { ...head, ...treatSummary(summaryOf(platform, event), treatment, shown) }
      }
    },
    ofSamples: (platform, samples, { full, excerpts }, space) => {
      if (full) {
        const max = space.treatment.shareOf(samples, space.limits)
        // An event is an object, and stays one.
        return (sample, treatment) => treatment.json(sample, max) as Readonly<Record<string, unknown>>
      }
      const max = spaceForTexts(
        samples.map((sample) => summaryOf(platform, sample).text ?? ""),
        space
      )
      return (sample, treatment) => {
        const time = timeOf(platform, sample)
        const shown = { max, place: excerpts.get(sample), used: 0 }
        return { ...(time !== undefined && { time }), ...treatSummary(summaryOf(platform, sample), treatment, shown) }
      }
    }
  }
}

// ---- helpers ----

/** For the text of a summary: the longest ordinary post, escaped. */
const SUMMARY: Limits = { item: 320, total: 40_000, least: 120 }

/** Of a match in JSON: about 130 tokens. The text gets what the other fields leave. */
const MATCH_CHARACTERS = 520
const MAX_AUTHOR_CHARACTERS = 60
const MAX_LINK_CHARACTERS = 160

interface Shown {
  readonly max: number
  readonly place: number | undefined
  /** The characters of the fields that are not in the summary. */
  readonly used: number
}

const treatSummary = (
  { author, text, link }: EventSummary,
  treatment: Treatment,
  { max, place, used }: Shown
): EventSummary => {
  const by = { ...(author !== undefined && { author: treatment.text(author, MAX_AUTHOR_CHARACTERS) }) }
  const at = { ...(link !== undefined && { link: treatment.text(link, MAX_LINK_CHARACTERS) }) }
  const left = MATCH_CHARACTERS - used - JSON.stringify({ ...by, text: "", ...at }).length
  const ofText = Math.max(SUMMARY.least, Math.min(max, left))
  return { ...by, ...(text !== undefined && { text: treatment.text(text, ofText, place) }), ...at }
}
