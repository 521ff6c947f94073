/** The operations on webhooks; `operations.ts` has all the others. */
import { Effect, Schema } from "effect"
import { WebhookId } from "../core/model/Ids.ts"
import {
  AttemptList,
  AttemptQuery,
  ReplayRequest,
  Webhook,
  WebhookAttempt,
  WebhookDraft,
  WebhookWithSecret
} from "../core/webhooks/Webhook.ts"
import { Webhooks } from "../core/webhooks/Webhooks.ts"
import { type AnyEndpoint, endpoint } from "./endpoint.ts"

const RULE = "rule_01kzyn3v8jf9g8w3q5r7t2x4c6"
const MATCH = "match_01kzyn5a2me0vb6h9d4s8y1k3p"
const WEBHOOK = "webhook_01kzyn61c4f8gr2w9x3v5t7b0d"

const ById = Schema.Struct({ webhook_id: Schema.String })

const ATTEMPT = {
  id: "attempt_01kzyn6q0xf9hv4d2m8s6k1p3r",
  webhook_id: WEBHOOK,
  at: "2026-11-15T08:31:07.611Z",
  kind: "delivery",
  match_id: MATCH,
  outcome: "delivered",
  status: 204,
  duration_ms: 87,
  response: ""
} as const

const EXAMPLE = {
  id: WEBHOOK,
  url: "https://example.com/earshot",
  rule_ids: [RULE],
  created_at: "2026-11-15T08:30:30.000Z",
  state: "active"
} as const

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

export const createWebhook = endpoint({
  method: "POST",
  path: "/webhooks/create",
  name: "createWebhook",
  tag: "webhooks",
  summary: "Create a webhook",
  description:
    'Each match that is stored from now on is sent to the URL, one after another in their order, signed by Standard Webhooks 1.0: POST with `{type: "match.created", timestamp, data}`, where data is the match. The header webhook-id is the match\'s id and the same on every attempt: a message may come more than once. An answer of 2xx within 15 seconds is success. Anything else is tried again after 5 seconds, then ever more slowly for three days, while later matches wait; then the webhook is disabled. 410 disables it at once. Redirects are not followed. The secret is shown this once.',
  input: WebhookDraft,
  output: WebhookWithSecret,
  example: {
    request: { url: "https://example.com/earshot", rule_ids: [RULE] },
    response: { webhook: EXAMPLE, secret: SECRET }
  },
  handle: (account, draft) => Effect.flatMap(Webhooks, (webhooks) => webhooks.create(account, draft))
})

export const listWebhooks = endpoint({
  method: "GET",
  path: "/webhooks",
  name: "listWebhooks",
  tag: "webhooks",
  summary: "List the webhooks",
  description: "All webhooks of the account, newest first, with how each is doing.",
  input: Schema.Struct({}),
  output: Schema.Struct({ webhooks: Schema.Array(Webhook) }),
  example: { response: { webhooks: [{ ...EXAMPLE, last_attempt: ATTEMPT }] } },
  handle: (account) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { webhooks: yield* webhooks.list(account) }
    })
})

export const deleteWebhook = endpoint({
  method: "POST",
  path: "/webhooks/delete",
  name: "deleteWebhook",
  tag: "webhooks",
  summary: "Delete a webhook",
  description: "Nothing is sent to it any more; its attempts are deleted, too.",
  input: ById,
  output: Schema.Struct({ webhook_id: WebhookId }),
  example: { request: { webhook_id: WEBHOOK }, response: { webhook_id: WEBHOOK } },
  handle: (account, { webhook_id }) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { webhook_id: yield* webhooks.delete(account, webhook_id) }
    })
})

export const testWebhook = endpoint({
  method: "POST",
  path: "/webhooks/test",
  name: "testWebhook",
  tag: "webhooks",
  summary: "Send a test message to a webhook",
  description:
    'Sends a signed message of the type "webhook.test" now, also to a webhook that is disabled, and answers what came back. Changes nothing else.',
  input: ById,
  output: Schema.Struct({ attempt: WebhookAttempt }),
  example: {
    request: { webhook_id: WEBHOOK },
    response: {
      attempt: {
        id: ATTEMPT.id,
        webhook_id: WEBHOOK,
        at: ATTEMPT.at,
        kind: "test",
        outcome: "failed",
        duration_ms: 12,
        error: "Cannot be reached: connection refused"
      }
    }
  },
  handle: (account, { webhook_id }) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { attempt: yield* webhooks.test(account, webhook_id) }
    })
})

export const rotateWebhookSecret = endpoint({
  method: "POST",
  path: "/webhooks/rotate-secret",
  name: "rotateWebhookSecret",
  tag: "webhooks",
  summary: "Give a webhook a new secret",
  description:
    "The secret is shown this once. For 24 hours messages carry a signature by the old one, too, so that a receiver can be changed in between.",
  input: ById,
  output: WebhookWithSecret,
  example: { request: { webhook_id: WEBHOOK }, response: { webhook: EXAMPLE, secret: SECRET } },
  handle: (account, { webhook_id }) =>
    Effect.flatMap(Webhooks, (webhooks) => webhooks.rotateSecret(account, webhook_id))
})

export const enableWebhook = endpoint({
  method: "POST",
  path: "/webhooks/enable",
  name: "enableWebhook",
  tag: "webhooks",
  summary: "Enable a webhook, or try it again now",
  description:
    "A webhook that was disabled goes on with the match at which it stopped: nothing is left out that is still kept. One that waits for its next attempt makes it now.",
  input: ById,
  output: Schema.Struct({ webhook: Webhook }),
  example: { request: { webhook_id: WEBHOOK }, response: { webhook: EXAMPLE } },
  handle: (account, { webhook_id }) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      return { webhook: yield* webhooks.enable(account, webhook_id) }
    })
})

export const listWebhookAttempts = endpoint({
  method: "POST",
  path: "/webhooks/attempts",
  name: "listWebhookAttempts",
  tag: "webhooks",
  summary: "List what was sent to a webhook",
  description:
    "Every attempt with what came back, newest first; the last 1,000 of the last 30 days. Where more follow, next_cursor is given: send it as cursor for the next page.",
  input: AttemptQuery,
  output: AttemptList,
  example: { request: { webhook_id: WEBHOOK, limit: 50 }, response: { attempts: [ATTEMPT] } },
  handle: (account, query) => Effect.flatMap(Webhooks, (webhooks) => webhooks.attempts(account, query))
})

export const replayWebhook = endpoint({
  method: "POST",
  path: "/webhooks/replay",
  name: "replayWebhook",
  tag: "webhooks",
  summary: "Send matches to a webhook again",
  description:
    "With `match_id`, that one is sent now, and the answer says what came back. With `after`, delivery goes on after that match: everything since then is delivered again in its order, or, where it is a later one than the last that was delivered, what is between is left out. Either is a match of the account that is still kept.",
  input: ReplayRequest,
  output: Schema.Struct({ webhook: Webhook, attempt: Schema.optionalWith(WebhookAttempt, { exact: true }) }),
  example: {
    request: { webhook_id: WEBHOOK, match_id: MATCH },
    response: { webhook: EXAMPLE, attempt: { ...ATTEMPT, kind: "replay" } }
  },
  handle: (account, request) => Effect.flatMap(Webhooks, (webhooks) => webhooks.replay(account, request))
})

export const webhookEndpoints: ReadonlyArray<AnyEndpoint> = [
  createWebhook,
  listWebhooks,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  enableWebhook,
  listWebhookAttempts,
  replayWebhook
]
