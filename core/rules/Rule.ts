/** The rule schemas: a caller's draft, and the stored rule with its registrations. */
import { Schema } from "effect"
import { RuleId } from "../model/Ids.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { Timestamp } from "../model/Timestamp.ts"
import { StorableText, trimmedText } from "../model/trimmedText.ts"

export const RuleDraft = Schema.Struct({
  name: trimmedText(200).annotations({
    jsonSchema: {
      type: "string",
      minLength: 1,
      maxLength: 200,
      description: "A short name for the rule"
    }
  }),
  intent: trimmedText(4000).annotations({
    jsonSchema: {
      type: "string",
      minLength: 1,
      maxLength: 4000,
      description: "What the rule should find, and why"
    }
  }),
  platforms: Schema.Array(PlatformId)
    .pipe(
      Schema.filter((platforms) => platforms.length > 0 || "Is empty: name at least one platform"),
      Schema.filter((platforms) => new Set(platforms).size === platforms.length || "Names a platform more than once")
    )
    .annotations({ description: "The platforms to watch" }),
  overrides: Schema.Record({ key: Schema.String, value: StorableText }).annotations({
    description: "One filter per platform, in that platform's syntax"
  })
})
export type RuleDraft = typeof RuleDraft.Type

export const RegistrationState = Schema.Literal("pending", "active", "removing", "failed").annotations({
  identifier: "RegistrationState",
  description:
    "failed: the platform lost the rule and rejects it; registration is retried at each comparison of the rules. Or the rule is paused because the monthly budget is nearly used up: the reason says so"
})
export type RegistrationState = typeof RegistrationState.Type

export const Registration = Schema.Struct({
  platform_rule_id: Schema.String,
  translated_value: Schema.String,
  state: RegistrationState,
  reason: Schema.optionalWith(Schema.String, { exact: true }).annotations({ description: "Why it failed" }),
  failed_since: Schema.optionalWith(Timestamp, { exact: true }).annotations({ description: "When it failed" })
}).annotations({ identifier: "Registration" })
export type Registration = typeof Registration.Type

export const Rule = Schema.Struct({
  id: RuleId,
  name: Schema.String,
  intent: Schema.String,
  platforms: Schema.Record({ key: PlatformId, value: Registration }),
  created_at: Timestamp
}).annotations({ identifier: "Rule" })
export type Rule = typeof Rule.Type
