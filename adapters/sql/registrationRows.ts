/** Reads registrations from rows. */
import { Option } from "effect"
import { fromUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate } from "../../core/model/Timestamp.ts"
import type { RegistrationState } from "../../core/rules/Rule.ts"
import type { Candidate, Pause, StoredRegistration } from "../../core/rules/RuleStore.ts"

export const REGISTRATIONS =
  "select g.rule_id, g.account_id, platform, text, platform_rule_id, translated_value, state, since, paused_until, paused_budget, paused_cause, outcome, r.purpose from registrations g join rules r on r.id = g.rule_id"

export interface RegistrationRow {
  readonly rule_id: string
  readonly account_id: string
  readonly platform: PlatformId
  readonly text: string
  readonly platform_rule_id: string | null
  readonly translated_value: string
  readonly state: RegistrationState
  readonly since: Date
  readonly paused_until: Date | null
  readonly paused_budget: string | null
  readonly paused_cause: Pause["cause"] | null
  readonly purpose: Candidate["purpose"] | null
}

export const toRegistration = (row: RegistrationRow): StoredRegistration => ({
  ruleId: fromUuid("rule", row.rule_id),
  accountId: fromUuid("acct", row.account_id),
  platform: row.platform,
  text: row.text,
  platformRuleId: Option.fromNullable(row.platform_rule_id),
  translatedValue: row.translated_value,
  state: row.state,
  since: fromDate(row.since),
  pause: Option.map(Option.fromNullable(row.paused_until), (until) => ({
    until: fromDate(until),
    cause: row.paused_cause ?? "budget",
    limit: Number(row.paused_budget)
  })),
  purpose: Option.fromNullable(row.purpose)
})
