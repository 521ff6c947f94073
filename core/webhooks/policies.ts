/** What follows a failed attempt: it depends on the kind of webhook. */
import { Clock, Duration, Effect, Option, Random } from "effect"
import * as Timestamp from "../model/Timestamp.ts"
import type { WebhookAttempt } from "./Webhook.ts"
import { type DeliveryState, noFailures, type StoredWebhook } from "./WebhookStore.ts"
import type { AttemptResult } from "./webhookAttempts.ts"

/** What a message changes once it is settled: the receiver has it, or nobody will send it again. */
export type Progress = Pick<DeliveryState, "cursor" | "announcedGaps" | "gapTries" | "endTries">

export const stateAfter = Effect.fnUntraced(function* (
  webhook: StoredWebhook,
  settled: Progress,
  { attempt, answer }: AttemptResult,
  /** The latest attempts before, newest first. */
  recent: ReadonlyArray<WebhookAttempt>
) {
  const done: DeliveryState = { ...noFailures, ...settled }
  if (attempt.outcome === "delivered") return done
  const { backoff, drops, afterLast, suspends } = policyOf(webhook)
  const suspended = suspends ? suspensionOf([attempt, ...recent], yield* Clock.currentTimeMillis) : Option.none()
  const { cursor, announcedGaps, gapTries, endTries, failures: failedBefore } = webhook
  const failures = failedBefore + 1
  const failed: DeliveryState = { ...noFailures, cursor, announcedGaps, gapTries, endTries, failures }
  if (answer._tag === "Answered" && drops.includes(answer.status)) return { ...done, disabledReason: suspended }
  if (answer._tag === "Answered" && answer.status === 410) {
    return { ...failed, disabledReason: Option.some("The receiver answered 410 Gone: it wants no more messages") }
  }
  const wait = backoff[failedBefore]
  if (wait === undefined && afterLast === "drop") return { ...done, disabledReason: suspended }
  if (wait === undefined) {
    const message = attempt.match_id === undefined ? "A message about a gap" : `Match "${attempt.match_id}"`
    const reason = `${message} could not be delivered in ${failures} attempts over three days; the last one: ${attempt.error}`
    return { ...failed, disabledReason: Option.some(reason) }
  }
  if (Option.isSome(suspended)) return { ...failed, disabledReason: suspended }
  const jitter = 1 + (yield* Random.next) / 10
  const millis = Math.max(Duration.toMillis(wait) * jitter, Math.min(requestedWait(answer), MAX_WAIT_MILLIS))
  const at = (yield* Clock.currentTimeMillis) + millis
  return { ...failed, nextAttemptAt: Option.some(Timestamp.fromMillis(at)) }
})

/** Attempts that decide whether a subscription is suspended. */
export const SUSPENSION_ATTEMPTS = 100

// ---- helpers ----

interface Policy {
  /** By number of failures. */
  readonly backoff: ReadonlyArray<Duration.DurationInput>
  /** With these answers the message is given up at once. */
  readonly drops: ReadonlyArray<number>
  readonly afterLast: "disable" | "drop"
  readonly suspends: boolean
}

/** Three days in total. */
const ofWebhook: Policy = {
  backoff: [
    "5 seconds",
    "15 seconds",
    "45 seconds",
    "2 minutes",
    "5 minutes",
    "30 minutes",
    "2 hours",
    "5 hours",
    "10 hours",
    "14 hours",
    "20 hours",
    "24 hours"
  ],
  drops: [],
  afterLast: "disable",
  suspends: false
}

/** The receiver of a subscription is a conversation: what comes hours later is of no use to it. */
const ofSubscription: Policy = {
  backoff: ["5 seconds", "30 seconds", "2 minutes", "10 minutes"],
  drops: [410, 413],
  afterLast: "drop",
  suspends: true
}

const policyOf = ({ subscription }: StoredWebhook): Policy => (Option.isSome(subscription) ? ofSubscription : ofWebhook)

const SUSPENSION_MILLIS = Duration.toMillis("1 hour")
const MAX_FAILED = 95

const suspensionOf = (newestFirst: ReadonlyArray<WebhookAttempt>, now: number): Option.Option<string> => {
  const last = newestFirst.slice(0, SUSPENSION_ATTEMPTS)
  const failed = last.filter(({ outcome }) => outcome === "failed").length
  const oldest = last[SUSPENSION_ATTEMPTS - 1]
  return oldest !== undefined && failed > MAX_FAILED && Date.parse(oldest.at) > now - SUSPENSION_MILLIS
    ? Option.some(
        `${failed} of the last ${SUSPENSION_ATTEMPTS} attempts failed within an hour: suspended until the client refreshes the subscription`
      )
    : Option.none()
}

/** Upper limit for a Retry-After of the receiver. */
const MAX_WAIT_MILLIS = Duration.toMillis("24 hours")

const requestedWait = (answer: AttemptResult["answer"]): number =>
  answer._tag === "Answered" && (answer.status === 429 || answer.status === 503)
    ? Option.getOrElse(answer.retryAfter, () => 0)
    : 0
