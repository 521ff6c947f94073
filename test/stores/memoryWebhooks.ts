/** `WebhookStore` in memory. */
import { Clock, Effect, Layer, Option, PubSub, Redacted, Stream } from "effect"
import { isActive as isGrantActive } from "../../core/grants/Grant.ts"
import { GrantStore } from "../../core/grants/GrantStore.ts"
import { isActive } from "../../core/keys/Key.ts"
import { KeyStore } from "../../core/keys/KeyStore.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { LimitReached } from "../../core/model/Errors.ts"
import type { AccountId, MatchId, RuleId, WebhookId } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { fromMillis, type Timestamp } from "../../core/model/Timestamp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import type { EndReason } from "../../core/webhooks/Subscription.ts"
import type { WebhookAttempt } from "../../core/webhooks/Webhook.ts"
import {
  eventOf,
  isDeliverable,
  type Lease,
  type ListedWebhook,
  MAX_CONTROL_TRIES,
  MAX_COUNTED,
  type NewWebhook,
  noFailures,
  type StoredWebhook,
  WebhookStore
} from "../../core/webhooks/WebhookStore.ts"

type Others = MatchStore | KeyStore | GrantStore | RuleStore

export const memoryWebhooks: Layer.Layer<WebhookStore, never, Others> = Layer.effect(
  WebhookStore,
  Effect.gen(function* () {
    const matches = yield* MatchStore
    const keys = yield* KeyStore
    const grants = yield* GrantStore
    const rules = yield* RuleStore
    const webhooks = new Map<WebhookId, StoredWebhook>()
    const claims = new Map<WebhookId, { readonly claim: string; readonly until: number }>()
    let oldestFirst: ReadonlyArray<WebhookAttempt> = []
    const changes = yield* PubSub.sliding<void>(1)
    const notify = PubSub.publish(changes, undefined)

    const endOf = Effect.fnUntraced(function* ({ account, rules: ids, createdAt, subscription }: StoredWebhook) {
      if (Option.isNone(subscription)) return Option.none<EndReason>()
      const { key, grant, ownRule } = subscription.value
      const now = yield* Clock.currentTimeMillis
      const found = (yield* keys.list(Option.some(account))).find(({ id }) => id === key)
      if (found === undefined || !isActive(found, fromMillis(now))) return Option.some<EndReason>("key")
      if (Option.isSome(grant)) {
        const at = fromMillis(now)
        const given = (yield* grants.list(Option.some(account), at)).find(({ id }) => id === grant.value)
        if (given === undefined || !isGrantActive(given, at)) return Option.some<EndReason>("key")
      }
      const isMakingRule = Option.isSome(ownRule) && Date.parse(createdAt) > now - 120_000
      if (Option.isNone(ids) || isMakingRule) return Option.none<EndReason>()
      const kept = yield* Effect.filter(ids.value, (id) => rules.exists(account, id))
      return kept.length > 0 ? Option.none<EndReason>() : Option.some<EndReason>("rule")
    })
    const withEnd = (webhook: StoredWebhook) =>
      Effect.map(endOf(webhook), (ended) => ({
        ...webhook,
        subscription: Option.map(webhook.subscription, (one) => ({ ...one, ended }))
      }))
    const hasExpired = ({ subscription }: StoredWebhook, now: number) =>
      Option.exists(subscription, ({ expiresAt }) => Date.parse(expiresAt) <= now)

    const attemptsOf = (id: WebhookId) => oldestFirst.filter(({ webhook_id }) => webhook_id === id).toReversed()
    const listed = (webhook: StoredWebhook): ListedWebhook => ({
      ...webhook,
      lastDelivery: Option.fromNullable(attemptsOf(webhook.id).find(({ kind }) => kind === "delivery")),
      lastAttempt: Option.fromNullable(attemptsOf(webhook.id)[0])
    })
    const change = (id: WebhookId, changed: (webhook: StoredWebhook) => Partial<StoredWebhook>) =>
      Effect.sync(() => {
        const webhook = webhooks.get(id)
        if (webhook !== undefined) webhooks.set(id, { ...webhook, ...changed(webhook) })
      })
    const addAttempt = (attempt: WebhookAttempt) => {
      if (webhooks.has(attempt.webhook_id)) oldestFirst = [...oldestFirst, attempt]
    }

    const insert = (webhook: NewWebhook, limit: number) =>
      Effect.gen(function* () {
        const newest = yield* matches.newest
        const { subscription } = webhook
        const isSubscription = Option.isSome(subscription)
        const ofAccount = [...webhooks.values()].filter(({ account }) => account === webhook.account)
        const isSame = (one: StoredWebhook) =>
          isSubscription && Option.exists(one.subscription, ({ id }) => id === subscription.value.id)
        const used = ofAccount.filter(
          (one) => Option.isSome(one.subscription) === isSubscription && !isSame(one)
        ).length
        const name = isSubscription ? "subscriptions" : "webhooks"
        if (limit > 0 && used >= limit) return yield* new LimitReached({ name, limit, used })
        if (ofAccount.some(isSame)) return
        webhooks.set(webhook.id, {
          ...webhook,
          ...noFailures,
          subscription: Option.map(subscription, ({ start: _, announcedGaps: __, ...one }) => ({
            ...one,
            ended: Option.none()
          })),
          cursor: Option.orElse(
            Option.map(subscription, ({ start }) => start),
            () => newest
          ),
          announcedGaps: Option.match(subscription, { onNone: () => [], onSome: (one) => one.announcedGaps }),
          gapTries: Option.none(),
          endTries: 0,
          previousSecret: Option.none()
        })
      })

    const list = (account: AccountId) =>
      Effect.forEach(
        [...webhooks.values()].filter((webhook) => webhook.account === account).sort((a, b) => (a.id < b.id ? 1 : -1)),
        (webhook) => Effect.map(withEnd(webhook), listed)
      )

    const isBelowFloor = ({ account, cursor }: StoredWebhook) =>
      Effect.map(matches.floor(account), (floor) =>
        Option.exists(floor, (floor) => !Option.exists(cursor, (cursor) => cursor >= floor))
      )

    const hasMatches = ({ account, rules, platforms, cursor }: StoredWebhook, all: ReadonlyArray<PlatformId>) =>
      Effect.map(
        matches.next({
          account,
          rules,
          platforms: Option.getOrElse(platforms, () => all),
          after: cursor,
          limit: 1
        }),
        ({ items }) => items.length > 0
      )

    const backlog: WebhookStore["Type"]["backlog"] = (all) =>
      Effect.gen(function* () {
        const ids: Array<MatchId> = []
        const now = yield* Clock.currentTimeMillis
        for (const webhook of webhooks.values()) {
          const { account, rules, platforms, cursor, events, disabledReason } = webhook
          if (Option.isSome(disabledReason) || hasExpired(webhook, now)) continue
          const selector = { account, rules, platforms: Option.getOrElse(platforms, () => all) }
          const { items } = yield* matches.next({ ...selector, after: cursor, limit: MAX_COUNTED })
          for (const { id, _tag } of items) if (events.includes(eventOf[_tag])) ids.push(id)
        }
        const disabled = [...webhooks.values()].filter(
          ({ subscription, disabledReason }) => Option.isNone(subscription) && Option.isSome(disabledReason)
        )
        return { messages: ids.length, oldest: Option.fromNullable(ids.sort()[0]), disabled: disabled.length }
      })

    const isFree = (id: WebhookId, now: number) => (claims.get(id)?.until ?? 0) <= now
    const isDue = ({ disabledReason, nextAttemptAt }: StoredWebhook, now: Timestamp) =>
      Option.isNone(disabledReason) && !Option.exists(nextAttemptAt, (at) => at > now)

    const claim: WebhookStore["Type"]["claim"] = ({ claim, now, millis, limit, platforms, dueGaps }) =>
      Effect.gen(function* () {
        const clock = yield* Clock.currentTimeMillis
        const all = yield* Effect.forEach(webhooks.values(), withEnd)
        const candidates = all.filter(
          (webhook) => isDue(webhook, now) && isFree(webhook.id, clock) && !hasExpired(webhook, clock)
        )
        const hasToTell = ({ id, gapTries, subscription }: StoredWebhook) =>
          dueGaps.includes(id) ||
          Option.exists(gapTries, (tries) => tries < MAX_CONTROL_TRIES) ||
          Option.exists(subscription, ({ ended }) => Option.isSome(ended))
        const waiting = yield* Effect.filter(candidates, (webhook) =>
          Effect.if(hasToTell(webhook) ? Effect.succeed(true) : isBelowFloor(webhook), {
            onTrue: () => Effect.succeed(true),
            onFalse: () => hasMatches(webhook, platforms)
          })
        )
        const taken = waiting.sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1)).slice(0, limit)
        for (const { id } of taken) claims.set(id, { claim, until: clock + millis })
        return taken
      })

    const isHeld = ({ claim, webhook }: Lease) => claims.get(webhook.id)?.claim === claim

    const settle: WebhookStore["Type"]["settle"] = (lease, attempt, state, millis) =>
      Effect.gen(function* () {
        addAttempt(attempt)
        const { id, cursor } = lease.webhook
        const webhook = webhooks.get(id)
        if (webhook === undefined || !isHeld(lease)) return Option.none()
        claims.set(id, { claim: lease.claim, until: (yield* Clock.currentTimeMillis) + millis })
        if (!isSameCursor(webhook.cursor, cursor)) return Option.some(yield* withEnd(webhook))
        const settled = { ...webhook, ...state }
        webhooks.set(id, settled)
        if (isDeliverable(state)) return Option.some(yield* withEnd(settled))
        claims.delete(id)
        return Option.none()
      })

    const release = (lease: Lease, reached: Option.Option<MatchId>) =>
      Effect.gen(function* () {
        if (!isHeld(lease)) return
        const { id, cursor } = lease.webhook
        claims.delete(id)
        yield* change(id, (webhook) =>
          Option.isSome(reached) && isSameCursor(webhook.cursor, cursor) ? { ...noFailures, cursor: reached } : {}
        )
      })

    const maintain: WebhookStore["Type"]["maintain"] = ({ attempts, since, platforms }) =>
      Effect.gen(function* () {
        const newest = yield* matches.newest
        const now = yield* Clock.currentTimeMillis
        for (const webhook of webhooks.values()) {
          if (!isFree(webhook.id, now) || (yield* isBelowFloor(webhook)) || (yield* hasMatches(webhook, platforms)))
            continue
          const { disabledReason, events } = webhook
          // The message that failed may be about a gap.
          const cleared = events.includes("coverage.gap") ? {} : { ...noFailures, disabledReason }
          yield* change(webhook.id, () => ({ ...cleared, cursor: newest }))
        }
        const kept = new Set([...webhooks.keys()].flatMap((id) => attemptsOf(id).slice(0, attempts)))
        oldestFirst = oldestFirst.filter((attempt) => kept.has(attempt) && attempt.at >= since)
      })

    return WebhookStore.of({
      insert,
      subscription: ({ account, id }) =>
        Effect.map(list(account), (all) =>
          Option.fromNullable(all.find(({ subscription }) => Option.exists(subscription, (one) => one.id === id)))
        ),
      refresh: (id, { url, expiresAt, client, key, grant, secret, previousUntil }) =>
        Effect.zipRight(
          change(id, (webhook) => ({
            url,
            ...noFailures,
            secret,
            subscription: Option.map(webhook.subscription, (one) => ({ ...one, expiresAt, client, key, grant })),
            gapTries: Option.filter(webhook.gapTries, (tries) => tries < MAX_CONTROL_TRIES),
            ...(Redacted.value(secret) !== Redacted.value(webhook.secret) && {
              previousSecret: Option.some({ secret: webhook.secret, until: previousUntil })
            })
          })),
          notify
        ),
      finished: Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const all = yield* Effect.forEach(webhooks.values(), withEnd)
        return all.filter(
          (webhook) =>
            hasExpired(webhook, now) ||
            (Option.isSome(webhook.disabledReason) &&
              Option.exists(webhook.subscription, ({ ended }) => Option.isSome(ended)))
        )
      }),
      passOwnRule: (id, rule) =>
        Effect.gen(function* () {
          const account = webhooks.get(id)?.account
          const now = yield* Clock.currentTimeMillis
          const all = yield* Effect.forEach(webhooks.values(), withEnd)
          const heir = all.find(
            (one) =>
              one.id !== id &&
              one.account === account &&
              Option.exists(one.rules, (rules) => rules.includes(rule)) &&
              Option.exists(one.subscription, ({ ended }) => Option.isNone(ended)) &&
              !hasExpired(one, now)
          )
          if (heir === undefined) return false
          const own = (ownRule: Option.Option<RuleId>) => (webhook: StoredWebhook) => ({
            subscription: Option.map(webhook.subscription, (one) => ({ ...one, ownRule }))
          })
          yield* change(heir.id, own(Option.some(rule)))
          yield* change(id, own(Option.none()))
          return true
        }),
      list,
      find: (account, id) =>
        Effect.map(list(account), (all) => Option.fromNullable(all.find((webhook) => webhook.id === id))),
      remove: (account, id) =>
        Effect.sync(() => {
          if (webhooks.get(id)?.account !== account) return false
          oldestFirst = oldestFirst.filter(({ webhook_id }) => webhook_id !== id)
          return webhooks.delete(id)
        }),
      rotate: (id, secret, until) =>
        change(id, (webhook) => ({ secret, previousSecret: Option.some({ secret: webhook.secret, until }) })),
      enable: (id) =>
        Effect.zipRight(
          change(id, () => noFailures),
          notify
        ),
      moveCursor: (id, after) =>
        Effect.zipRight(
          change(id, ({ disabledReason }) => ({ ...noFailures, disabledReason, cursor: Option.some(after) })),
          notify
        ),
      attempts: ({ webhook, before, limit }) =>
        Effect.sync(() =>
          attemptsOf(webhook)
            .filter(({ id }) => !Option.exists(before, (before) => id >= before))
            .slice(0, limit)
        ),
      record: (attempt) => Effect.sync(() => addAttempt(attempt)),
      claim,
      backlog,
      announcingGaps: Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const all = yield* Effect.forEach(webhooks.values(), withEnd)
        return all.filter(
          (webhook) =>
            (webhook.events.includes("coverage.gap") || Option.isSome(webhook.subscription)) &&
            Option.isNone(webhook.disabledReason) &&
            !hasExpired(webhook, now)
        )
      }),
      settle,
      release,
      releaseAll: Effect.sync(() => claims.clear()),
      maintain,
      changes: Stream.fromPubSub(changes)
    })
  })
)

// ---- helpers ----

const cursorOf = ({ cursor }: StoredWebhook): string => Option.getOrElse(cursor, () => "")

const isSameCursor = Option.getEquivalence<MatchId>((a, b) => a === b)
