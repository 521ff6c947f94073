/** `WebhookStore` in memory. */
import { Clock, Effect, Layer, Option, PubSub, Stream } from "effect"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { LimitReached } from "../../core/model/Errors.ts"
import type { AccountId, MatchId, WebhookId } from "../../core/model/Ids.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { Timestamp } from "../../core/model/Timestamp.ts"
import type { WebhookAttempt } from "../../core/webhooks/Webhook.ts"
import {
  eventOf,
  isDeliverable,
  type Lease,
  type ListedWebhook,
  MAX_COUNTED,
  type NewWebhook,
  noFailures,
  type StoredWebhook,
  WebhookStore
} from "../../core/webhooks/WebhookStore.ts"

export const memoryWebhooks: Layer.Layer<WebhookStore, never, MatchStore> = Layer.effect(
  WebhookStore,
  Effect.gen(function* () {
    const matches = yield* MatchStore
    const webhooks = new Map<WebhookId, StoredWebhook>()
    const claims = new Map<WebhookId, { readonly claim: string; readonly until: number }>()
    let oldestFirst: ReadonlyArray<WebhookAttempt> = []
    const changes = yield* PubSub.sliding<void>(1)
    const notify = PubSub.publish(changes, undefined)

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
        const cursor = yield* matches.newest
        const used = [...webhooks.values()].filter(({ account }) => account === webhook.account).length
        if (limit > 0 && used >= limit) return yield* new LimitReached({ name: "webhooks", limit, used })
        webhooks.set(webhook.id, {
          ...webhook,
          ...noFailures,
          cursor,
          announcedGaps: [],
          previousSecret: Option.none()
        })
      })

    const list = (account: AccountId) =>
      Effect.sync(() =>
        [...webhooks.values()]
          .filter((webhook) => webhook.account === account)
          .sort((a, b) => (a.id < b.id ? 1 : -1))
          .map(listed)
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
        for (const { account, rules, platforms, cursor, events, disabledReason } of webhooks.values()) {
          if (Option.isSome(disabledReason)) continue
          const selector = { account, rules, platforms: Option.getOrElse(platforms, () => all) }
          const { items } = yield* matches.next({ ...selector, after: cursor, limit: MAX_COUNTED })
          for (const { id, _tag } of items) if (events.includes(eventOf[_tag])) ids.push(id)
        }
        return { messages: ids.length, oldest: Option.fromNullable(ids.sort()[0]) }
      })

    const isFree = (id: WebhookId, now: number) => (claims.get(id)?.until ?? 0) <= now
    const isDue = ({ disabledReason, nextAttemptAt }: StoredWebhook, now: Timestamp) =>
      Option.isNone(disabledReason) && !Option.exists(nextAttemptAt, (at) => at > now)

    const claim: WebhookStore["Type"]["claim"] = ({ claim, now, millis, limit, platforms, dueGaps }) =>
      Effect.gen(function* () {
        const clock = yield* Clock.currentTimeMillis
        const candidates = [...webhooks.values()].filter((webhook) => isDue(webhook, now) && isFree(webhook.id, clock))
        const waiting = yield* Effect.filter(candidates, (webhook) =>
          Effect.if(dueGaps.includes(webhook.id) ? Effect.succeed(true) : isBelowFloor(webhook), {
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
        if (!isSameCursor(webhook.cursor, cursor)) return Option.some(webhook)
        const settled = { ...webhook, ...state }
        webhooks.set(id, settled)
        if (isDeliverable(state)) return Option.some(settled)
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
      announcingGaps: Effect.sync(() =>
        [...webhooks.values()].filter(
          ({ events, disabledReason }) => events.includes("coverage.gap") && Option.isNone(disabledReason)
        )
      ),
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
