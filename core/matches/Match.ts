/** A match: one rule matched one event. Its redaction: the event may no longer be shown. */
import { Schema } from "effect"
import { MatchId, RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { Timestamp } from "../model/Timestamp.ts"
import { Payload, PayloadFromObject } from "./Payload.ts"

export const RedactionReason = Schema.Literal("deleted", "withheld", "edited", "operator").annotations({
  identifier: "RedactionReason",
  description:
    "deleted: the post was deleted on the platform. withheld: the platform no longer shows it, or not everywhere. edited: there is a newer version, which is a post of its own. operator: the operator of the server removed it."
})
export type RedactionReason = typeof RedactionReason.Type

const Redacted = Schema.Struct({ at: Timestamp, reason: RedactionReason })
export type Redacted = typeof Redacted.Type

/** Annotation of the payload: the gateway finds it and documents the event format of each platform. */
export const PAYLOAD = Symbol.for("earshot/payload")

export const Match = Schema.Struct({
  id: MatchId,
  rule_id: RuleId,
  rule_version: Schema.Int.annotations({
    jsonSchema: { type: "integer", minimum: 1 },
    description: "The version of the rule that matched the event"
  }),
  created_at: Timestamp,
  platform: PlatformId,
  platform_post_id: Schema.String,
  payload: PayloadFromObject.annotations({
    [PAYLOAD]: true,
    jsonSchema: { type: "object", additionalProperties: true, description: "The event as the platform delivered it" }
  }),
  reapplied: optional(
    Schema.Literal(true),
    "Set if the match was added later: the rule did not have this filter when the event was received"
  ),
  redacted: optional(Redacted, "Set if the event was removed: payload is then empty")
}).annotations({ identifier: "Match" })
export type Match = typeof Match.Type

export type RedactedMatch = Match & { readonly redacted: Redacted }

/** The message to those who may hold a copy of the match. */
export const Redaction = Schema.Struct({
  id: MatchId.annotations({ description: "The id of the match" }),
  rule_id: RuleId,
  platform: PlatformId,
  platform_post_id: Schema.String,
  redacted: Redacted
}).annotations({ identifier: "Redaction" })
export type Redaction = typeof Redaction.Type

export const redactionOf = ({ id, rule_id, platform, platform_post_id, redacted }: RedactedMatch): Redaction => ({
  id,
  rule_id,
  platform,
  platform_post_id,
  redacted
})

export const withoutPayload = (match: Match, redacted: Redacted): RedactedMatch => ({
  ...match,
  payload: EMPTY,
  redacted
})

// ---- helpers ----

const EMPTY = Payload.of({})
