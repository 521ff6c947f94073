/** Storage port for webhooks and their delivery state, with an in-memory layer. */
import { Clock, Context, Effect, Layer, Option, PubSub, type Redacted, Stream } from "effect"
import type { WireGap } from "../coverage/Coverage.ts"
import { type Change, MatchStore } from "../matches/MatchStore.ts"
import { LimitReached, type StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, AttemptId, MatchId, RuleId, WebhookId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { WebhookAttempt, WebhookEvent } from "./Webhook.ts"

export interface NewWebhook {
  readonly id: WebhookId
  readonly account: AccountId
  readonly url: string
  readonly description: Option.Option<string>
  /** None for all. */
  readonly rules: Option.Option<ReadonlyArray<RuleId>>
  /** None for all. */
  readonly platforms: Option.Option<ReadonlyArray<PlatformId>>
  readonly events: ReadonlyArray<WebhookEvent>
  readonly secret: Redacted.Redacted
  readonly createdAt: Timestamp
}

/** A gap as the receiver knows it. */
export interface AnnouncedGap extends Omit<typeof WireGap.Type, "detail"> {
  readonly platform: PlatformId
}

export interface StoredWebhook extends NewWebhook {
  /** Also signs until then. */
  readonly previousSecret: Option.Option<{ readonly secret: Redacted.Redacted; readonly until: Timestamp }>
  /** The last match that was delivered or skipped. */
  readonly cursor: Option.Option<MatchId>
  readonly announcedGaps: ReadonlyArray<AnnouncedGap>
  /** Failed attempts of the next message. */
  readonly failures: number
  /** None: now. */
  readonly nextAttemptAt: Option.Option<Timestamp>
  readonly disabledReason: Option.Option<string>
}

export interface ListedWebhook extends StoredWebhook {
  /** The last attempt of the kind `delivery`. */
  readonly lastDelivery: Option.Option<WebhookAttempt>
  readonly lastAttempt: Option.Option<WebhookAttempt>
}

/** A worker's lease on a webhook. `claim` is a UUID that fences its writes. */
export interface Lease {
  readonly claim: string
  readonly webhook: StoredWebhook
}

export type DeliveryState = Pick<
  StoredWebhook,
  "cursor" | "announcedGaps" | "failures" | "nextAttemptAt" | "disabledReason"
>

export interface Backlog {
  readonly messages: number
  readonly oldest: Option.Option<MatchId>
}

export const MAX_COUNTED = 1_000

export class WebhookStore extends Context.Tag("core/WebhookStore")<
  WebhookStore,
  {
    /** Delivery starts after the newest match. */
    readonly insert: (webhook: NewWebhook, limit: number) => Effect.Effect<void, LimitReached | StoreUnavailable>
    /** Newest first. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<ListedWebhook>, StoreUnavailable>
    readonly find: (account: AccountId, id: WebhookId) => Effect.Effect<Option.Option<ListedWebhook>, StoreUnavailable>
    /** Deletes its attempts, too. False for an unknown id. */
    readonly remove: (account: AccountId, id: WebhookId) => Effect.Effect<boolean, StoreUnavailable>
    /** The current secret becomes the previous secret. */
    readonly rotate: (
      id: WebhookId,
      secret: Redacted.Redacted,
      previousUntil: Timestamp
    ) => Effect.Effect<void, StoreUnavailable>
    /** Clears the failures: the next attempt is due now. */
    readonly enable: (id: WebhookId) => Effect.Effect<void, StoreUnavailable>
    /** Clears the failures: delivery continues after this match. */
    readonly moveCursor: (id: WebhookId, after: MatchId) => Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    readonly attempts: (page: {
      readonly webhook: WebhookId
      readonly before: Option.Option<AttemptId>
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<WebhookAttempt>, StoreUnavailable>
    /** Does not change the delivery state. No-op for a deleted webhook. */
    readonly record: (attempt: WebhookAttempt) => Effect.Effect<void, StoreUnavailable>

    /**
     * Leases up to `limit` due webhooks for `millis`, those furthest behind first. Only webhooks without a lease that
     * have matches after the cursor, that missed deleted matches, or that are among `dueGaps`. Concurrent claims get
     * different webhooks.
     */
    readonly claim: (options: {
      readonly claim: string
      readonly now: Timestamp
      readonly millis: number
      readonly limit: number
      /** All there are, for webhooks that name none. */
      readonly platforms: ReadonlyArray<PlatformId>
      /** Webhooks with gaps to announce. */
      readonly dueGaps: ReadonlyArray<WebhookId>
    }) => Effect.Effect<ReadonlyArray<StoredWebhook>, StoreUnavailable>
    /**
     * What waits for the enabled webhooks of all accounts, without messages about gaps. Counts up to `MAX_COUNTED` per
     * webhook, rule and platform. `oldest`: the one that waits for longest.
     */
    readonly backlog: (platforms: ReadonlyArray<PlatformId>) => Effect.Effect<Backlog, StoreUnavailable>
    /** Enabled webhooks with the event coverage.gap, of all accounts. */
    readonly announcingGaps: Effect.Effect<ReadonlyArray<StoredWebhook>, StoreUnavailable>
    /**
     * Records the attempt, saves the delivery state and renews the lease in one transaction. If a user has moved the
     * cursor meanwhile, the state is not saved. Returns the stored webhook, or none if the lease is lost or released:
     * a webhook that waits for a retry or is disabled has no lease.
     */
    readonly settle: (
      lease: Lease,
      attempt: WebhookAttempt,
      state: DeliveryState,
      millis: number
    ) => Effect.Effect<Option.Option<StoredWebhook>, StoreUnavailable>
    /** `reached`: there is nothing to deliver up to this match. */
    readonly release: (lease: Lease, reached: Option.Option<MatchId>) => Effect.Effect<void, StoreUnavailable>
    /** Releases the leases of a crashed process. Only for a store without other processes. */
    readonly releaseAll: Effect.Effect<void, StoreUnavailable>
    /**
     * Run periodically. Moves idle webhooks to the newest match, so that later deletions do not count as missed, and
     * deletes attempts beyond `attempts` per webhook or older than `since`.
     */
    readonly maintain: (keep: {
      readonly attempts: number
      readonly since: Timestamp
      readonly platforms: ReadonlyArray<PlatformId>
    }) => Effect.Effect<void, StoreUnavailable>
    /** Emits when a change in this process may have made a webhook due. */
    readonly changes: Stream.Stream<void>
  }
>() {
  static readonly layerMemory: Layer.Layer<WebhookStore, never, MatchStore> = Layer.effect(
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
          const candidates = [...webhooks.values()].filter(
            (webhook) => isDue(webhook, now) && isFree(webhook.id, clock)
          )
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
}

export const isDeliverable = ({ nextAttemptAt, disabledReason }: DeliveryState): boolean =>
  Option.isNone(nextAttemptAt) && Option.isNone(disabledReason)

export const eventOf: Readonly<Record<Change["_tag"], WebhookEvent>> = { Matched: "match", Redacted: "match.redacted" }

export const noFailures = {
  failures: 0,
  nextAttemptAt: Option.none<Timestamp>(),
  disabledReason: Option.none<string>()
}

// ---- helpers ----

const cursorOf = ({ cursor }: StoredWebhook): string => Option.getOrElse(cursor, () => "")

const isSameCursor = Option.getEquivalence<MatchId>((a, b) => a === b)
