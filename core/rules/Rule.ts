/** The rule schemas: a caller's draft, and the stored rule with its registrations. */
import { Schema, Struct } from "effect"
import { KeyId, RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import { cursorField, nextCursor } from "../model/paging.ts"
import { Timestamp } from "../model/Timestamp.ts"
import { StorableText, trimmedText } from "../model/trimmedText.ts"
import { WholeNumber } from "../model/wholeNumber.ts"
import { shownValue } from "../text/shownValue.ts"

/**
 * What an account says about a rule, apart from its filters. Most code passes these fields on without naming them, and
 * compares them with `===`.
 */
export const RuleDetails = Schema.Struct({
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
  })
})
export type RuleDetails = typeof RuleDetails.Type

export const RULE_DETAILS = Struct.keys(RuleDetails.fields)

/** As read from the store: not checked again. */
const storedDetails = { name: Schema.String, intent: Schema.String }

export const RuleDraft = Schema.Struct({
  ...RuleDetails.fields,
  platforms: Schema.Array(PlatformId)
    .pipe(
      Schema.filter((platforms) => platforms.length > 0 || "Is empty: name at least one platform", {
        jsonSchema: { minItems: 1 }
      }),
      Schema.filter(
        (platforms) => {
          const repeated = platforms.find((platform, index) => platforms.indexOf(platform) < index)
          return repeated === undefined || `Names "${repeated}" more than once`
        },
        { jsonSchema: { uniqueItems: true } }
      )
    )
    .annotations({ description: "The platforms to watch" }),
  overrides: Schema.Record({ key: PlatformId, value: StorableText }).annotations({
    description: "One filter per platform, in that platform's syntax"
  })
})
export type RuleDraft = typeof RuleDraft.Type

/** A rule to create. */
export const NewRuleDraft = Schema.Struct({
  ...RuleDraft.fields,
  paused: optional(Schema.Boolean, "Creates the rule paused: no platform gets it before it is resumed")
})
export type NewRuleDraft = typeof NewRuleDraft.Type

/** What to change of a rule. Absent fields stay as they are. */
export const RulePatch = Schema.Struct({
  name: optional(RuleDetails.fields.name),
  intent: optional(RuleDetails.fields.intent),
  platforms: optional(
    RuleDraft.fields.platforms,
    "All platforms to watch from now on. A new one needs a filter in overrides; without this field the platforms stay"
  ),
  overrides: optional(RuleDraft.fields.overrides, "The filters to replace, per platform. Other filters stay"),
  expected_version: optional(
    Schema.Int,
    "Fails with `aborted` if the rule has another version: someone else has changed it"
  )
})
export type RulePatch = typeof RulePatch.Type

export const RegistrationState = Schema.Literal("pending", "active", "removing", "failed", "paused").annotations({
  identifier: "RegistrationState",
  description:
    "paused: the platform does not get the rule; paused_by says why. failed: the platform lost the rule and rejects it; registration is retried at each comparison of the rules"
})
export type RegistrationState = typeof RegistrationState.Type

export const PausedBy = Schema.Literal("account", "budget", "matching").annotations({
  identifier: "PausedBy",
  description:
    "account: until it resumes the rule. budget: the monthly budget is nearly used up. matching: the rules of the account cost too much to match. A pause by the account replaces the other two"
})
export type PausedBy = typeof PausedBy.Type

export const Registration = Schema.Struct({
  platform_rule_id: Schema.String,
  translated_value: Schema.String,
  state: RegistrationState,
  paused_by: optional(PausedBy),
  reason: optional(Schema.String, "Why it failed, or is paused by the budget or the limit on matching"),
  failed_since: optional(Timestamp, "When it failed, or was paused by the budget or the limit on matching")
}).annotations({ identifier: "Registration" })
export type Registration = typeof Registration.Type

/** A registration that a limit pauses is stored as failed. `limit`: the last one to pause it, also after the pause ended. */
export const standingOf = (
  stored: RegistrationState,
  limit: Exclude<PausedBy, "account"> | undefined
): Pick<Registration, "state" | "paused_by"> => {
  if (stored === "paused") return { state: stored, paused_by: "account" }
  return stored === "failed" && limit !== undefined ? { state: "paused", paused_by: limit } : { state: stored }
}

const count = (description: string) =>
  Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0 }, description })

const RuleState = Schema.Literal("active", "failed", "paused").annotations({
  identifier: "RuleState",
  description: "The first of failed, paused and active that the rule has on one of its platforms"
})

export const RuleActivity = Schema.Struct({
  last_match_at: optional(Timestamp, "The minute of the newest stored match; absent if there is none"),
  matches_hour: count("The stored matches of the last hour"),
  matches_day: count("The stored matches of the last 24 hours"),
  state: RuleState,
  reason: optional(Schema.String, "Why it is in this state, if the platform has a reason")
}).annotations({ identifier: "RuleActivity", description: "What the rule did lately" })
export type RuleActivity = typeof RuleActivity.Type

const Registrations = Schema.Record({ key: PlatformId, value: Registration })

export const RuleVersionNumber = Schema.Int.annotations({
  jsonSchema: { type: "integer", minimum: 1 },
  description: "1 for a new rule, one more with each change"
})

export const Rule = Schema.Struct({
  id: RuleId,
  ...storedDetails,
  platforms: Registrations,
  created_at: Timestamp,
  version: RuleVersionNumber,
  shadow: optional(
    Schema.Struct({ since: Timestamp, platforms: Registrations }),
    "The filters that run in the shadow of the rule"
  ),
  activity: optional(RuleActivity, "Only in lists and answers that were asked for it")
}).annotations({ identifier: "Rule" })
export type Rule = typeof Rule.Type

/** Reading and encoding this many of the largest rules takes a few milliseconds. */
export const MAX_RULES_PER_PAGE = 100

/** As in `7d`. */
const Period = Schema.String.pipe(
  Schema.filter((text) => /^[1-9]\d{0,3}[mhd]$/.test(text), {
    message: ({ actual }) => ({
      message: `Expected a number of minutes, hours or days such as 30m, 12h or 7d, got ${shownValue(actual)}`,
      override: true
    })
  })
)

const RulePage = Schema.Struct({
  limit: optional(
    WholeNumber({ min: 1, max: MAX_RULES_PER_PAGE }).annotations({
      jsonSchema: {
        type: "integer",
        minimum: 1,
        maximum: MAX_RULES_PER_PAGE,
        description: "The maximum number of rules; absent: all"
      }
    })
  ),
  cursor: cursorField(RuleId, {
    expected: "Expected the next_cursor of an earlier response",
    description: "The next_cursor of an earlier response: returns the rules after it"
  })
})
/** A page of all rules. */
export type RulePage = typeof RulePage.Type

const Sort = Schema.Literal("created", "last_match", "matches_day")

export const RuleQuery = Schema.Struct({
  ...RulePage.fields,
  query: optional(
    Schema.String.annotations({
      description: "Only rules with this text in their id, name, intent or a filter, in upper or lower case"
    })
  ),
  state: optional(
    RuleState.annotations({
      jsonSchema: {
        type: "string",
        enum: RuleState.literals,
        description: "Only rules that are failed or paused on one of their platforms, or active on all. Adds `activity`"
      }
    })
  ),
  quiet_for: optional(
    Period.annotations({
      jsonSchema: {
        type: "string",
        pattern: "^[1-9][0-9]{0,3}[mhd]$",
        description: "Only rules without a match for so long, such as 30m, 12h or 7d, and not newer. Adds `activity`"
      }
    })
  ),
  sort: optional(
    Sort.annotations({
      jsonSchema: {
        type: "string",
        enum: Sort.literals,
        default: "created",
        description:
          "created: newest first. last_match: longest without a match first. matches_day: most matches of the last 24 hours first. The last two have one page, of up to 100 rules, and add `activity`"
      }
    })
  ),
  activity: optional(Schema.Boolean, "Adds `activity` to each rule")
})
export type RuleQuery = typeof RuleQuery.Type

export const RuleList = Schema.Struct({ rules: Schema.Array(Rule), next_cursor: nextCursor(RuleId) })
export type RuleList = typeof RuleList.Type

/** A version of a rule, as it was after a change. */
export const RuleVersion = Schema.Struct({
  version: RuleVersionNumber,
  at: Timestamp,
  key_id: optional(KeyId, "The key that made the change; absent if it was made without one"),
  ...storedDetails,
  overrides: Schema.Record({ key: PlatformId, value: Schema.String }),
  paused: Schema.Boolean,
  changed: Schema.Array(Schema.String).annotations({
    description: `What is not as in the version before: ${RULE_DETAILS.join(", ")}, paused, or overrides with the platform`
  })
}).annotations({ identifier: "RuleVersion" })
export type RuleVersion = typeof RuleVersion.Type
