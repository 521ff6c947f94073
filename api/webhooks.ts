/** The operations on webhooks. */
import { Schema } from "effect"
import { WebhookId } from "../core/model/Ids.ts"
import { optional } from "../core/model/optional.ts"
import {
  AttemptList,
  AttemptQuery,
  ReplayRequest,
  Webhook,
  WebhookAttempt,
  WebhookDraft,
  WebhookWithSecret
} from "../core/webhooks/Webhook.ts"
import { contract } from "./Contract.ts"
import { EXAMPLE_MATCH, EXAMPLE_RULE } from "./examples.ts"

const EXAMPLE_ID = "webhook_01kzyn61c4f8gr2w9x3v5t7b0d"

const ById = Schema.Struct({ webhook_id: Schema.String })

const exampleAttempt = {
  id: "attempt_01kzyn6q0xf9hv4d2m8s6k1p3r",
  webhook_id: EXAMPLE_ID,
  at: "2026-11-15T08:31:07.611Z",
  kind: "delivery",
  match_id: EXAMPLE_MATCH,
  outcome: "delivered",
  status: 204,
  duration_ms: 87,
  response: ""
} as const

const exampleWebhook = {
  id: EXAMPLE_ID,
  url: "https://example.com/earshot",
  rule_ids: [EXAMPLE_RULE],
  events: ["match", "match.redacted"],
  kind: "webhook",
  created_at: "2026-11-15T08:30:30.000Z",
  state: "active"
} as const

const EXAMPLE_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

export const webhooks = {
  create: contract({
    method: "POST",
    path: "/webhooks/create",
    name: "createWebhook",
    scope: "write",
    tag: "webhooks",
    summary: "Create a webhook",
    description:
      'Sends each match that is stored from now on to the URL, one at a time and in order, signed as in Standard Webhooks 1.0: POST with `{type: "match.created", timestamp, data}`, where data is the match. The header webhook-id is the id of the match and the same on every attempt, because a message may arrive more than once. A 2xx response within 15 seconds is a success. Anything else is retried after 5 seconds and then with backoff for three days, while later matches wait; then the webhook is disabled. A 410 response disables it at once. Redirects are not followed. With the event `coverage.gap` the webhook also gets `{type: "coverage.gap", timestamp, data: {platform, rule_id, gap}}` when a gap of its rules begins, ends or is recovered; `gap` has no `to` while it is open, and `rule_id` is absent if the whole platform was not watched. The secret is shown only in this response.',
    input: WebhookDraft,
    output: WebhookWithSecret,
    example: {
      request: { url: "https://example.com/earshot", rule_ids: [EXAMPLE_RULE] },
      response: { webhook: exampleWebhook, secret: EXAMPLE_SECRET }
    }
  }),

  list: contract({
    method: "GET",
    path: "/webhooks",
    name: "listWebhooks",
    scope: "read",
    tag: "webhooks",
    summary: "List the webhooks",
    description:
      "All webhooks of the account, newest first, each with its state. With those of the kind subscription, which MCP clients made with events/subscribe.",
    input: Schema.Struct({}),
    output: Schema.Struct({ webhooks: Schema.Array(Webhook) }),
    example: {
      response: { webhooks: [{ ...exampleWebhook, last_delivery: exampleAttempt, last_attempt: exampleAttempt }] }
    }
  }),

  delete: contract({
    method: "POST",
    path: "/webhooks/delete",
    name: "deleteWebhook",
    scope: "write",
    tag: "webhooks",
    summary: "Delete a webhook",
    description: "Stops delivery and deletes the attempts of the webhook.",
    input: ById,
    output: Schema.Struct({ webhook_id: WebhookId }),
    example: { request: { webhook_id: EXAMPLE_ID }, response: { webhook_id: EXAMPLE_ID } }
  }),

  test: contract({
    method: "POST",
    path: "/webhooks/test",
    name: "testWebhook",
    scope: "write",
    isLong: true,
    tag: "webhooks",
    summary: "Send a test message to a webhook",
    description:
      'Sends a signed message of the type "webhook.test" now, also to a disabled webhook, and returns the attempt. Does not change the webhook.',
    input: ById,
    output: Schema.Struct({ attempt: WebhookAttempt }),
    example: {
      request: { webhook_id: EXAMPLE_ID },
      response: {
        attempt: {
          id: exampleAttempt.id,
          webhook_id: EXAMPLE_ID,
          at: exampleAttempt.at,
          kind: "test",
          outcome: "failed",
          duration_ms: 12,
          error: "Cannot be reached: connection refused"
        }
      }
    }
  }),

  rotateSecret: contract({
    method: "POST",
    path: "/webhooks/rotate-secret",
    name: "rotateWebhookSecret",
    scope: "write",
    tag: "webhooks",
    summary: "Give a webhook a new secret",
    description:
      "The new secret is shown only in this response. For 24 hours messages are signed with the old secret too, so that the receiver can change over.",
    input: ById,
    output: WebhookWithSecret,
    example: { request: { webhook_id: EXAMPLE_ID }, response: { webhook: exampleWebhook, secret: EXAMPLE_SECRET } }
  }),

  enable: contract({
    method: "POST",
    path: "/webhooks/enable",
    name: "enableWebhook",
    scope: "write",
    tag: "webhooks",
    summary: "Enable a webhook, or retry it now",
    description:
      "A disabled webhook resumes with the match at which it stopped; only matches that were deleted since are skipped. A webhook that waits for a retry makes it now.",
    input: ById,
    output: Schema.Struct({ webhook: Webhook }),
    example: { request: { webhook_id: EXAMPLE_ID }, response: { webhook: exampleWebhook } }
  }),

  attempts: contract({
    method: "POST",
    path: "/webhooks/attempts",
    name: "listWebhookAttempts",
    scope: "read",
    tag: "webhooks",
    summary: "List the attempts of a webhook",
    description:
      "Every attempt with its response, newest first: at most 1,000, of the last 30 days. If there are more, the response has next_cursor: send it as cursor to get the next page.",
    input: AttemptQuery,
    output: AttemptList,
    example: { request: { webhook_id: EXAMPLE_ID, limit: 50 }, response: { attempts: [exampleAttempt] } }
  }),

  replay: contract({
    method: "POST",
    path: "/webhooks/replay",
    name: "replayWebhook",
    scope: "write",
    isLong: true,
    tag: "webhooks",
    summary: "Send matches to a webhook again",
    description:
      "With `match_id`, sends that match now and returns the attempt. With `after`, moves the delivery position to that match: all later matches are delivered again, in order. If the match is later than the last delivered one, the matches in between are skipped. Both must name a stored match of the account.",
    input: ReplayRequest,
    output: Schema.Struct({ webhook: Webhook, attempt: optional(WebhookAttempt) }),
    example: {
      request: { webhook_id: EXAMPLE_ID, match_id: EXAMPLE_MATCH },
      response: { webhook: exampleWebhook, attempt: { ...exampleAttempt, kind: "replay" } }
    }
  })
}
