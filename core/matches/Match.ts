/** A match: one rule matched one event. */
import { Schema } from "effect"
import { MatchId, RuleId } from "../model/Ids.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { Timestamp } from "../model/Timestamp.ts"

export const Match = Schema.Struct({
  id: MatchId,
  rule_id: RuleId,
  created_at: Timestamp,
  platform: PlatformId,
  platform_post_id: Schema.String,
  payload: Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
    jsonSchema: { type: "object", additionalProperties: true, description: "The event as the platform delivered it" }
  })
}).annotations({ identifier: "Match" })
export type Match = typeof Match.Type
