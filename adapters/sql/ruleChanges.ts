/** Changes of rules: replaces registrations, and keeps the versions. */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Option, Struct } from "effect"
import { RuleNotFound, RuleVersionChanged } from "../../core/model/Errors.ts"
import { type AccountId, fromUuid, type RuleId, toUuid } from "../../core/model/Ids.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import { RULE_DETAILS, type RuleDetails } from "../../core/rules/Rule.ts"
import {
  BEFORE_PROMOTION,
  BY_ACCOUNT,
  causeOf,
  type RuleChange,
  type StoredVersion
} from "../../core/rules/RuleStore.ts"

/** See `RuleStore.change`. In a transaction. */
export const changeRule = (
  sql: SqlClient,
  account: AccountId,
  id: RuleId,
  change: RuleChange
): Effect.Effect<number, RuleNotFound | RuleVersionChanged | SqlError> =>
  Effect.gen(function* () {
    const rule = toUuid(id)
    const candidate = toUuid(change.candidate)
    const owner = toUuid(account)
    const { at, expectedVersion: expected, ended, paused, added } = change
    const [found] = yield* sql<{ readonly version: number }>`select version from rules
      where id = ${rule} and account_id = ${owner} and candidate_of is null for update`
    // A statement of its own: it sees what a delete has done while this one waited for the lock.
    const hidden = yield* sql`select 1 from registrations
      where rule_id = ${rule} and state in ('pending', 'removing') limit 1`
    if (found === undefined || hidden.length > 0) return yield* new RuleNotFound({ ruleId: id })
    const { version } = found
    if (version !== expected) return yield* new RuleVersionChanged({ ruleId: id, expected, version })
    const ready = yield* sql`select 1 from registrations where rule_id = ${candidate}
      and platform = any(${added}::text[]) and state not in ('pending', 'removing') for update`
    if (ready.length < added.length) return yield* new RuleNotFound({ ruleId: change.candidate })

    yield* sql`update rules set version = version + 1, name = ${change.name}, intent = ${change.intent}
      where id = ${rule}`
    yield* sql`insert into rules (id, account_id, name, intent, created_at, candidate_of)
      values (${candidate}, ${owner}, ${change.name}, ${change.intent}, ${at}, ${rule}) on conflict (id) do nothing`
    yield* sql`insert into retired_rules (platform, platform_rule_id, rule_id, account_id, version, retired_at)
      select g.platform, g.platform_rule_id, ${rule}, g.account_id, ${BEFORE_PROMOTION}::int,
        least(${at}::timestamptz, ${change.promotedSince ?? null}::timestamptz)
      from registrations g join rules r on r.id = g.rule_id
      where g.rule_id = ${candidate} and r.purpose = 'shadow' and g.state = 'active' and g.platform_rule_id is not null`
    yield* sql`update rules set purpose = 'update' where id = ${candidate}`
    yield* sql`insert into retired_rules (platform, platform_rule_id, rule_id, account_id, version, retired_at)
      select platform, platform_rule_id, rule_id, account_id, ${version}, ${at} from registrations
      where rule_id = ${rule} and state = 'active' and platform_rule_id is not null`
    yield* sql`update rule_gaps set ended_at = greatest(started_at, ${at}::timestamptz)
      where rule_id = ${rule} and platform = any(${ended}::text[]) and ended_at is null`
    yield* sql`insert into rule_gaps (rule_id, platform, account_id, started_at, cause, detail)
      select ${rule}, platform, account_id, ${at}, cause, detail from rule_gaps
      where rule_id = ${candidate} and ended_at is null`
    // Counting makes the insert wait until all rows are gone: they change places.
    yield* sql`with gone as (
        delete from registrations
        where rule_id = ${candidate} or (rule_id = ${rule} and platform = any(${ended}::text[])) returning *
      ), counted as (select count(*) as rows from gone)
      insert into registrations (rule_id, platform, account_id, text, platform_rule_id, translated_value, state, since,
        reason, watched_since, paused_until, paused_budget, paused_cause, outcome, version)
      select case when g.rule_id = ${rule} then ${candidate}::uuid else ${rule}::uuid end, g.platform, g.account_id,
        g.text, g.platform_rule_id, g.translated_value,
        case when g.rule_id = ${rule} then 'removing' else g.state end,
        case when g.rule_id = ${rule} then ${at} else g.since end,
        g.reason, coalesce(o.watched_since, g.watched_since), g.paused_until, g.paused_budget, g.paused_cause, g.outcome,
        g.version
      from gone g cross join counted left join gone o on o.rule_id = ${rule} and o.platform = g.platform
      where counted.rows > 0`
    yield* sql`with added as (
        insert into registrations (rule_id, platform, account_id, text, translated_value, state, since, watched_since)
        select ${rule}, x.platform, ${owner}, x.text, x.text, 'paused', ${at}, coalesce(o.watched_since, ${at})
        from jsonb_to_recordset(${JSON.stringify(paused)}::jsonb) as x(platform text, text text)
        left join registrations o on o.rule_id = ${candidate} and o.platform = x.platform
        returning platform
      )
      insert into rule_gaps (rule_id, platform, account_id, started_at, cause, detail)
      select ${rule}, platform, ${owner}, ${at}, ${causeOf(BY_ACCOUNT)}, ${BY_ACCOUNT.reason} from added`
    yield* sql`delete from rules where id = ${candidate}
      and not exists (select 1 from registrations where rule_id = ${candidate})`
    yield* saveVersion(sql, rule, change)
    return version + 1
  })

/** The rule as it is now. */
export const saveVersion = (
  sql: SqlClient,
  rule: string,
  { at, by }: { readonly at: Timestamp; readonly by: RuleChange["by"] }
) => sql`
  insert into rule_changes (rule_id, version, at, key_id, name, intent, overrides, paused)
  select r.id, r.version, ${at}, ${Option.getOrNull(Option.map(by, toUuid))}, r.name, r.intent, g.overrides, g.paused
  from rules r cross join lateral (
    select coalesce(jsonb_object_agg(platform, text), '{}') as overrides,
      coalesce(bool_or(state = 'paused'), false) as paused
    from registrations where rule_id = r.id
  ) g where r.id = ${rule}`

/** Newest first. */
export const versionsOf = (
  sql: SqlClient,
  account: AccountId,
  id: RuleId
): Effect.Effect<ReadonlyArray<StoredVersion>, SqlError> =>
  Effect.map(
    sql<VersionRow>`select c.* from rule_changes c join rules r on r.id = c.rule_id
      where r.id = ${toUuid(id)} and r.account_id = ${toUuid(account)} and r.candidate_of is null and not exists (
        select 1 from registrations where rule_id = r.id and state in ('pending', 'removing')
      ) order by c.version desc`,
    (rows) => rows.map(toVersion)
  )

// ---- helpers ----

interface VersionRow extends RuleDetails {
  readonly version: number
  readonly at: Date
  readonly key_id: string | null
  readonly overrides: StoredVersion["overrides"]
  readonly paused: boolean
}

const toVersion = (row: VersionRow): StoredVersion => ({
  version: row.version,
  at: fromDate(row.at),
  ...(row.key_id !== null && { key_id: fromUuid("key", row.key_id) }),
  ...Struct.pick(row, ...RULE_DETAILS),
  overrides: row.overrides,
  paused: row.paused
})
