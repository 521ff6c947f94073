/** Sends one message to one webhook and describes the attempt. */
import { Clock, Duration, Effect, Option, type Redacted } from "effect"
import { type Match, redactionOf } from "../matches/Match.ts"
import type { Change } from "../matches/MatchStore.ts"
import type { Ids, MatchId } from "../model/Ids.ts"
import { fromMillis } from "../model/Timestamp.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import type { GapMessage } from "./gapMessages.ts"
import type { AttemptKind, WebhookAttempt } from "./Webhook.ts"
import type { Answer, WebhookSender } from "./WebhookSender.ts"
import type { StoredWebhook } from "./WebhookStore.ts"

export interface AttemptResult {
  readonly attempt: WebhookAttempt
  readonly answer: Answer
}

export interface Attempts {
  readonly change: (webhook: StoredWebhook, change: Change) => Effect.Effect<AttemptResult>
  readonly gap: (webhook: StoredWebhook, message: GapMessage) => Effect.Effect<AttemptResult>
  /** Sends a match again, on request. */
  readonly replay: (webhook: StoredWebhook, match: Match) => Effect.Effect<AttemptResult>
  readonly test: (webhook: StoredWebhook) => Effect.Effect<AttemptResult>
}

export const makeAttempts = (sender: WebhookSender["Type"], ids: Ids["Type"]): Attempts => {
  const send = Effect.fnUntraced(function* (webhook: StoredWebhook, message: OutgoingMessage) {
    const at = yield* Clock.currentTimeMillis
    const { id, kind, body } = message
    const [took, answer] = yield* Effect.timed(
      sender.send({ url: webhook.url, id, at, body: JSON.stringify(body), secrets: secretsOf(webhook, at) })
    )
    const error = errorOf(answer)
    const outcome = error === undefined ? ("delivered" as const) : ("failed" as const)
    yield* Metrics.webhookAttempted(outcome)
    const attempt: WebhookAttempt = {
      id: yield* ids.attempt,
      webhook_id: webhook.id,
      at: fromMillis(at),
      kind,
      ...(message.match !== undefined && { match_id: message.match }),
      outcome,
      ...(answer._tag === "Answered" && { status: answer.status }),
      duration_ms: Math.round(Duration.toMillis(took)),
      ...(error !== undefined && { error }),
      ...(answer._tag === "Answered" && { response: answer.body })
    }
    return { attempt, answer }
  })

  return {
    change: (webhook, change) =>
      send(webhook, { id: change.id, match: change.match.id, kind: "delivery", body: bodyOf(change) }),
    gap: (webhook, { id, timestamp, data }) =>
      send(webhook, { id, kind: "delivery", body: { type: "coverage.gap", timestamp, data } }),
    replay: (webhook, match) =>
      send(webhook, { id: match.id, match: match.id, kind: "replay", body: createdBody(match) }),
    test: Effect.fnUntraced(function* (webhook) {
      const timestamp = fromMillis(yield* Clock.currentTimeMillis)
      const data = { webhook_id: webhook.id }
      return yield* send(webhook, {
        id: yield* ids.attempt,
        kind: "test",
        body: { type: "webhook.test", timestamp, data }
      })
    })
  }
}

// ---- helpers ----

const createdBody = (match: Match) => ({ type: "match.created", timestamp: match.created_at, data: match })

const bodyOf = (change: Change) =>
  change._tag === "Matched"
    ? createdBody(change.match)
    : { type: "match.redacted", timestamp: change.match.redacted.at, data: redactionOf(change.match) }

interface OutgoingMessage {
  readonly id: string
  readonly match?: MatchId
  readonly kind: AttemptKind
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown }
}

const secretsOf = ({ secret, previousSecret }: StoredWebhook, now: number): ReadonlyArray<Redacted.Redacted> =>
  Option.match(previousSecret, {
    onNone: () => [secret],
    onSome: (previous) => (fromMillis(now) < previous.until ? [secret, previous.secret] : [secret])
  })

/** Undefined for a 2xx response. */
const errorOf = (answer: Answer): string | undefined => {
  if (answer._tag === "Unanswered") return answer.reason
  const { status } = answer
  if (status >= 200 && status < 300) return undefined
  if (status >= 300 && status < 400) return `Answered ${status}: redirects are not followed, use the target URL`
  return status === 410 ? "Answered 410: the receiver wants no more messages" : `Answered ${status}`
}
