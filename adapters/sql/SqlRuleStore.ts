/** `RuleStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect, Layer, Option } from "effect"
import { RuleLimitReached } from "../../core/model/Errors.ts"
import { type AccountId, fromUuid, type RuleId, toUuid } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import type { GapCause, Registered } from "../../core/platforms/Platform.ts"
import { type Registration, type Rule, type RuleDetails, standingOf } from "../../core/rules/Rule.ts"
import {
  type Candidate,
  type CoverageSelector,
  causeOf,
  DROPPED,
  type LimitPause,
  type NewRule,
  type Pause,
  PENDING,
  type RuleGap,
  type RuleLink,
  RuleStore,
  type StoredRegistration
} from "../../core/rules/RuleStore.ts"
import { PAUSED_BY, REGISTRATIONS, type RegistrationRow, toRegistration } from "./registrationRows.ts"
import { changeRule, saveVersion, versionsOf } from "./ruleChanges.ts"
import { decided, fenced, unavailable } from "./statements.ts"

/** Matches per delete statement. Limited, because the embedded engine runs one statement at a time. */
const DELETE_BATCH = 2_000

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  const complete =
    "not exists (select 1 from registrations h where h.rule_id = r.id and h.state in ('pending', 'removing'))"
  const visible = sql.literal(`r.candidate_of is null and ${complete}`)
  const isRule = sql.literal("not exists (select 1 from rules c where c.id = rule_id and c.candidate_of is not null)")
  const registrations = sql.literal(REGISTRATIONS)

  const checkLimits = (account: string, limits: ReadonlyMap<PlatformId, number>) =>
    Effect.gen(function* () {
      // Concurrent inserts for the same account wait here until this transaction ends.
      const owner = yield* sql`select 1 from accounts where id = ${account} for no key update`
      if (owner.length === 0) return yield* Effect.dieMessage(`Account "${account}" does not exist`)
      const counts = yield* sql<{ readonly platform: PlatformId; readonly used: number }>`
        select platform, count(*)::int as used from registrations
        where account_id = ${account} and platform = any(${[...limits.keys()]}::text[]) and state <> 'paused'
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
      const { candidate } = rule
      if (candidate?.purpose === "shadow") yield* endShadows(candidate.of, rule.createdAt)
      yield* sql`insert into rules (id, account_id, name, intent, created_at, candidate_of, purpose)
        values (${id}, ${account}, ${rule.name}, ${rule.intent}, ${rule.createdAt},
          ${candidate === undefined ? null : toUuid(candidate.of)}, ${candidate?.purpose ?? null})`
      yield* sql`insert into registrations (rule_id, account_id, platform, text, translated_value, state, since)
        select ${id}, ${account}, x.platform, x.text, x.text, 'pending', ${rule.createdAt}
        from jsonb_to_recordset(${JSON.stringify(rule.filters)}::jsonb) as x(platform text, text text)`
      for (const { platform, pause } of rule.filters) {
        if (pause !== undefined) yield* startPaused(rule, platform, pause)
      }
      if (candidate === undefined) {
        yield* saveVersion(sql, id, { at: rule.createdAt, by: Option.fromNullable(rule.by) })
      }
    })

  /** The lock makes concurrent calls take turns: the last one has the shadow. */
  const endShadows = (id: RuleId, at: Timestamp) =>
    Effect.zipRight(
      sql`select 1 from rules where id = ${toUuid(id)} for update`,
      sql`update registrations g set state = 'removing', since = ${at} from rules r
        where r.candidate_of = ${toUuid(id)} and r.purpose = 'shadow' and g.rule_id = r.id`
    )

  const startPaused = (rule: NewRule, platform: PlatformId, pause: Pause) => {
    const stored =
      pause.by === "account"
        ? sql`state = 'paused'`
        : sql`state = 'failed', reason = ${pause.reason}, ${setPause(pause)}`
    return sql`
      with paused as (
        update registrations set ${stored}, watched_since = since
        where rule_id = ${toUuid(rule.id)} and platform = ${platform}
        returning rule_id, platform, account_id, since
      )
      insert into rule_gaps (rule_id, platform, account_id, started_at, cause, detail)
      select rule_id, platform, account_id, since, ${causeOf(pause)}, ${pause.reason} from paused`
  }

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
    // The lock on the number is held until the end of the transaction: activations become visible in order.
    return sql`with x as materialized (
        select * from jsonb_to_recordset(${json}::jsonb)
          as x(platform text, "platformRuleId" text, "translatedValue" text) order by platform
      ), activations as (
        insert into rule_versions as v (platform, version) select platform, 1 from x
        on conflict (platform) do update set version = v.version + 1 returning platform, version
      )
      update registrations g
      set platform_rule_id = x."platformRuleId", translated_value = x."translatedValue", state = 'active',
        reason = null, since = ${at}, watched_since = coalesce(g.watched_since, ${at}), outcome = null,
        version = v.version
      from x join activations v using (platform)
      where g.rule_id = ${toUuid(id)} and g.platform = x.platform and g.state <> 'removing'`
  }

  const addPending: RuleStore["Type"]["addPending"] = (id, platform, { from, to }) =>
    sql`insert into rule_gaps (rule_id, platform, account_id, started_at, ended_at, cause, detail)
      select id, ${platform}, account_id, ${from}, ${to}, ${PENDING.cause}, ${PENDING.detail}
      from rules where id = ${toUuid(id)}`.pipe(Effect.asVoid, unavailable("rules.addPending"))

  const tookEffect: RuleStore["Type"]["tookEffect"] = (platform, rules, at) =>
    sql`update rule_gaps set ended_at = greatest(started_at, ${at}::timestamptz)
      where rule_id = any(${rules.map(toUuid)}::uuid[]) and platform = ${platform} and cause = ${PENDING.cause}
        and ended_at > ${at}::timestamptz`.pipe(Effect.asVoid, unavailable("rules.tookEffect"))

  // Both insert and update see the state before the statement.
  const restore = (id: RuleId, platform: PlatformId, { registered, lostSince, at }: Restored) => sql`
    with before as (
      select rule_id, platform, account_id, state, platform_rule_id from registrations
      where rule_id = ${toUuid(id)} and platform = ${platform} and state in ('active', 'failed') for update
    ), ended as (
      update rule_gaps g set ended_at = greatest(g.started_at, ${at}::timestamptz) from before b
      where g.rule_id = b.rule_id and g.platform = b.platform and g.ended_at is null
    ), added as (
      insert into rule_gaps (rule_id, platform, account_id, platform_rule_id, started_at, ended_at, cause, detail)
      select rule_id, platform, account_id, platform_rule_id, ${lostSince}, ${at}, ${DROPPED.cause}, ${DROPPED.detail}
      from before where state = 'active'
    ), activations as (
      insert into rule_versions as v (platform, version) select platform, 1 from before
      on conflict (platform) do update set version = v.version + 1 returning platform, version
    )
    update registrations g set platform_rule_id = ${registered.platformRuleId},
      translated_value = ${registered.translatedValue}, state = 'active', reason = null, since = ${at},
      ${setPause(undefined)}, version = v.version
    from before b join activations v using (platform) where g.rule_id = b.rule_id and g.platform = b.platform`

  const fail = (id: RuleId, platform: PlatformId, { reason, lostSince, at, pause }: Failure) =>
    Effect.gen(function* () {
      const cause = pause === undefined ? "rule_failed" : causeOf(pause)
      const failed = yield* sql`update registrations set state = 'failed', reason = ${reason},
          since = case when state = 'failed' then since else ${at} end,
          ${setPause(pause)}
        where rule_id = ${toUuid(id)} and platform = ${platform} and state in ('active', 'failed')
        returning 1`
      if (failed.length === 0) return
      const ended = yield* sql`update rule_gaps set ended_at = greatest(started_at, ${at}::timestamptz)
        where rule_id = ${toUuid(id)} and platform = ${platform} and ended_at is null and cause <> ${cause}
        returning 1`
      yield* sql`insert into rule_gaps (rule_id, platform, account_id, platform_rule_id, started_at, cause, detail)
        select rule_id, platform, account_id, platform_rule_id, ${ended.length > 0 ? at : lostSince}, ${cause}, ${reason}
        from registrations where rule_id = ${toUuid(id)} and platform = ${platform}
        on conflict (rule_id, platform) where ended_at is null do nothing`
    }).pipe(sql.withTransaction)

  const setPause = (pause: LimitPause | undefined) => sql`paused_until = ${pause?.until ?? null},
    paused_budget = ${pause?.limit ?? null}, paused_cause = ${pause?.by ?? null}`

  const isPausedFor = (platform: PlatformId, by: LimitPause["by"]) =>
    sql`g.platform = ${platform} and g.paused_until is not null and ${sql.literal(PAUSED_BY)} = ${by}`

  // The cause stays until the platform accepts or rejects the rule.
  const endPauses = (platform: PlatformId, { by, limit, at, account }: EndOfPauses) => sql`
    update registrations g set paused_until = null, paused_budget = null, paused_cause = ${by}
    where ${isPausedFor(platform, by)}
      and (paused_until <= ${at} or ${limit}::bigint = 0 or paused_budget < ${limit}::bigint)
      and ${account === undefined ? sql.literal("true") : sql`account_id = ${toUuid(account)}`}
    returning 1`

  /** All of them in pages, so that no statement is long. One added meanwhile may be left out. */
  const textsOf = (account: AccountId, platform: PlatformId, among: Option.Option<ReadonlyArray<string>>) =>
    Effect.gen(function* () {
      const own = sql`account_id = ${toUuid(account)} and platform = ${platform}`
      const retired = sql`select c.overrides ->> ${platform}::text as text from retired_rules t
        join rule_changes c on c.rule_id = t.rule_id and c.version = t.version where ${own}`
      if (Option.isSome(among)) {
        return yield* sql<TextRow>`select text from (select text from registrations where ${own} union ${retired}) own
          where text = any(${among.value}::text[])`
      }
      const pages = allPages(
        (after) => sql<TextRow & { readonly rule_id: string }>`select text, rule_id from registrations
          where ${own} and rule_id > ${after} order by rule_id limit ${ROWS_PER_PAGE}`
      )
      const current = yield* pages
      // Afterwards: a text that a change replaces meanwhile is in one of them.
      return [...current, ...(yield* sql<TextRow>`${retired}`)]
    })

  const textOwners = (platform: PlatformId, texts: ReadonlyArray<string>) => sql<{
    readonly text: string
    readonly account_id: string
  }>`select distinct text, account_id from registrations
      where platform = ${platform} and text = any(${texts}::text[]) and state not in ('removing', 'paused')
        and paused_until is null`

  const isSettledOn = (platform: PlatformId) => sql`platform = ${platform} and state in ('active', 'failed')`

  /** In pages: to count distinct texts, one statement would compare all of them. */
  const wanted = (platform: PlatformId) =>
    Effect.map(
      allPages(
        (after) => sql<{ readonly rule_id: string; readonly hash: string }>`
          select rule_id, hashtextextended(text, 0)::text as hash from registrations
          where ${isSettledOn(platform)} and paused_until is null and rule_id > ${after}
          order by rule_id limit ${ROWS_PER_PAGE}`
      ),
      (rows) => new Set(rows.map(({ hash }) => hash)).size
    )

  const paused = (platform: PlatformId) =>
    sql<{ readonly count: number }>`select count(*)::int as count from registrations g
      where ${isPausedFor(platform, "budget")} and state = 'failed'`.pipe(Effect.map(([row]) => row?.count ?? 0))

  /** Of one snapshot: no change in between is seen in part. */
  const registrationsOn = (platform: PlatformId) =>
    Effect.zipRight(
      sql`set transaction isolation level repeatable read`,
      allPages(
        (after) => sql<RegistrationRow>`${registrations}
          where platform = ${platform} and rule_id > ${after} order by rule_id limit ${ROWS_PER_PAGE}`
      )
    ).pipe(sql.withTransaction)

  const ruleCoverage = ({ account, rule, platforms }: CoverageSelector, limit: number) => {
    const isAsked = Option.match(rule, {
      onNone: () => sql`account_id = ${toUuid(account)}`,
      onSome: (id) => sql`rule_id = ${toUuid(id)} and account_id = ${toUuid(account)}`
    })
    return Effect.gen(function* () {
      // Reads one index entry per platform.
      const oldest = yield* sql<OldestRow>`select o.*, r.created_at,
          exists (select 1 from rule_gaps where ${isAsked}) as has_gaps
        from unnest(${platforms}::text[]) as p(platform) cross join lateral (
          select platform, rule_id, watched_since from registrations
          where ${isAsked} and platform = p.platform and state in ('active', 'failed', 'paused') and ${isRule}
          order by rule_id limit 1
        ) o join rules r on r.id = o.rule_id`
      const newest = sql`select * from rule_gaps
        where ${isAsked} and platform = any(${platforms}::text[]) and ${isRule}`
      // Each part reads an index in its order.
      const gaps = oldest.some((row) => row.has_gaps)
        ? yield* sql<RuleGapRow>`select * from (
              select * from (
                (${newest} and cause <> 'rule_pending' order by started_at desc limit ${limit})
                union
                (${newest} order by started_at desc limit ${limit})
              ) g order by cause = 'rule_pending', started_at desc limit ${limit}
            ) g order by started_at desc`
        : []
      return { oldest: oldest.map(toOldest), gaps: gaps.map(toRuleGap) }
    })
  }

  const platformsOf = (rule: Fragment) => sql`(
    select json_object_agg(g.platform, json_strip_nulls(json_build_object(
      'platform_rule_id', coalesce(g.platform_rule_id, ''),
      'translated_value', g.translated_value,
      'state', g.state,
      'paused_by', ${sql.literal(PAUSED_BY)},
      'reason', g.reason,
      'failed_since', case when g.state = 'failed'
        then to_char(g.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end
    )) order by g.platform)
    from registrations g where g.rule_id = ${rule}
  )`

  const select = (where: Fragment, limit = 1) => sql<RuleRow>`
    select r.id, r.name, r.intent, r.created_at, r.version, ${platformsOf(sql.literal("r.id"))} as platforms,
      s.created_at as shadow_since, case when s.id is not null then ${platformsOf(sql.literal("s.id"))} end as shadow
    from rules r left join rules s on s.candidate_of = r.id and s.purpose = 'shadow' and not exists (
      select 1 from registrations h where h.rule_id = s.id and h.state in ('pending', 'removing')
    )
    where ${where} and ${visible}
    order by r.id desc limit ${limit}`

  const list = (account: AccountId, { before, limit }: Parameters<RuleStore["Type"]["list"]>[1]) => {
    const ofAccount = sql`r.account_id = ${toUuid(account)}`
    const where = Option.match(before, {
      onNone: () => ofAccount,
      onSome: (id) => sql`${ofAccount} and r.id < ${toUuid(id)}`
    })
    return select(where, limit)
  }

  const find = (account: AccountId, id: RuleId) =>
    select(sql`r.id = ${toUuid(id)} and r.account_id = ${toUuid(account)}`)

  const exists = (account: AccountId, id: RuleId) =>
    sql`select 1 from rules r where r.id = ${toUuid(id)} and r.account_id = ${toUuid(account)} and ${visible}`

  // The second of two concurrent calls waits for the rows, then finds them no longer active.
  const markRemoving = (account: AccountId, id: RuleId, at: Timestamp) => sql`
    update registrations g set state = 'removing', since = ${at} from rules r
    where r.id = ${toUuid(id)} and r.account_id = ${toUuid(account)} and ${visible}
      and g.rule_id = r.id and g.state in ('active', 'failed', 'paused')
    returning 1`

  const deleteMatches = (id: RuleId) =>
    sql`delete from matches
      where id in (select id from matches where rule_id = ${toUuid(id)} limit ${DELETE_BATCH})
      returning 1`.pipe(Effect.repeat({ while: (deleted) => deleted.length === DELETE_BATCH }))

  const hide = (account: AccountId, id: RuleId, at: Timestamp) =>
    Effect.gen(function* () {
      // A change holds the same lock, and replaces registrations.
      const locked = sql`select 1 from rules where id = ${toUuid(id)} for update`
      const hidden = yield* Effect.zipRight(locked, markRemoving(account, id, at)).pipe(
        sql.withTransaction,
        decided(sql, isNonEmpty)
      )
      // Lists have to skip the matches of a hidden rule, and an unreachable platform can delay `remove` for long.
      // `remove` deletes the rest.
      if (hidden.length > 0) yield* Effect.ignore(deleteMatches(id))
      return hidden.length > 0
    })

  const remove = (id: RuleId) =>
    Effect.zipRight(deleteMatches(id), sql`delete from rules where id = ${toUuid(id)}`).pipe(Effect.asVoid)

  const isShared = ({ ruleId, platform, text }: Pick<StoredRegistration, "ruleId" | "platform" | "text">) => sql`
    select 1 from registrations
    where text = ${text} and platform = ${platform} and rule_id <> ${toUuid(ruleId)}
      and state not in ('removing', 'paused')
    limit 1`

  const ruleLinks = (platform: PlatformId, ids: ReadonlyArray<string>) => {
    const isWanted = sql`g.platform = ${platform} and g.platform_rule_id = any(${ids}::text[])`
    const current = (table: "registrations" | "rule_gaps") => sql`
      select g.platform_rule_id, g.rule_id, g.account_id, r.version, r.purpose, null::timestamptz as retired_at
      from ${sql(table)} g join rules r on r.id = g.rule_id where ${isWanted}`
    return sql<RuleLinkRow>`
      select * from (
        ${current("registrations")} union ${current("rule_gaps")} union all
        select g.platform_rule_id, g.rule_id, g.account_id, g.version, null, g.retired_at
        from retired_rules g where ${isWanted}
      ) r where purpose is distinct from 'update' and not exists (
        select 1 from registrations h where h.rule_id = r.rule_id and h.state in ('pending', 'removing')
      )`
  }

  const candidates = (id: RuleId, isWanted: Fragment) =>
    Effect.map(
      sql<{ readonly id: string }>`select r.id from rules r where candidate_of = ${toUuid(id)} and ${isWanted}`,
      (rows) => rows.map((row) => fromUuid("rule", row.id))
    )

  return RuleStore.of({
    reserve,
    // Created on first use: every store unpacked from the image needs its own id.
    deployment: Effect.map(
      sql<{ readonly id: string }>`with made as (
          insert into deployment (id) select gen_random_uuid() where not exists (select from deployment) returning id
        ) select id from made union all select id from deployment`,
      ([row]) => row?.id ?? ""
    ).pipe(unavailable("rules.deployment")),
    nextOfGeneration: (generation) =>
      sql<{ readonly last: number }>`
        insert into generations as g (id, last) values (${generation}, 1)
        on conflict (id) do update set last = g.last + 1 returning last::float8`.pipe(
        Effect.map(([row]) => row?.last ?? 0),
        unavailable("rules.nextOfGeneration")
      ),
    generations: sql<{ readonly id: string; readonly last: number }>`select id, last::float8 from generations`.pipe(
      Effect.map((rows) => new Map(rows.map(({ id, last }) => [id, last]))),
      unavailable("rules.generations")
    ),
    addPending,
    tookEffect,
    restore: (id, platform, restored) =>
      Effect.asVoid(restore(id, platform, restored)).pipe(fenced(sql), unavailable("rules.restore")),
    fail: (id, platform, failure) => fail(id, platform, failure).pipe(fenced(sql), unavailable("rules.fail")),
    endPauses: (platform, when) =>
      Effect.map(endPauses(platform, when), ({ length }) => length).pipe(fenced(sql), unavailable("rules.endPauses")),
    pausedAccounts: (platform, by) =>
      sql<{ readonly account_id: string }>`select distinct account_id from registrations g
        where ${isPausedFor(platform, by)}`.pipe(
        Effect.map((rows) => rows.map((row) => fromUuid("acct", row.account_id))),
        unavailable("rules.pausedAccounts")
      ),
    textsOf: (account, platform, among) =>
      Effect.map(textsOf(account, platform, among), (rows) => rows.map(({ text }) => text)).pipe(
        unavailable("rules.textsOf")
      ),
    textOwners: (platform, texts) =>
      Effect.map(textOwners(platform, texts), (rows) =>
        rows.map(({ text, account_id }) => ({ text, accountId: fromUuid("acct", account_id) }))
      ).pipe(unavailable("rules.textOwners")),
    comparedAt: (platform) =>
      sql<{ readonly at: Date }>`select at from comparisons where platform = ${platform}`.pipe(
        Effect.map(([row]) => Option.map(Option.fromNullable(row), ({ at }) => fromDate(at))),
        unavailable("rules.comparedAt")
      ),
    saveComparison: (platform, at) =>
      sql`insert into comparisons (platform, at) values (${platform}, ${at})
        on conflict (platform) do update set at = excluded.at`.pipe(
        Effect.asVoid,
        fenced(sql),
        unavailable("rules.saveComparison")
      ),
    ruleCoverage: (selector, limit) => ruleCoverage(selector, limit).pipe(unavailable("rules.ruleCoverage")),
    activate: (id, registered, at) =>
      Effect.asVoid(activate(id, registered, at)).pipe(decided(sql), unavailable("rules.activate")),
    list: (account, page) =>
      Effect.map(list(account, page), (rows) => rows.map(toRule)).pipe(unavailable("rules.list")),
    find: (account, id) =>
      Effect.map(find(account, id), ([row]) => Option.map(Option.fromNullable(row), toRule)).pipe(
        unavailable("rules.find")
      ),
    change: (account, id, change) =>
      changeRule(sql, account, id, change).pipe(
        Effect.zipLeft(change.also ?? Effect.void),
        sql.withTransaction,
        decided(sql),
        unavailable("rules.change")
      ),
    shadowOf: (id) =>
      Effect.map(candidates(id, sql.literal(`purpose = 'shadow' and ${complete}`)), ([shadow]) =>
        Option.fromNullable(shadow)
      ).pipe(unavailable("rules.shadowOf")),
    candidatesOf: (id) => candidates(id, sql.literal("true")).pipe(unavailable("rules.candidatesOf")),
    versions: (account, id) => versionsOf(sql, account, id).pipe(unavailable("rules.versions")),
    forgetRetired: (before) =>
      Effect.asVoid(sql`delete from retired_rules where retired_at < ${before}`).pipe(
        unavailable("rules.forgetRetired")
      ),
    exists: (account, id) => Effect.map(exists(account, id), isNonEmpty).pipe(unavailable("rules.exists")),
    hide: (account, id, at) => hide(account, id, at).pipe(unavailable("rules.hide")),
    remove: (id) => remove(id).pipe(decided(sql), fenced(sql), unavailable("rules.remove")),
    registrations: (id) =>
      Effect.map(sql<RegistrationRow>`${registrations} where rule_id = ${toUuid(id)} order by platform`, (rows) =>
        rows.map(toRegistration)
      ).pipe(unavailable("rules.registrations")),
    registrationsOn: (platform) =>
      Effect.map(registrationsOn(platform), (rows) => rows.map(toRegistration)).pipe(
        unavailable("rules.registrationsOn")
      ),
    count: (account, platform) =>
      sql<{ readonly used: number }>`select count(*)::int as used from registrations
        where account_id = ${toUuid(account)} and platform = ${platform} and state <> 'paused'`.pipe(
        Effect.map(([row]) => row?.used ?? 0),
        unavailable("rules.count")
      ),
    counts: sql<{ readonly account_id: string; readonly rules: number }>`
      select account_id, count(*)::int as rules from rules r where ${visible} group by account_id`.pipe(
      Effect.map((rows) => new Map(rows.map((row) => [fromUuid("acct", row.account_id), row.rules]))),
      unavailable("rules.counts")
    ),
    wanted: (platform) => wanted(platform).pipe(unavailable("rules.wanted")),
    paused: (platform) => paused(platform).pipe(unavailable("rules.paused")),
    isShared: (registration) => Effect.map(isShared(registration), isNonEmpty).pipe(unavailable("rules.isShared")),
    ruleLinks: (platform, ids) =>
      Effect.map(ruleLinks(platform, ids), (rows) => rows.map(toRuleLink)).pipe(unavailable("rules.ruleLinks"))
  })
})

export const layer: Layer.Layer<RuleStore, never, SqlClient> = Layer.effect(RuleStore, make)

// ---- helpers ----

const FIRST_UUID = "00000000-0000-0000-0000-000000000000"
const ROWS_PER_PAGE = 250

/** Reads page after page, in order of the rules. */
const allPages = <A extends { readonly rule_id: string }, E>(
  page: (after: string) => Effect.Effect<ReadonlyArray<A>, E>
) =>
  Effect.gen(function* () {
    const all: Array<A> = []
    for (let after = FIRST_UUID; ; ) {
      const rows = yield* page(after)
      for (const row of rows) all.push(row)
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_PER_PAGE) return all
      after = last.rule_id
    }
  })

interface TextRow {
  readonly text: string
}

interface RuleRow extends RuleDetails {
  readonly id: string
  readonly created_at: Date
  readonly version: number
  readonly platforms: StoredPlatforms | null
  readonly shadow_since: Date | null
  readonly shadow: StoredPlatforms | null
}

/** As stored, see `standingOf`. */
interface StoredPlatforms {
  readonly [platform: PlatformId]: Registration & { readonly paused_by?: LimitPause["by"] }
}

/** Names every field: copying the details by their keys takes more than a microsecond per rule of a list. */
const toRule = (row: RuleRow): Rule => ({
  id: fromUuid("rule", row.id),
  name: row.name,
  intent: row.intent,
  platforms: toPlatforms(row.platforms),
  created_at: fromDate(row.created_at),
  version: row.version,
  ...(row.shadow_since !== null && {
    shadow: { since: fromDate(row.shadow_since), platforms: toPlatforms(row.shadow) }
  })
})

const toPlatforms = (stored: StoredPlatforms | null): Rule["platforms"] => {
  const platforms: Record<PlatformId, Registration> = {}
  for (const [platform, { state, paused_by, ...held }] of Object.entries(stored ?? {})) {
    platforms[platform] = { ...held, ...standingOf(state, paused_by) }
  }
  return platforms
}

type Restored = Parameters<RuleStore["Type"]["restore"]>[2]

type Failure = Parameters<RuleStore["Type"]["fail"]>[2]

type EndOfPauses = Parameters<RuleStore["Type"]["endPauses"]>[1]

interface OldestRow {
  readonly platform: PlatformId
  readonly rule_id: string
  readonly created_at: Date
  readonly watched_since: Date
  readonly has_gaps: boolean
}

const toOldest = (row: OldestRow) => ({
  platform: row.platform,
  ruleId: fromUuid("rule", row.rule_id),
  createdAt: fromDate(row.created_at),
  since: fromDate(row.watched_since)
})

interface RuleGapRow {
  readonly rule_id: string
  readonly platform: PlatformId
  readonly started_at: Date
  readonly ended_at: Date | null
  readonly cause: GapCause
  readonly detail: string
}

const toRuleGap = (row: RuleGapRow): RuleGap => ({
  ruleId: fromUuid("rule", row.rule_id),
  platform: row.platform,
  from: fromDate(row.started_at),
  to: Option.map(Option.fromNullable(row.ended_at), fromDate),
  cause: row.cause,
  detail: row.detail
})

interface RuleLinkRow {
  readonly platform_rule_id: string
  readonly rule_id: string
  readonly account_id: string
  readonly version: number
  readonly purpose: Candidate["purpose"] | null
  readonly retired_at: Date | null
}

const toRuleLink = (row: RuleLinkRow): RuleLink => ({
  platformRuleId: row.platform_rule_id,
  ruleId: fromUuid("rule", row.rule_id),
  accountId: fromUuid("acct", row.account_id),
  version: row.version,
  ...(row.retired_at !== null && { retiredAt: row.retired_at.getTime() }),
  isShadow: row.purpose !== null
})

const isNonEmpty = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0
