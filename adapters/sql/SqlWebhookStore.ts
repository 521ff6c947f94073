/** `WebhookStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Array as Arr, Effect, Layer, Option, PubSub, Redacted, Stream } from "effect"
import { afterCommit } from "../../core/idempotency/CommitHooks.ts"
import { LimitReached } from "../../core/model/Errors.ts"
import { type AccountId, fromUuid, type GrantId, type MatchId, toUuid, type WebhookId } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromDate, type Timestamp } from "../../core/model/Timestamp.ts"
import type { EndReason, EventName, Subscription } from "../../core/webhooks/Subscription.ts"
import type { AttemptKind, AttemptOutcome, WebhookAttempt, WebhookEvent } from "../../core/webhooks/Webhook.ts"
import {
  type AnnouncedGap,
  isDeliverable,
  type ListedWebhook,
  MAX_CONTROL_TRIES,
  MAX_COUNTED,
  type NewWebhook,
  type StoredWebhook,
  WebhookStore
} from "../../core/webhooks/WebhookStore.ts"
import { storableText } from "./parameters.ts"
import { AFTER_ALL, BEFORE_ALL, floorOf, lowerBound } from "./SqlMatchStore.ts"
import { codeOf, unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const news = yield* PubSub.sliding<void>(1)
  const tell = afterCommit(PubSub.publish(news, undefined))

  const checkLimit = (account: string, { subscription }: NewWebhook, limit: number) =>
    Effect.gen(function* () {
      // Concurrent inserts for the same account wait here until this transaction ends.
      const owner = yield* sql`select 1 from accounts where id = ${account} for no key update`
      if (owner.length === 0) return yield* Effect.dieMessage(`Account "${account}" does not exist`)
      const isSubscription = Option.isSome(subscription)
      const [row] = yield* sql<{ readonly used: number }>`
        select count(*)::int as used from webhooks
        where account_id = ${account} and (subscription is not null) = ${isSubscription}
          and coalesce(subscription, '') is distinct from ${isSubscription ? subscription.value.id : null}::text`
      const used = row?.used ?? 0
      const name = isSubscription ? "subscriptions" : "webhooks"
      if (limit > 0 && used >= limit) return yield* new LimitReached({ name, limit, used })
    })

  const insert = (webhook: NewWebhook, limit: number) => {
    const account = toUuid(webhook.account)
    const rules = Option.getOrNull(Option.map(webhook.rules, Arr.map(toUuid)))
    const subscription = Option.getOrUndefined(webhook.subscription)
    const own = Option.getOrUndefined(subscription?.ownRule ?? Option.none())
    return checkLimit(account, webhook, limit).pipe(
      Effect.zipRight(sql`
        insert into webhooks (id, account_id, url, description, rule_ids, platforms, secret, created_at, cursor, events,
          disabled_reason, announced_gaps, subscription, event, key_id, grant_id, client, expires_at, own_rule)
        select ${toUuid(webhook.id)}, ${account}, ${webhook.url}, ${Option.getOrNull(webhook.description)},
          ${rules}::uuid[], ${Option.getOrNull(webhook.platforms)}::text[], ${Redacted.value(webhook.secret)},
          ${webhook.createdAt}, coalesce(${subscription === undefined ? null : toUuid(subscription.start)}::uuid, newest),
          ${webhook.events}::text[], ${subscription === undefined ? null : FOR_EARLIER_VERSIONS}::text,
          ${JSON.stringify(subscription?.announcedGaps ?? [])}::jsonb, ${subscription?.id ?? null}::text,
          ${subscription?.event ?? null}::text, ${subscription === undefined ? null : toUuid(subscription.key)}::uuid,
          ${uuidOrNull(subscription?.grant ?? Option.none())}::uuid,
          ${storableText(Option.getOrNull(subscription?.client ?? Option.none()))}::text,
          ${subscription?.expiresAt ?? null}::timestamptz, ${own === undefined ? null : toUuid(own)}::uuid
        from match_order on conflict do nothing`),
      sql.withTransaction,
      Effect.asVoid,
      unavailable("webhooks.insert")
    )
  }

  // Pending registrations are those of a rule that is being made.
  const hasRule = sql`exists (
    select 1 from rules r where r.id = any(w.rule_ids) and r.account_id = w.account_id
      and not exists (select 1 from registrations g where g.rule_id = r.id and g.state = 'removing')
  )`
  const isMakingRule = sql`(w.own_rule is not null and w.created_at > clock_timestamp() - interval '2 minutes')`
  const endReason = sql`case
    when w.subscription is null then null
    when not exists (
      select 1 from keys k where k.id = w.key_id and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp())
    ) or (w.grant_id is not null and not exists (
      select 1 from grants g where g.id = w.grant_id and g.ended_at is null and g.expires_at > clock_timestamp()
    )) then 'key'
    when w.rule_ids is not null and not ${hasRule} and not ${isMakingRule} then 'rule'
  end`
  const columns = sql`w.id, w.account_id, w.url, w.description, w.rule_ids, w.platforms, w.secret, w.previous_secret,
    w.previous_secret_until, w.created_at, w.cursor, w.failures, w.next_attempt_at, w.events, w.announced_gaps,
    case when w.subscription is null then w.disabled_reason else w.suspended_reason end as disabled_reason,
    w.subscription, w.event, w.key_id, w.grant_id, w.client, w.expires_at, w.own_rule, w.gap_tries, w.end_tries,
    ${endReason} as ended`
  const listed = sql`select ${columns}, to_jsonb(a) as last_attempt, to_jsonb(d) as last_delivery from webhooks w
  left join lateral (
    select * from webhook_attempts a where a.webhook_id = w.id order by a.id desc limit 1
  ) a on true
  left join lateral (
    select * from webhook_attempts d where d.webhook_id = w.id and d.kind = 'delivery' order by d.id desc limit 1
  ) d on true`

  const rotate = (id: WebhookId, secret: Redacted.Redacted, until: Timestamp) => sql`
    update webhooks set secret = ${Redacted.value(secret)}, previous_secret = secret, previous_secret_until = ${until}
    where id = ${toUuid(id)}`

  const enable = (id: WebhookId) => sql`
    update webhooks set failures = 0, next_attempt_at = null, suspended_reason = null,
      disabled_reason = case when subscription is not null then disabled_reason end
    where id = ${toUuid(id)}`

  const moveCursor = (id: WebhookId, after: MatchId) => sql`
    update webhooks set cursor = ${toUuid(after)}, failures = 0, next_attempt_at = null where id = ${toUuid(id)}`

  const attempts: WebhookStore["Type"]["attempts"] = ({ webhook, before, limit }) =>
    sql<AttemptRow>`
      select * from webhook_attempts where webhook_id = ${toUuid(webhook)}
        and id < ${Option.match(before, { onNone: () => AFTER_ALL, onSome: toUuid })}
      order by id desc limit ${limit}`.pipe(Effect.map(Arr.map(toAttempt)), unavailable("webhooks.attempts"))

  const insertAttempt = (attempt: WebhookAttempt) => sql`
    insert into webhook_attempts (id, webhook_id, at, kind, match_id, outcome, status, duration_ms, error, response)
    select ${toUuid(attempt.id)}, id, ${attempt.at}, ${attempt.kind},
      ${attempt.match_id === undefined ? null : toUuid(attempt.match_id)}::uuid, ${attempt.outcome},
      ${attempt.status ?? null}::int, ${attempt.duration_ms}, ${storableText(attempt.error ?? null)}::text,
      ${storableText(attempt.response ?? null)}::text
    from webhooks where id = ${toUuid(attempt.webhook_id)}`

  const record = (attempt: WebhookAttempt) =>
    insertAttempt(attempt).pipe(
      Effect.asVoid,
      Effect.catchIf(webhookIsGone, () => Effect.void),
      unavailable("webhooks.record")
    )

  const isEnabled = sql`case when w.subscription is null then w.disabled_reason is null
    else w.suspended_reason is null and w.expires_at > clock_timestamp() end`
  const hasToTell = sql`(w.gap_tries < ${MAX_CONTROL_TRIES} or ${endReason} is not null)`

  const refresh: WebhookStore["Type"]["refresh"] = (id, refreshed) => {
    const { url, expiresAt, client, key, grant, secret, previousUntil } = refreshed
    const isOther = sql`secret <> ${Redacted.value(secret)}`
    return sql`
      update webhooks set url = ${url}, expires_at = ${expiresAt}, failures = 0, next_attempt_at = null,
        key_id = ${toUuid(key)}, grant_id = ${uuidOrNull(grant)}::uuid,
        client = ${storableText(Option.getOrNull(client))}::text, suspended_reason = null,
        gap_tries = case when gap_tries < ${MAX_CONTROL_TRIES} then gap_tries end,
        previous_secret = case when ${isOther} then secret else previous_secret end,
        previous_secret_until = case when ${isOther} then ${previousUntil}::timestamptz else previous_secret_until end,
        secret = ${Redacted.value(secret)}
      where id = ${toUuid(id)}`.pipe(Effect.zipRight(tell), unavailable("webhooks.refresh"))
  }

  const passOwnRule: WebhookStore["Type"]["passOwnRule"] = (id, rule) =>
    sql`
      with heir as (
        select w.id from webhooks w
        where w.id <> ${toUuid(id)} and ${toUuid(rule)} = any(w.rule_ids) and w.subscription is not null
          and w.account_id = (select account_id from webhooks where id = ${toUuid(id)})
          and w.expires_at > clock_timestamp() and ${endReason} is null
        order by w.id limit 1 for update of w
      ), passed as (
        update webhooks w set own_rule = ${toUuid(rule)} from heir where w.id = heir.id returning 1
      ), freed as (update webhooks set own_rule = null where id = ${toUuid(id)} and exists (select 1 from passed))
      select 1 from passed`.pipe(
      Effect.map((rows) => rows.length > 0),
      unavailable("webhooks.passOwnRule")
    )

  // One index lookup per platform, or per rule and platform. Without the limits it would join all matches.
  const hasMatches = (platforms: ReadonlyArray<PlatformId>) => sql`exists (
    select 1 from unnest(coalesce(w.platforms, ${platforms}::text[])) p(platform) cross join lateral (
      (select 1 from matches m
        where w.rule_ids is null and m.account_id = w.account_id and m.platform = p.platform and m.id > w.cursor
        order by m.id desc limit 1)
      union all
      (select 1 from redactions m
        where w.rule_ids is null and m.account_id = w.account_id and m.platform = p.platform and m.id > w.cursor
        order by m.id desc limit 1)
      union all
      (select 1 from unnest(w.rule_ids) r(id) cross join lateral (
        (select 1 from matches m where m.rule_id = r.id and m.platform = p.platform and m.id > w.cursor
        order by m.id desc limit 1)
        union all
        (select 1 from redactions m where m.rule_id = r.id and m.platform = p.platform and m.id > w.cursor
        order by m.id desc limit 1)
      ) m limit 1)
    ) m)`
  // The same lookups, in the order of ids, so that the first one is the oldest.
  const waiting = (table: "matches" | "redactions", event: WebhookEvent) => sql`
    (select m.id from ${sql(table)} m
      where w.rule_ids is null and ${event} = any(w.events)
        and m.account_id = w.account_id and m.platform = p.platform and m.id > w.cursor
      order by m.id limit ${MAX_COUNTED})
    union all
    (select m.id from unnest(w.rule_ids) r(id) cross join lateral (
      select m.id from ${sql(table)} m
      where ${event} = any(w.events) and m.rule_id = r.id and m.platform = p.platform and m.id > w.cursor
      order by m.id limit ${MAX_COUNTED}) m)`
  const backlog: WebhookStore["Type"]["backlog"] = (platforms) =>
    sql<{ readonly messages: number; readonly oldest: string | null; readonly disabled: number }>`
      select count(*)::int as messages, (array_agg(m.id order by m.id))[1] as oldest,
        (select count(*)::int from webhooks where subscription is null and disabled_reason is not null) as disabled
      from webhooks w cross join lateral unnest(coalesce(w.platforms, ${platforms}::text[])) p(platform)
        cross join lateral (
          ${waiting("matches", "match")} union all ${waiting("redactions", "match.redacted")}
        ) m
      where ${isEnabled}`.pipe(
      Effect.map(([row]) => ({
        messages: row?.messages ?? 0,
        oldest: Option.map(Option.fromNullable(row?.oldest), (id) => fromUuid("match", id)),
        disabled: row?.disabled ?? 0
      })),
      unavailable("webhooks.backlog")
    )
  const isBelowFloor = sql`w.cursor < ${floorOf(sql, sql.literal("w.account_id"))}`
  const announcesGaps = sql.literal("'coverage.gap' = any(w.events)")
  const isFree = sql.literal("(w.claimed_until is null or w.claimed_until <= clock_timestamp())")
  const leaseEnd = (millis: number) => sql`clock_timestamp() + ${millis} * interval '1 millisecond'`

  const claim: WebhookStore["Type"]["claim"] = ({ claim, now, millis, limit, platforms, dueGaps }) =>
    sql<WebhookRow>`
      with due as (
        select w.id from webhooks w
        where ${isEnabled} and (w.next_attempt_at is null or w.next_attempt_at <= ${now}) and ${isFree}
          and (w.id = any(${dueGaps.map(toUuid)}::uuid[]) or ${isBelowFloor} or ${hasMatches(platforms)} or ${hasToTell})
        order by w.cursor limit ${limit}
        for update of w skip locked
      ), claimed as (
        update webhooks w set claim = ${claim}, claimed_until = ${leaseEnd(millis)} from due where w.id = due.id
        returning ${columns}
      )
      select * from claimed order by cursor`.pipe(Effect.map(Arr.map(toWebhook)), unavailable("webhooks.claim"))

  const renew = (id: WebhookId, claim: string, millis: number) => sql<WebhookRow>`
    update webhooks w set claimed_until = ${leaseEnd(millis)} where w.id = ${toUuid(id)} and w.claim = ${claim}
    returning ${columns}`

  const settle: WebhookStore["Type"]["settle"] = (held, attempt, standing, millis) => {
    const { claim, webhook } = held
    const isKept = isDeliverable(standing)
    const reason = storableText(Option.getOrNull(standing.disabledReason))
    return Effect.gen(function* () {
      const [settled] = yield* sql<WebhookRow>`
        with settled as (
          update webhooks w set cursor = ${lowerBound(standing.cursor)}, failures = ${standing.failures},
            next_attempt_at = ${Option.getOrNull(standing.nextAttemptAt)}::timestamptz,
            disabled_reason = case when w.subscription is null then ${reason}::text else w.disabled_reason end,
            suspended_reason = case when w.subscription is not null then ${reason}::text end,
            gap_tries = ${Option.getOrNull(standing.gapTries)}::smallint, end_tries = ${standing.endTries},
            announced_gaps = ${JSON.stringify(standing.announcedGaps)}::jsonb,
            claim = case when ${isKept}::boolean then claim end,
            claimed_until = case when ${isKept}::boolean then ${leaseEnd(millis)} end
          where w.id = ${toUuid(webhook.id)} and w.claim = ${claim} and w.cursor = ${lowerBound(webhook.cursor)}
          returning ${columns}
        ), recorded as (${insertAttempt(attempt)})
        select * from settled`
      if (settled !== undefined) return isKept ? Option.some(toWebhook(settled)) : Option.none()
      return Option.map(Arr.head(yield* renew(webhook.id, claim, millis)), toWebhook)
    }).pipe(
      Effect.catchIf(webhookIsGone, () => Effect.succeed(Option.none())),
      unavailable("webhooks.settle")
    )
  }

  const release: WebhookStore["Type"]["release"] = ({ claim, webhook }, reached) => {
    const moved = Option.match(reached, {
      onNone: () => sql``,
      onSome: (id) => {
        const isUnmoved = sql`cursor = ${lowerBound(webhook.cursor)}`
        return sql`, cursor = case when ${isUnmoved} then ${toUuid(id)} else cursor end,
          failures = case when ${isUnmoved} then 0 else failures end`
      }
    })
    return sql`update webhooks set claim = null, claimed_until = null ${moved}
      where id = ${toUuid(webhook.id)} and claim = ${claim}`.pipe(Effect.asVoid, unavailable("webhooks.release"))
  }

  const maintain: WebhookStore["Type"]["maintain"] = (keep) =>
    Effect.gen(function* () {
      yield* sql`
        with idle as (
          select w.id, o.newest from webhooks w cross join match_order o
          where ${isFree} and w.cursor < o.newest and not ${isBelowFloor} and not ${hasMatches(keep.platforms)}
          for update of w skip locked
        )
        update webhooks w set cursor = idle.newest,
          failures = case when ${announcesGaps} then w.failures else 0 end,
          next_attempt_at = case when ${announcesGaps} then w.next_attempt_at end
        from idle where w.id = idle.id`
      yield* sql`delete from webhook_attempts where at < ${keep.since}`
      yield* sql`delete from webhook_attempts a using webhooks w
        where a.webhook_id = w.id and a.id <= (
          select l.id from webhook_attempts l where l.webhook_id = w.id
          order by l.id desc offset ${keep.attempts} limit 1
        )`
    }).pipe(unavailable("webhooks.maintain"))

  return WebhookStore.of({
    insert,
    subscription: ({ account, id }) =>
      sql<ListedRow>`${listed} where w.subscription = ${id} and w.account_id = ${toUuid(account)}`.pipe(
        Effect.map((rows) => Option.map(Arr.head(rows), toListed)),
        unavailable("webhooks.subscription")
      ),
    refresh,
    finished: sql<WebhookRow>`
      select ${columns} from webhooks w where w.subscription is not null
        and (w.expires_at <= clock_timestamp() or (w.suspended_reason is not null and ${endReason} is not null))`.pipe(
      Effect.map(Arr.map(toWebhook)),
      unavailable("webhooks.finished")
    ),
    passOwnRule,
    list: (account) =>
      sql<ListedRow>`${listed} where w.account_id = ${toUuid(account)} order by w.id desc`.pipe(
        Effect.map(Arr.map(toListed)),
        unavailable("webhooks.list")
      ),
    find: (account, id) =>
      sql<ListedRow>`${listed} where w.id = ${toUuid(id)} and w.account_id = ${toUuid(account)}`.pipe(
        Effect.map((rows) => Option.map(Arr.head(rows), toListed)),
        unavailable("webhooks.find")
      ),
    remove: (account: AccountId, id) =>
      sql`delete from webhooks where id = ${toUuid(id)} and account_id = ${toUuid(account)} returning 1`.pipe(
        Effect.map((rows) => rows.length > 0),
        unavailable("webhooks.remove")
      ),
    rotate: (id, secret, until) => Effect.asVoid(rotate(id, secret, until)).pipe(unavailable("webhooks.rotate")),
    enable: (id) => Effect.zipRight(enable(id), tell).pipe(unavailable("webhooks.enable")),
    moveCursor: (id, after) => Effect.zipRight(moveCursor(id, after), tell).pipe(unavailable("webhooks.moveCursor")),
    attempts,
    record,
    claim,
    backlog,
    announcingGaps: sql<WebhookRow>`
      select ${columns} from webhooks w
      where (${announcesGaps} or w.subscription is not null) and ${isEnabled}`.pipe(
      Effect.map(Arr.map(toWebhook)),
      unavailable("webhooks.announcingGaps")
    ),
    settle,
    release,
    releaseAll: Effect.asVoid(sql`update webhooks set claim = null, claimed_until = null where claim is not null`).pipe(
      unavailable("webhooks.releaseAll")
    ),
    maintain,
    changes: Stream.fromPubSub(news)
  })
})

export const layer: Layer.Layer<WebhookStore, never, SqlClient> = Layer.effect(WebhookStore, make)

// ---- helpers ----

const uuidOrNull = (id: Option.Option<GrantId>): string | null => Option.getOrNull(Option.map(id, toUuid))

/** Those deliver no webhook that is disabled. */
const FOR_EARLIER_VERSIONS = "A subscription of an MCP client: only servers of later versions deliver it"

/** The webhook was deleted between the select and the foreign key check. */
const webhookIsGone = (error: SqlError | LimitReached): boolean =>
  Option.exists(codeOf(error), (code) => code === "23503")

interface WebhookRow {
  readonly id: string
  readonly account_id: string
  readonly url: string
  readonly description: string | null
  readonly rule_ids: ReadonlyArray<string> | null
  readonly platforms: ReadonlyArray<PlatformId> | null
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_secret_until: Date | null
  readonly created_at: Date
  readonly cursor: string
  readonly failures: number
  readonly next_attempt_at: Date | null
  readonly disabled_reason: string | null
  readonly events: ReadonlyArray<WebhookEvent>
  readonly announced_gaps: ReadonlyArray<AnnouncedGap>
  readonly subscription: string | null
  readonly event: EventName | null
  readonly key_id: string | null
  readonly grant_id: string | null
  readonly client: string | null
  readonly expires_at: Date | null
  readonly own_rule: string | null
  readonly gap_tries: number | null
  readonly end_tries: number
  readonly ended: EndReason | null
}

interface AttemptRow {
  readonly id: string
  readonly webhook_id: string
  /** A string when read through `to_jsonb`. */
  readonly at: Date | string
  readonly kind: AttemptKind
  readonly match_id: string | null
  readonly outcome: AttemptOutcome
  readonly status: number | null
  readonly duration_ms: number
  readonly error: string | null
  readonly response: string | null
}

interface ListedRow extends WebhookRow {
  readonly last_delivery: AttemptRow | null
  readonly last_attempt: AttemptRow | null
}

const toWebhook = (row: WebhookRow): StoredWebhook => ({
  id: fromUuid("webhook", row.id),
  account: fromUuid("acct", row.account_id),
  url: row.url,
  description: Option.fromNullable(row.description),
  rules: Option.map(
    Option.fromNullable(row.rule_ids),
    Arr.map((id) => fromUuid("rule", id))
  ),
  platforms: Option.fromNullable(row.platforms),
  events: row.events,
  announcedGaps: row.announced_gaps,
  gapTries: Option.fromNullable(row.gap_tries),
  endTries: row.end_tries,
  subscription: subscriptionOf(row),
  secret: Redacted.make(row.secret),
  previousSecret:
    row.previous_secret === null || row.previous_secret_until === null
      ? Option.none()
      : Option.some({ secret: Redacted.make(row.previous_secret), until: fromDate(row.previous_secret_until) }),
  createdAt: fromDate(row.created_at),
  cursor: row.cursor === BEFORE_ALL ? Option.none() : Option.some(fromUuid("match", row.cursor)),
  failures: row.failures,
  nextAttemptAt: Option.map(Option.fromNullable(row.next_attempt_at), fromDate),
  disabledReason: Option.fromNullable(row.disabled_reason)
})

const subscriptionOf = (row: WebhookRow): Option.Option<Subscription> => {
  const { subscription: id, event, key_id, expires_at } = row
  if (id === null || event === null || key_id === null || expires_at === null) return Option.none()
  return Option.some({
    id,
    event,
    key: fromUuid("key", key_id),
    grant: Option.map(Option.fromNullable(row.grant_id), (id) => fromUuid("grant", id)),
    client: Option.fromNullable(row.client),
    expiresAt: fromDate(expires_at),
    ownRule: Option.map(Option.fromNullable(row.own_rule), (rule) => fromUuid("rule", rule)),
    ended: Option.fromNullable(row.ended)
  })
}

const toListed = (row: ListedRow): ListedWebhook => ({
  ...toWebhook(row),
  lastDelivery: Option.map(Option.fromNullable(row.last_delivery), toAttempt),
  lastAttempt: Option.map(Option.fromNullable(row.last_attempt), toAttempt)
})

const toAttempt = (row: AttemptRow): WebhookAttempt => ({
  id: fromUuid("attempt", row.id),
  webhook_id: fromUuid("webhook", row.webhook_id),
  at: fromDate(new Date(row.at)),
  kind: row.kind,
  ...(row.match_id !== null && { match_id: fromUuid("match", row.match_id) }),
  outcome: row.outcome,
  ...(row.status !== null && { status: row.status }),
  duration_ms: row.duration_ms,
  ...(row.error !== null && { error: row.error }),
  ...(row.response !== null && { response: row.response })
})
