/** Reads registrations from rows. */
import { Option } from "effect"
import { fromUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate } from "../../core/model/Timestamp.ts"
import { type RegistrationState, standingOf } from "../../core/rules/Rule.ts"
import {
  BY_ACCOUNT,
  type Candidate,
  type LimitPause,
  type Pause,
  type StoredRegistration
} from "../../core/rules/RuleStore.ts"

/** Of a registration `g`. The cause is absent in pauses of earlier versions, which were all for the budget. */
export const PAUSED_BY = "coalesce(g.paused_cause, case when g.paused_until is not null then 'budget' end)"

export const REGISTRATIONS = `select g.rule_id, g.account_id, platform, text, platform_rule_id, translated_value, state, since, reason, paused_until, paused_budget, ${PAUSED_BY} as paused_by, outcome, r.purpose from registrations g join rules r on r.id = g.rule_id`

export interface RegistrationRow {
  readonly rule_id: string
  readonly account_id: string
  readonly platform: PlatformId
  readonly text: string
  readonly platform_rule_id: string | null
  readonly translated_value: string
  readonly state: RegistrationState
  readonly since: Date
  readonly reason: string | null
  readonly paused_until: Date | null
  readonly paused_budget: string | null
  readonly paused_by: LimitPause["by"] | null
  readonly purpose: Candidate["purpose"] | null
}

export const toRegistration = (row: RegistrationRow): StoredRegistration => ({
  ruleId: fromUuid("rule", row.rule_id),
  accountId: fromUuid("acct", row.account_id),
  platform: row.platform,
  text: row.text,
  platformRuleId: Option.fromNullable(row.platform_rule_id),
  translatedValue: row.translated_value,
  state: standingOf(row.state, row.paused_by ?? undefined).state,
  since: fromDate(row.since),
  pause: pauseOf(row),
  purpose: Option.fromNullable(row.purpose)
})

// ---- helpers ----

const pauseOf = ({ state, reason, paused_until, paused_budget, paused_by }: RegistrationRow): Option.Option<Pause> => {
  if (state === "paused") return Option.some(BY_ACCOUNT)
  if (paused_until === null || paused_by === null) return Option.none()
  return Option.some({
    by: paused_by,
    reason: reason ?? "",
    until: fromDate(paused_until),
    limit: Number(paused_budget)
  })
}
