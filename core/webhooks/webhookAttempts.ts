/** Sends one message to one webhook and describes the attempt. */
import { Clock, Duration, Effect, Option, Redacted } from "effect"
import { type Match, redactionOf } from "../matches/Match.ts"
import type { Change } from "../matches/MatchStore.ts"
import { toJson } from "../matches/Payload.ts"
import type { Entropy } from "../model/Entropy.ts"
import type { Ids, MatchId } from "../model/Ids.ts"
import { fromMillis } from "../model/Timestamp.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { makeChallenges } from "./challenge.ts"
import type { EventData } from "./EventData.ts"
import { gapBody, gapEvent, matchEvent, redactionEvent, terminatedBody, toSubscription } from "./eventMessages.ts"
import type { GapMessage } from "./gapMessages.ts"
import type { EndReason } from "./Subscription.ts"
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
  /** Of a subscription: the challenge. */
  readonly test: (webhook: StoredWebhook) => Effect.Effect<AttemptResult>
  /** Tells a subscription that events up to the cursor may be missing. */
  readonly missed: (webhook: StoredWebhook, cursor: string) => Effect.Effect<AttemptResult>
  readonly ended: (webhook: StoredWebhook, reason: EndReason) => Effect.Effect<AttemptResult>
}

export interface AttemptServices {
  readonly sender: WebhookSender["Type"]
  readonly ids: Ids["Type"]
  readonly entropy: Entropy["Type"]
  readonly data: EventData["Type"]
}

export const makeAttempts = ({ sender, ids, entropy, data }: AttemptServices): Attempts => {
  const challenges = makeChallenges({ sender, entropy })

  const describe = Effect.fnUntraced(function* (
    { id, subscription }: StoredWebhook,
    { kind, match }: Pick<OutgoingMessage, "kind" | "match">,
    { at, took, answer, error = errorOf(answer, subscription) }: Sent
  ) {
    const outcome = error === undefined ? ("delivered" as const) : ("failed" as const)
    yield* Metrics.webhookAttempted(outcome)
    const attempt: WebhookAttempt = {
      id: yield* ids.attempt,
      webhook_id: id,
      at: fromMillis(at),
      kind,
      ...(match !== undefined && { match_id: match }),
      outcome,
      ...(answer._tag === "Answered" && { status: answer.status }),
      duration_ms: Math.round(Duration.toMillis(took)),
      ...(error !== undefined && { error }),
      ...(answer._tag === "Answered" && { response: answer.body.slice(0, MAX_KEPT_CHARACTERS).toWellFormed() })
    }
    return { attempt, answer }
  })

  const send = Effect.fnUntraced(function* (webhook: StoredWebhook, message: OutgoingMessage) {
    const at = yield* Clock.currentTimeMillis
    const { id, body } = message
    const options = Option.getOrUndefined(Option.map(webhook.subscription, ({ id }) => toSubscription(id)))
    const [took, answer] = yield* Effect.timed(
      sender.send({
        url: webhook.url,
        id,
        at,
        body: toJson(body),
        secrets: secretsOf(webhook, at),
        ...(options !== undefined && { options })
      })
    )
    return yield* describe(webhook, message, { at, took, answer })
  })

  const control = (webhook: StoredWebhook, what: string, body: object) =>
    send(webhook, { id: `msg_${what}_${entropy.uuid()}`, kind: "delivery", body })

  const sendChange = (webhook: StoredWebhook, change: Change, kind: AttemptKind) => {
    const match = change.match.id
    if (Option.isNone(webhook.subscription)) return send(webhook, { id: change.id, match, kind, body: bodyOf(change) })
    const body = eventOf(webhook, change)
    return send(webhook, { id: body.eventId, match, kind, body })
  }

  const eventOf = ({ secret }: StoredWebhook, change: Change) => {
    if (change._tag === "Redacted") return redactionEvent(data, redactionOf(change.match), change.id)
    // The same on every attempt, and unknown to the author of the event.
    const word = entropy.sha256(`${change.id} ${Redacted.value(secret)}`).slice(0, 24)
    return matchEvent(data, change.match, { word, cursor: change.id })
  }

  return {
    change: (webhook, change) => sendChange(webhook, change, "delivery"),
    gap: (webhook, message) => {
      const { id, timestamp, data: gap } = message
      const body = Option.isNone(webhook.subscription)
        ? { type: "coverage.gap", timestamp, data: gap }
        : gapEvent(data, message)
      return send(webhook, { id, kind: "delivery", body })
    },
    replay: (webhook, match) => sendChange(webhook, { _tag: "Matched", id: match.id, match }, "replay"),
    missed: (webhook, cursor) => control(webhook, "gap", gapBody(cursor)),
    ended: (webhook, reason) => control(webhook, "terminated", terminatedBody(reason)),
    test: Effect.fnUntraced(function* (webhook) {
      if (Option.isSome(webhook.subscription)) {
        const { id } = webhook.subscription.value
        const { url, secret } = webhook
        const { trouble, ...sent } = yield* challenges.send({ url, secret, subscription: id })
        const error = trouble === undefined ? {} : { error: errorOf(sent.answer, webhook.subscription) ?? trouble }
        return yield* describe(webhook, { kind: "test" }, { ...sent, ...error })
      }
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

interface Sent {
  readonly at: number
  readonly took: Duration.Duration
  readonly answer: Answer
  /** Undefined: as the answer says. */
  readonly error?: string | undefined
}

const MAX_KEPT_CHARACTERS = 500

const createdBody = (match: Match) => ({ type: "match.created", timestamp: match.created_at, data: match })

const bodyOf = (change: Change) =>
  change._tag === "Matched"
    ? createdBody(change.match)
    : { type: "match.redacted", timestamp: change.match.redacted.at, data: redactionOf(change.match) }

interface OutgoingMessage {
  readonly id: string
  readonly match?: MatchId
  readonly kind: AttemptKind
  readonly body: object
}

const secretsOf = ({ secret, previousSecret }: StoredWebhook, now: number): ReadonlyArray<Redacted.Redacted> =>
  Option.match(previousSecret, {
    onNone: () => [secret],
    onSome: (previous) => (fromMillis(now) < previous.until ? [secret, previous.secret] : [secret])
  })

/** Undefined for a 2xx response. */
const errorOf = (answer: Answer, subscription: StoredWebhook["subscription"]): string | undefined => {
  if (answer._tag === "Unanswered") return answer.reason
  const { status } = answer
  if (status >= 200 && status < 300) return undefined
  if (status >= 300 && status < 400) return `Answered ${status}: redirects are not followed, use the target URL`
  if (status !== 410) return `Answered ${status}`
  return Option.isSome(subscription)
    ? "Answered 410: the receiver does not want this message"
    : "Answered 410: the receiver wants no more messages"
}
