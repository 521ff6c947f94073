/** The `webhooks` of the OpenAPI document: every message that the server sends to receivers. */
import { Schema } from "effect"
import { EXAMPLE_MATCH, EXAMPLE_RULE, exampleMatch } from "../../api/examples.ts"
import type { PlatformSchemas } from "../../api/platformSchemas.ts"
import { Match, Redaction } from "../../core/matches/Match.ts"
import { WebhookId } from "../../core/model/Ids.ts"
import { Timestamp } from "../../core/model/Timestamp.ts"
import { gapBody, terminatedBody, verificationBody } from "../../core/webhooks/eventMessages.ts"
import { PAYLOADS } from "../mcp/eventTypes.ts"
import { fieldsOf, type NamedSchemas } from "../trpc/zodSchemas.ts"

type Json = Record<string, unknown>

export const webhookMessages = (schemas: PlatformSchemas, named: NamedSchemas): Json => {
  const documented = ({ name, summary, description, body, example }: Message, ofSubscription: boolean) => ({
    post: {
      operationId: `send${name.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: ["webhooks"],
      summary,
      description: `${description} ${ofSubscription ? TO_SUBSCRIPTION : TO_WEBHOOK}`,
      security: [],
      parameters: ofSubscription ? [...headers, subscriptionHeader] : headers,
      requestBody: {
        required: true,
        content: { "application/json": { schema: fieldsOf(schemas(body), "allow", named), example } }
      },
      responses: { "2XX": { description: "The receiver has the message" } }
    }
  })
  return Object.fromEntries([
    ...toWebhooks.map((one) => [one.name, documented(one, false)]),
    ...toSubscriptions.map((one) => [one.name, documented(one, true)])
  ])
}

// ---- helpers ----

interface Message {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly body: Schema.Schema.AnyNoContext
  readonly example: unknown
}

const TO_WEBHOOK =
  "Any 2xx status within 15 seconds is a success. Everything else is retried for three days, and 410 disables the webhook."

const TO_SUBSCRIPTION =
  "Sent to a subscription, which an MCP client makes with events/subscribe. Any 2xx status within 10 seconds is a success."

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" }
})

const headers = [
  header("webhook-id", "The same on every attempt: use it to dedupe"),
  header("webhook-timestamp", "Unix seconds of the attempt"),
  header("webhook-signature", "As in Standard Webhooks 1.0: `v1,` and a Base64 HMAC-SHA256, one per secret")
]

const subscriptionHeader = header("X-MCP-Subscription-Id", "The id of the subscription")

const typed = (type: string, data: Schema.Schema.AnyNoContext) =>
  Schema.Struct({ type: Schema.Literal(type), timestamp: Timestamp, data })

const event = (name: keyof typeof PAYLOADS) =>
  Schema.Struct({
    eventId: Schema.String.annotations({ description: "Equal to the header webhook-id" }),
    name: Schema.Literal(name),
    timestamp: Timestamp,
    data: PAYLOADS[name],
    cursor: Schema.String.annotations({ description: "Subscribe with it to continue after this event" })
  })

const CREATED_AT = "2026-11-15T08:31:00.000Z"
const CHANGED_AT = "2026-11-15T08:31:44.000Z"

const redaction = {
  rule_id: EXAMPLE_RULE,
  platform: "x",
  redacted: { at: CHANGED_AT, reason: "deleted" }
}
const gap = {
  platform: "x",
  gap: {
    from: CREATED_AT,
    to: CHANGED_AT,
    cause: "outage",
    detail: "The connection failed: the connection was cut",
    recovered: false
  }
}

const toWebhooks: ReadonlyArray<Message> = [
  {
    name: "match.created",
    summary: "A match was stored",
    description: "In the order in which matches are stored; later ones wait while one is retried.",
    body: typed("match.created", Match),
    example: {
      type: "match.created",
      timestamp: CREATED_AT,
      data: { ...exampleMatch, created_at: CREATED_AT }
    }
  },
  {
    name: "match.redacted",
    summary: "The payload of a match was removed",
    description: "Remove your copy.",
    body: typed("match.redacted", Redaction),
    example: {
      type: "match.redacted",
      timestamp: CHANGED_AT,
      data: { id: EXAMPLE_MATCH, platform_post_id: exampleMatch.platform_post_id, ...redaction }
    }
  },
  {
    name: "coverage.gap",
    summary: "A gap began, ended or was recovered",
    description: "Only to webhooks with the event coverage.gap.",
    body: typed("coverage.gap", PAYLOADS["coverage.gap"]),
    example: { type: "coverage.gap", timestamp: CHANGED_AT, data: gap }
  },
  {
    name: "webhook.test",
    summary: "A test",
    description: "Sent by `POST /webhooks/test`, and not retried.",
    body: typed("webhook.test", Schema.Struct({ webhook_id: WebhookId })),
    example: {
      type: "webhook.test",
      timestamp: CREATED_AT,
      data: { webhook_id: "webhook_01kzyn61c4f8gr2w9x3v5t7b0d" }
    }
  }
]

const toSubscriptions: ReadonlyArray<Message> = [
  {
    name: "subscription.match.created",
    summary: "Event: a match was stored",
    description: "The essentials of the match, with text by strangers between marks.",
    body: event("match.created"),
    example: {
      eventId: EXAMPLE_MATCH,
      name: "match.created",
      timestamp: CREATED_AT,
      data: {
        match_id: EXAMPLE_MATCH,
        rule_id: EXAMPLE_RULE,
        platform: "x",
        created_at: CREATED_AT,
        url: `https://x.com/i/status/${exampleMatch.platform_post_id}`,
        content: "…\n----- begin untrusted content 5f3a… -----\n{…}\n----- end untrusted content 5f3a… -----"
      },
      cursor: EXAMPLE_MATCH
    }
  },
  {
    name: "subscription.match.redacted",
    summary: "Event: the payload of a match was removed",
    description: "Do not use or repeat what it said.",
    body: event("match.redacted"),
    example: {
      eventId: `${EXAMPLE_MATCH}_redacted`,
      name: "match.redacted",
      timestamp: CHANGED_AT,
      data: { match_id: EXAMPLE_MATCH, ...redaction },
      cursor: "match_01kzyn6n5se2r4t8w0y3v6z9bq"
    }
  },
  {
    name: "subscription.coverage.gap",
    summary: "Event: a gap began, ended or was recovered",
    description: "",
    body: event("coverage.gap"),
    example: {
      eventId: "gap_x_outage_1794731460000_ended",
      name: "coverage.gap",
      timestamp: CHANGED_AT,
      data: gap,
      cursor: "gaps_0k3j9fx"
    }
  },
  {
    name: "subscription.verification",
    summary: "Challenge before a subscription",
    description: "Answer it with a JSON object that has the same `challenge`.",
    body: Schema.Struct({ type: Schema.Literal("verification"), challenge: Schema.String }),
    example: verificationBody("6m8Wb1oYzJ1s0fQ2c0pWJ8m3t5Vn7kXr9uLhAq4dGeE")
  },
  {
    name: "subscription.gap",
    summary: "Events may be missing",
    description: "Retention has deleted matches before their delivery, or the platform was not watched. Tried twice.",
    body: Schema.Struct({ type: Schema.Literal("gap"), cursor: Schema.String }),
    example: gapBody("match_01kzyn6n5se2r4t8w0y3v6z9bq")
  },
  {
    name: "subscription.terminated",
    summary: "The subscription has ended",
    description: "Its key was revoked or has expired, or its rule was deleted. Tried twice.",
    body: Schema.Struct({
      type: Schema.Literal("terminated"),
      error: Schema.Struct({ code: Schema.Int, message: Schema.String })
    }),
    example: terminatedBody("rule")
  }
]
