/** What an event tells a subscribed client: the compact form of the tools, with text by strangers between marks. */
import { Effect, Layer } from "effect"
import type { Language } from "../../core/languages/Language.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { EventData } from "../../core/webhooks/EventData.ts"
import { type MatchForm, makeForms } from "./matchForms.ts"
import { delimit, STRUCTURED, Treatment } from "./untrusted.ts"

export const makeEventData = (languages: ReadonlyArray<Language>): EventData["Type"] => {
  const formats = new Map(languages.map(({ id, events }) => [id, events]))
  const forms = makeForms(languages)
  return {
    ofMatch: (match, word) => {
      const { id, rule_id, platform, created_at, payload, redacted } = match
      const url = linkOf(formats.get(platform)?.summaryOf(payload.value).link)
      return {
        match_id: id,
        rule_id,
        platform,
        created_at,
        ...(url !== undefined && { url }),
        ...(redacted === undefined ? {} : { redacted }),
        content: delimit({
          secret: word,
          items: [match],
          more: `The tool get_match has the whole event of ${id}`,
          treat: (one, treatment) => forms.ofMatches([one], COMPACT, { treatment, limits: STRUCTURED })(one, treatment)
        })
      }
    },
    ofRedaction: ({ id, rule_id, platform, redacted }) => ({ match_id: id, rule_id, platform, redacted }),
    ofGap: ({ gap, ...rest }) => ({
      ...rest,
      gap: { ...gap, detail: new Treatment("…").line(gap.detail, MAX_DETAIL_CHARACTERS) }
    })
  }
}

export const eventDataLayer: Layer.Layer<EventData, never, Platforms> = Layer.effect(
  EventData,
  Effect.gen(function* () {
    const platforms = yield* Platforms
    return makeEventData((yield* platforms.all).map(({ language }) => language))
  })
)

// ---- helpers ----

const COMPACT: MatchForm = { full: false, isOneRule: false, excerpts: new Map() }

const MAX_DETAIL_CHARACTERS = 300
const MAX_LINK_CHARACTERS = 400

/** Escaped, so that it is one word. The content has it as the platform sent it. */
const linkOf = (link: string | undefined): string | undefined => {
  if (link === undefined || !/^https?:/i.test(link) || !URL.canParse(link)) return undefined
  const { href } = new URL(link)
  return href.length <= MAX_LINK_CHARACTERS ? href : undefined
}
