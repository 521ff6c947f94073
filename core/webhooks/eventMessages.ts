/** The messages to the receiver of a subscription. One without `type` is an event, the others control the subscription. */
import type { Match, Redaction } from "../matches/Match.ts"
import type { EventData } from "./EventData.ts"
import { type GapMessage, gapCursorOf } from "./gapMessages.ts"
import type { EndReason, EventName } from "./Subscription.ts"
import type { SendOptions } from "./WebhookSender.ts"

/** What is posted for an event. */
export interface EventBody {
  /** The same in all modes of delivery, and on every attempt. */
  readonly eventId: string
  readonly name: EventName
  readonly timestamp: string
  readonly data: object
  readonly cursor: string
}

/** `word` marks text by strangers. */
export const matchEvent = (
  data: EventData["Type"],
  match: Match,
  { word, cursor }: { readonly word: string; readonly cursor: string }
): EventBody => ({
  eventId: match.id,
  name: "match.created",
  timestamp: match.created_at,
  data: data.ofMatch(match, word),
  cursor
})

export const redactionEvent = (data: EventData["Type"], redaction: Redaction, cursor: string): EventBody => ({
  // A match is redacted once.
  eventId: `${redaction.id}_redacted`,
  name: "match.redacted",
  timestamp: redaction.redacted.at,
  data: data.ofRedaction(redaction),
  cursor
})

export const gapEvent = (data: EventData["Type"], { id, timestamp, data: gap, announced }: GapMessage): EventBody => ({
  eventId: id,
  name: "coverage.gap",
  timestamp,
  data: data.ofGap(gap),
  cursor: gapCursorOf(announced)
})

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
  key: "The key or access of the subscription was revoked or has expired",
  rule: "The rule of the subscription was deleted",
  deleted: "The subscription was deleted by its account"
}
