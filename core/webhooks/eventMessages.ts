/** The messages to the receiver of a subscription. One without `type` is an event, the others control the subscription. */
import { Redacted } from "effect"
import { redactionOf } from "../matches/Match.ts"
import type { Change } from "../matches/MatchStore.ts"
import type { Entropy } from "../model/Entropy.ts"
import type { MatchId } from "../model/Ids.ts"
import type { EventData } from "./EventData.ts"
import { type GapMessage, gapCursorOf } from "./gapMessages.ts"
import type { EndReason, EventName } from "./Subscription.ts"
import type { SendOptions } from "./WebhookSender.ts"
import type { StoredWebhook } from "./WebhookStore.ts"

/** What is posted for an event. */
export interface EventBody {
  /** The same in all modes of delivery, and on every attempt. */
  readonly eventId: string
  readonly name: EventName
  readonly timestamp: string
  readonly data: object
  readonly cursor: string
}

export interface EventMessages {
  readonly change: (webhook: Pick<StoredWebhook, "secret">, change: Change) => EventBody
  readonly gap: (message: GapMessage) => EventBody
}

export const makeEventMessages = (
  data: EventData["Type"],
  { sha256 }: Pick<Entropy["Type"], "sha256">
): EventMessages => ({
  change: ({ secret }, change) => {
    if (change._tag === "Redacted") {
      const redaction = redactionOf(change.match)
      return {
        eventId: redactionEventId(redaction.id),
        name: "match.redacted",
        timestamp: redaction.redacted.at,
        data: data.ofRedaction(redaction),
        cursor: change.id
      }
    }
    const { id, match } = change
    // The same on every attempt, and unknown to the author of the event.
    const word = sha256(`${id} ${Redacted.value(secret)}`).slice(0, 24)
    return {
      eventId: match.id,
      name: "match.created",
      timestamp: match.created_at,
      data: data.ofMatch(match, word),
      cursor: id
    }
  },
  gap: (message) => ({
    eventId: message.id,
    name: "coverage.gap",
    timestamp: message.timestamp,
    data: data.ofGap(message.data),
    cursor: gapCursorOf(message.announced)
  })
})

/** A match is redacted once. */
export const redactionEventId = (match: MatchId): string => `${match}_redacted`

/** How a message reaches the receiver of a subscription. */
export const toSubscription = (id: string): SendOptions => ({
  headers: { "x-mcp-subscription-id": id },
  timeoutSeconds: 10,
  isSecure: true
})

export const gapBody = (cursor: string) => ({ type: "gap", cursor })

export const terminatedBody = (reason: EndReason) => ({
  type: "terminated",
  error: { code: -32_012, message: ENDED[reason] }
})

export const verificationBody = (challenge: string) => ({ type: "verification", challenge })

// ---- helpers ----

const ENDED: Readonly<Record<EndReason, string>> = {
  key: "The key of the subscription was revoked or has expired",
  rule: "The rule of the subscription was deleted"
}
