/** `RuleStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option } from "effect"
import { RuleLimitReached } from "../../core/model/Errors.ts"
import { type AccountId, fromUuid, type RuleId, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import type { Registered } from "../../core/platforms/Platform.ts"
import type { RegistrationState, Rule } from "../../core/rules/Rule.ts"
import { type NewRule, RuleStore, type StoredRegistration } from "../../core/rules/RuleStore.ts"
import { unavailable } from "./unavailable.ts"

/** Matches per delete statement. Limited, because the embedded engine runs one statement at a time. */
const DELETE_BATCH = 2_000

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const visible = sql.literal(
    "not exists (select 1 from registrations h where h.rule_id = r.id and h.state in ('pending', 'removing'))"
  )
  const registrations = sql.literal(
    "select rule_id, account_id, platform, text, platform_rule_id, translated_value, state, since from registrations"
  )

  const checkLimits = (account: string, limits: ReadonlyMap<PlatformId, number>) =>
    Effect.gen(function* () {
      // Concurrent inserts for the same account wait here until this transaction ends.
      const owner = yield* sql`select 1 from accounts where id = ${account} for no key update`
      if (owner.length === 0) return yield* Effect.dieMessage(`Account "${account}" does not exist`)
      const counts = yield* sql<{ readonly platform: PlatformId; readonly used: number }>`
        select platform, count(*)::int as used from registrations
        where account_id = ${account} and platform = any(${[...limits.keys()]}::text[])
        group by platform`
      const used = new Map(counts.map((row) => [row.platform, row.used]))
      for (const [platform, limit] of limits) {
        const held = used.get(platform) ?? 0
        if (held >= limit) return yield* new RuleLimitReached({ platform, limit, used: held })
      }
    })

  const insertRule = (rule: NewRule, account: string) =>
    Effect.gen(function* () {
      const id = toUuid(rule.id)
      yield* sql`insert into rules (id, account_id, name, intent, created_at)
        values (${id}, ${account}, ${rule.name}, ${rule.intent}, ${rule.createdAt})`
      yield* sql`insert into registrations (rule_id, account_id, platform, text, translated_value, state, since)
        select ${id}, ${account}, x.platform, x.text, x.text, 'pending', ${rule.createdAt}
        from jsonb_to_recordset(${JSON.stringify(rule.filters)}::jsonb) as x(platform text, text text)`
    })

  const reserve = (rule: NewRule, limits: ReadonlyMap<PlatformId, number>) => {
    const account = toUuid(rule.accountId)
    const wanted = new Set(rule.filters.map(({ platform }) => platform))
    const relevant = new Map([...limits].filter(([platform]) => wanted.has(platform)))
    return Effect.zipRight(checkLimits(account, relevant), insertRule(rule, account)).pipe(
      sql.withTransaction,
      unavailable("rules.reserve")
    )
  }

  const activate = (id: RuleId, registered: ReadonlyMap<PlatformId, Registered>, at: Timestamp) => {
    const json = JSON.stringify([...registered].map(([platform, registration]) => ({ platform, ...registration })))
    return sql`update registrations g
      set platform_rule_id = x."platformRuleId", translated_value = x."translatedValue", state = 'active',
        reason = null, since = ${at}
      from jsonb_to_recordset(${json}::jsonb) as x(platform text, "platformRuleId" text, "translatedValue" text)
      where g.rule_id = ${toUuid(id)} and g.platform = x.platform and g.state <> 'removing'`
  }

  const fail = (id: RuleId, platform: PlatformId, reason: string, at: Timestamp) => sql`
    update registrations set state = 'failed', reason = ${reason}, since = ${at}
    where rule_id = ${toUuid(id)} and platform = ${platform} and state in ('active', 'failed')`

  const list = (account: AccountId) => sql<RuleRow>`
    select r.id, r.name, r.intent, r.created_at, g.platforms from rules r cross join lateral (
      select json_object_agg(g.platform, json_strip_nulls(json_build_object(
        'platform_rule_id', coalesce(g.platform_rule_id, ''),
        'translated_value', g.translated_value,
        'state', g.state,
        'reason', g.reason
      )) order by g.platform) as platforms
      from registrations g where g.rule_id = r.id
    ) g
    where r.account_id = ${toUuid(account)} and ${visible}
    order by r.id desc`

  const exists = (account: AccountId, id: RuleId) =>
    sql`select 1 from rules r where r.id = ${toUuid(id)} and r.account_id = ${toUuid(account)} and ${visible}`

  // The second of two concurrent calls waits for the rows, then finds them no longer active.
  const markRemoving = (account: AccountId, id: RuleId, at: Timestamp) => sql`
    update registrations g set state = 'removing', since = ${at} from rules r
    where r.id = ${toUuid(id)} and r.account_id = ${toUuid(account)} and ${visible}
      and g.rule_id = r.id and g.state in ('active', 'failed')
    returning 1`

  const deleteMatches = (id: RuleId) =>
    sql`delete from matches
      where id in (select id from matches where rule_id = ${toUuid(id)} limit ${DELETE_BATCH})
      returning 1`.pipe(Effect.repeat({ while: (deleted) => deleted.length === DELETE_BATCH }))

  const hide = (account: AccountId, id: RuleId, at: Timestamp) =>
    Effect.gen(function* () {
      const hidden = yield* markRemoving(account, id, at)
      // Lists have to skip the matches of a hidden rule, and an unreachable platform can delay `remove` for long.
      // `remove` deletes the rest.
      if (hidden.length > 0) yield* Effect.ignore(deleteMatches(id))
      return hidden.length > 0
    })

  const remove = (id: RuleId) =>
    Effect.zipRight(deleteMatches(id), sql`delete from rules where id = ${toUuid(id)}`).pipe(Effect.asVoid)

  const isShared = ({ ruleId, platform, text }: Pick<StoredRegistration, "ruleId" | "platform" | "text">) => sql`
    select 1 from registrations
    where text = ${text} and platform = ${platform} and rule_id <> ${toUuid(ruleId)} and state <> 'removing'
    limit 1`

  const ruleLinks = (platform: PlatformId, ids: ReadonlyArray<string>) => sql<RuleLinkRow>`
    select r.platform_rule_id, r.rule_id, r.account_id from registrations r
    where r.platform = ${platform} and r.platform_rule_id = any(${ids}::text[])
      and not exists (
        select 1 from registrations h where h.rule_id = r.rule_id and h.state in ('pending', 'removing')
      )`

  return RuleStore.of({
    reserve,
    // Created on first use: every store unpacked from the image needs its own id.
    deployment: Effect.map(
      sql<{ readonly id: string }>`with made as (
          insert into deployment (id) select gen_random_uuid() where not exists (select from deployment) returning id
        ) select id from made union all select id from deployment`,
      ([row]) => row?.id ?? ""
    ).pipe(unavailable("rules.deployment")),
    fail: (id, platform, reason, at) => Effect.asVoid(fail(id, platform, reason, at)).pipe(unavailable("rules.fail")),
    activate: (id, registered, at) => Effect.asVoid(activate(id, registered, at)).pipe(unavailable("rules.activate")),
    list: (account) => Effect.map(list(account), (rows) => rows.map(toRule)).pipe(unavailable("rules.list")),
    exists: (account, id) => Effect.map(exists(account, id), isNonEmpty).pipe(unavailable("rules.exists")),
    hide: (account, id, at) => hide(account, id, at).pipe(unavailable("rules.hide")),
    remove: (id) => remove(id).pipe(unavailable("rules.remove")),
    registrations: (id) =>
      Effect.map(sql<RegistrationRow>`${registrations} where rule_id = ${toUuid(id)} order by platform`, (rows) =>
        rows.map(toRegistration)
      ).pipe(unavailable("rules.registrations")),
    registrationsOn: (platform) =>
      Effect.map(sql<RegistrationRow>`${registrations} where platform = ${platform} order by rule_id`, (rows) =>
        rows.map(toRegistration)
      ).pipe(unavailable("rules.registrationsOn")),
    count: (account, platform) =>
      sql<{ readonly used: number }>`select count(*)::int as used from registrations
        where account_id = ${toUuid(account)} and platform = ${platform}`.pipe(
        Effect.map(([row]) => row?.used ?? 0),
        unavailable("rules.count")
      ),
    wanted: (platform) =>
      sql<{ readonly texts: number }>`select count(distinct text)::int as texts from registrations
        where platform = ${platform} and state in ('active', 'failed')`.pipe(
        Effect.map(([row]) => row?.texts ?? 0),
        unavailable("rules.wanted")
      ),
    isShared: (registration) => Effect.map(isShared(registration), isNonEmpty).pipe(unavailable("rules.isShared")),
    ruleLinks: (platform, ids) =>
      Effect.map(ruleLinks(platform, ids), (rows) => rows.map(toRuleLink)).pipe(unavailable("rules.ruleLinks"))
  })
})

export const layer: Layer.Layer<RuleStore, never, SqlClient> = Layer.effect(RuleStore, make)

// ---- helpers ----

interface RuleRow {
  readonly id: string
  readonly name: string
  readonly intent: string
  readonly created_at: Date
  readonly platforms: Rule["platforms"] | null
}

const toRule = (row: RuleRow): Rule => ({
  id: fromUuid("rule", row.id),
  name: row.name,
  intent: row.intent,
  platforms: row.platforms ?? {},
  created_at: fromDate(row.created_at)
})

interface RegistrationRow {
  readonly rule_id: string
  readonly account_id: string
  readonly platform: PlatformId
  readonly text: string
  readonly platform_rule_id: string | null
  readonly translated_value: string
  readonly state: RegistrationState
  readonly since: Date
}

const toRegistration = (row: RegistrationRow): StoredRegistration => ({
  ruleId: fromUuid("rule", row.rule_id),
  accountId: fromUuid("acct", row.account_id),
  platform: row.platform,
  text: row.text,
  platformRuleId: Option.fromNullable(row.platform_rule_id),
  translatedValue: row.translated_value,
  state: row.state,
  since: fromDate(row.since)
})

interface RuleLinkRow {
  readonly platform_rule_id: string
  readonly rule_id: string
  readonly account_id: string
}

const toRuleLink = (row: RuleLinkRow) => ({
  platformRuleId: row.platform_rule_id,
  ruleId: fromUuid("rule", row.rule_id),
  accountId: fromUuid("acct", row.account_id)
})

const isNonEmpty = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0
