/** Wire schemas of webhooks and delivery attempts. */
import { Schema } from "effect"
import { AttemptId, GrantId, KeyId, MatchId, RuleId, WebhookId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { nextCursor, pageFields } from "../model/paging.ts"
import { Timestamp } from "../model/Timestamp.ts"
import { trimmedText } from "../model/trimmedText.ts"
import { webUrl } from "../model/webUrl.ts"

const MAX_RULES = 100

export const CallbackUrl = webUrl({
  example: "https://example.com/hooks",
  who: "webhooks",
  credentials: "remove it, messages are signed",
  description: "Where to send the messages",
  hasFragment: false
})

export const WebhookEvent = Schema.Literal("match", "match.redacted", "coverage.gap").annotations({
  description:
    "match: new matches; match.redacted: payloads that were removed; coverage.gap: gaps in which the rules were not watched, when they begin, end and are recovered"
})
export type WebhookEvent = typeof WebhookEvent.Type

export const DEFAULT_EVENTS: ReadonlyArray<WebhookEvent> = ["match", "match.redacted"]

export const WebhookDraft = Schema.Struct({
  url: CallbackUrl,
  rule_ids: optional(
    Schema.Array(Schema.String).pipe(
      Schema.filter((ids) => ids.length > 0 || "Is empty: omit it for the matches of all rules", {
        jsonSchema: { minItems: 1 }
      }),
      Schema.filter((ids) => ids.length <= MAX_RULES || `Lists too many rules: at most ${MAX_RULES} are allowed`, {
        jsonSchema: { maxItems: MAX_RULES }
      }),
      Schema.annotations({ description: "Only matches of these rules; all rules if absent" })
    )
  ),
  platforms: optional(
    Schema.Array(PlatformId).pipe(
      Schema.filter((ids) => ids.length > 0 || "Is empty: omit it for all platforms", { jsonSchema: { minItems: 1 } }),
      Schema.annotations({ description: "Only matches on these platforms; all platforms if absent" })
    )
  ),
  events: optional(
    Schema.Array(WebhookEvent).pipe(
      Schema.filter((events) => events.length > 0 || "Is empty: omit it for matches and redactions", {
        jsonSchema: { minItems: 1 }
      }),
      Schema.annotations({ description: "What is sent; match and match.redacted if absent" })
    )
  ),
  description: optional(trimmedText(500).annotations({ jsonSchema: { type: "string", minLength: 1, maxLength: 500 } }))
})
export type WebhookDraft = typeof WebhookDraft.Type

export const AttemptKind = Schema.Literal("delivery", "replay", "test").annotations({
  description: "delivery: sent by the server, in the order of matches; replay and test: sent on request"
})
export type AttemptKind = typeof AttemptKind.Type

export const AttemptOutcome = Schema.Literal("delivered", "failed", "skipped").annotations({
  description: "skipped: retention deleted matches before they were delivered; nothing was sent"
})
export type AttemptOutcome = typeof AttemptOutcome.Type

export const WebhookAttempt = Schema.Struct({
  id: AttemptId,
  webhook_id: WebhookId,
  at: Timestamp,
  kind: AttemptKind,
  match_id: optional(MatchId),
  outcome: AttemptOutcome,
  status: optional(Schema.Int, "HTTP status of the response"),
  duration_ms: Schema.Int,
  error: optional(Schema.String, "Why the attempt failed"),
  response: optional(Schema.String, "The first 500 characters of the response")
}).annotations({ identifier: "WebhookAttempt" })
export type WebhookAttempt = typeof WebhookAttempt.Type

export const Webhook = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  description: optional(Schema.String),
  rule_ids: optional(Schema.Array(RuleId)),
  platforms: optional(Schema.Array(PlatformId)),
  events: Schema.Array(WebhookEvent),
  kind: Schema.Literal("webhook", "subscription").annotations({
    description:
      "subscription: made by an MCP client with events/subscribe, and ended by it, when it expires, or with its key or rule"
  }),
  subscription: optional(
    Schema.Struct({
      id: Schema.String.annotations({ description: "The id that its client knows" }),
      event: Schema.String.annotations({ description: "The type of event, such as match.created" }),
      client: optional(Schema.String, "The name that its client gives itself"),
      key_id: KeyId.annotations({ description: "Ends the subscription when it is revoked or expires" }),
      grant_id: optional(GrantId, "Of a client that signed in: ends the subscription when it is revoked or expires"),
      expires_at: Timestamp.annotations({ description: "Unless its client refreshes it" })
    }),
    "Of a subscription"
  ),
  created_at: Timestamp,
  state: Schema.Literal("active", "retrying", "disabled").annotations({
    description: "retrying: the last delivery failed, and later ones wait for its retry; disabled: nothing is sent"
  }),
  disabled_reason: optional(Schema.String),
  next_attempt_at: optional(Timestamp, "When the failed delivery is retried"),
  last_delivery: optional(WebhookAttempt, "The last attempt of the kind delivery, which `state` depends on"),
  last_attempt: optional(WebhookAttempt, "The last attempt of any kind: a test or a replay says nothing about `state`")
}).annotations({ identifier: "Webhook" })
export type Webhook = typeof Webhook.Type

export const WebhookWithSecret = Schema.Struct({
  webhook: Webhook,
  secret: Schema.String.annotations({
    description: "Verifies the signatures (Standard Webhooks: whsec_ and Base64). It is shown only once"
  })
})
export type WebhookWithSecret = typeof WebhookWithSecret.Type

export const AttemptQuery = Schema.Struct({
  webhook_id: Schema.String,
  ...pageFields(AttemptId)
})
export type AttemptQuery = typeof AttemptQuery.Type

export const AttemptList = Schema.Struct({
  attempts: Schema.Array(WebhookAttempt),
  next_cursor: nextCursor(AttemptId)
})
export type AttemptList = typeof AttemptList.Type

export const ReplayRequest = Schema.Struct({
  webhook_id: Schema.String,
  match_id: optional(Schema.String.annotations({ description: "Sends this match again, now" })),
  after: optional(
    Schema.String.annotations({
      description:
        "The id of a match: delivery continues after it. An id before the last delivered match repeats deliveries; a later id skips matches"
    })
  )
})
export type ReplayRequest = typeof ReplayRequest.Type
