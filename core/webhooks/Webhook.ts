/** Webhooks: where matches are sent as they are stored, and what came of each attempt. */
import { Schema } from "effect"
import { AttemptId, MatchId, RuleId, WebhookId } from "../model/Ids.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { Timestamp } from "../model/Timestamp.ts"
import { trimmedText } from "../rules/Rule.ts"

/** How many an account may hold. */
export const WEBHOOKS_PER_ACCOUNT = 20

const MOST_RULES = 100
const LONGEST_URL = 2_000

const WebhookUrl = Schema.String.pipe(
  Schema.filter(
    (text) => text.length <= LONGEST_URL || `Is too long: ${text.length} characters, at most ${LONGEST_URL} are allowed`
  ),
  Schema.filter((text) => isWebUrl(text) || "Expected a URL like https://example.com/hooks"),
  Schema.filter((text) => !hasCredentials(text) || "Contains a user or a password: leave them out, messages are signed")
).annotations({ jsonSchema: { type: "string", format: "uri", maxLength: LONGEST_URL } })

export const WebhookDraft = Schema.Struct({
  url: WebhookUrl,
  rule_ids: Schema.optionalWith(
    Schema.Array(Schema.String).pipe(
      Schema.filter((ids) => ids.length > 0 || "Is empty: leave it out for the matches of all rules"),
      Schema.filter((ids) => ids.length <= MOST_RULES || `Names too many rules: at most ${MOST_RULES} are allowed`),
      Schema.annotations({ description: "Only matches of these rules; without it, of all" })
    ),
    { exact: true }
  ),
  platforms: Schema.optionalWith(
    Schema.Array(PlatformId).pipe(
      Schema.filter((ids) => ids.length > 0 || "Is empty: leave it out for all platforms"),
      Schema.annotations({ description: "Only matches on these platforms; without it, on all" })
    ),
    { exact: true }
  ),
  description: Schema.optionalWith(
    trimmedText(500).annotations({ jsonSchema: { type: "string", minLength: 1, maxLength: 500 } }),
    { exact: true }
  )
})
export type WebhookDraft = typeof WebhookDraft.Type

export const AttemptKind = Schema.Literal("delivery", "replay", "test").annotations({
  description: "delivery: in the order of matches, by the server itself; replay and test: because someone asked for it"
})
export type AttemptKind = typeof AttemptKind.Type

export const AttemptOutcome = Schema.Literal("delivered", "failed", "skipped").annotations({
  description: "skipped: matches were deleted by age or number before they could be delivered; nothing was sent"
})
export type AttemptOutcome = typeof AttemptOutcome.Type

export const WebhookAttempt = Schema.Struct({
  id: AttemptId,
  webhook_id: WebhookId,
  at: Timestamp,
  kind: AttemptKind,
  match_id: Schema.optionalWith(MatchId, { exact: true }),
  outcome: AttemptOutcome,
  status: Schema.optionalWith(Schema.Int, { exact: true }).annotations({ description: "HTTP status of the answer" }),
  duration_ms: Schema.Int,
  error: Schema.optionalWith(Schema.String, { exact: true }).annotations({ description: "Why it failed, in words" }),
  response: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "The first 500 characters of the answer"
  })
}).annotations({ identifier: "WebhookAttempt" })
export type WebhookAttempt = typeof WebhookAttempt.Type

export const Webhook = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  description: Schema.optionalWith(Schema.String, { exact: true }),
  rule_ids: Schema.optionalWith(Schema.Array(RuleId), { exact: true }),
  platforms: Schema.optionalWith(Schema.Array(PlatformId), { exact: true }),
  created_at: Timestamp,
  state: Schema.Literal("active", "retrying", "disabled").annotations({
    description: "retrying: the last delivery failed and later ones wait for it; disabled: nothing is sent any more"
  }),
  disabled_reason: Schema.optionalWith(Schema.String, { exact: true }),
  next_attempt_at: Schema.optionalWith(Timestamp, { exact: true }).annotations({
    description: "When the delivery that failed is tried again"
  }),
  last_attempt: Schema.optionalWith(WebhookAttempt, { exact: true })
}).annotations({ identifier: "Webhook" })
export type Webhook = typeof Webhook.Type

/** Shown when it is created and when its secret is rotated, and never again. */
export const WebhookWithSecret = Schema.Struct({
  webhook: Webhook,
  secret: Schema.String.annotations({
    description: "Verifies the signatures (Standard Webhooks: whsec_ and Base64). It is shown this once"
  })
})
export type WebhookWithSecret = typeof WebhookWithSecret.Type

export const AttemptQuery = Schema.Struct({
  webhook_id: Schema.String,
  limit: Schema.optionalWith(
    Schema.Number.pipe(
      Schema.filter((n) => (Number.isInteger(n) && n >= 1 && n <= 500) || "Expected a whole number from 1 to 500")
    ).annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: 500, default: 50 } }),
    { exact: true, default: () => 50 }
  ),
  cursor: Schema.optionalWith(
    AttemptId.annotations({
      message: () => ({ message: "Expected the next_cursor of an earlier answer", override: true }),
      jsonSchema: { type: "string", description: "The next_cursor of an earlier answer: the page after it" }
    }),
    { exact: true }
  )
})
export type AttemptQuery = typeof AttemptQuery.Type

export const AttemptList = Schema.Struct({
  attempts: Schema.Array(WebhookAttempt),
  next_cursor: Schema.optionalWith(
    AttemptId.annotations({
      jsonSchema: { type: "string", description: "Send it as cursor for the next page; absent on the last one" }
    }),
    { exact: true }
  )
})
export type AttemptList = typeof AttemptList.Type

export const ReplayRequest = Schema.Struct({
  webhook_id: Schema.String,
  match_id: Schema.optionalWith(Schema.String.annotations({ description: "Send this one match again, now" }), {
    exact: true
  }),
  after: Schema.optionalWith(
    Schema.String.annotations({
      description:
        "The id of a match: delivery goes on with what came after it. An earlier one than the last that was delivered has all since then delivered again; a later one leaves out what is between"
    }),
    { exact: true }
  )
})
export type ReplayRequest = typeof ReplayRequest.Type

// ---- helpers ----

function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(text) && URL.canParse(text)
}

function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text)
  return username !== "" || password !== ""
}
