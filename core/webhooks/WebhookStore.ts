/** The port to where webhooks are kept, with how far each has got, and a layer of it in memory. */
import { Clock, Context, Effect, Layer, Option, PubSub, type Redacted, Stream } from "effect"
import { MatchStore } from "../matches/MatchStore.ts"
import { type StorageUnavailable, WebhookLimitReached } from "../model/Errors.ts"
import type { AccountId, AttemptId, MatchId, RuleId, WebhookId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { WebhookAttempt } from "./Webhook.ts"

export interface NewWebhook {
  readonly id: WebhookId
  readonly account: AccountId
  readonly url: string
  readonly description: Option.Option<string>
  /** None for all. */
  readonly rules: Option.Option<ReadonlyArray<RuleId>>
  /** None for all. */
  readonly platforms: Option.Option<ReadonlyArray<PlatformId>>
  readonly secret: Redacted.Redacted
  readonly createdAt: Timestamp
}

export interface StoredWebhook extends NewWebhook {
  /** Signs beside the other until then. */
  readonly previousSecret: Option.Option<{ readonly secret: Redacted.Redacted; readonly until: Timestamp }>
  /** The last match that is done for it. */
  readonly cursor: Option.Option<MatchId>
  /** Failed attempts of the match after the cursor. */
  readonly failures: number
  /** None: at once. */
  readonly nextAttemptAt: Option.Option<Timestamp>
  /** Some: nothing is sent. */
  readonly disabledReason: Option.Option<string>
}

export interface ListedWebhook extends StoredWebhook {
  readonly lastAttempt: Option.Option<WebhookAttempt>
}

/** The right of one worker to deliver to a webhook, for a time. `claim` is a UUID of its own. */
export interface Claimed {
  readonly claim: string
  readonly webhook: StoredWebhook
}

/** Where a webhook stands after an attempt. */
export type Standing = Pick<StoredWebhook, "cursor" | "failures" | "nextAttemptAt" | "disabledReason">

export class WebhookStore extends Context.Tag("core/WebhookStore")<
  WebhookStore,
  {
    /** It begins after the newest match there is. */
    readonly insert: (
      webhook: NewWebhook,
      limit: number
    ) => Effect.Effect<void, WebhookLimitReached | StorageUnavailable>
    /** Newest first. */
    readonly list: (account: AccountId) => Effect.Effect<ReadonlyArray<ListedWebhook>, StorageUnavailable>
    readonly find: (
      account: AccountId,
      id: WebhookId
    ) => Effect.Effect<Option.Option<ListedWebhook>, StorageUnavailable>
    /** With its attempts. False when there was none. */
    readonly remove: (account: AccountId, id: WebhookId) => Effect.Effect<boolean, StorageUnavailable>
    /** The secret becomes the previous one; the one before that is forgotten. */
    readonly rotate: (
      id: WebhookId,
      secret: Redacted.Redacted,
      previousUntil: Timestamp
    ) => Effect.Effect<void, StorageUnavailable>
    /** Its next attempt is due at once, whatever came before. */
    readonly enable: (id: WebhookId) => Effect.Effect<void, StorageUnavailable>
    /** Delivery goes on after this match, with its first attempt. */
    readonly moveTo: (id: WebhookId, after: MatchId) => Effect.Effect<void, StorageUnavailable>
    /** Newest first. */
    readonly attempts: (page: {
      readonly webhook: WebhookId
      readonly before: Option.Option<AttemptId>
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<WebhookAttempt>, StorageUnavailable>
    /** An attempt that changes nothing else. Nothing happens when its webhook is gone. */
    readonly record: (attempt: WebhookAttempt) => Effect.Effect<void, StorageUnavailable>

    /**
     * Takes webhooks that are due, have something to deliver, and that nobody else has taken, for so long. Something to
     * deliver are matches after the cursor, and to tell that some were deleted before they could be delivered. Those
     * furthest behind come first. Of several who claim at once, each gets others.
     */
    readonly claim: (options: {
      readonly claim: string
      readonly now: Timestamp
      readonly millis: number
      readonly limit: number
      /** All there are, for webhooks that name none. */
      readonly platforms: ReadonlyArray<PlatformId>
    }) => Effect.Effect<ReadonlyArray<StoredWebhook>, StorageUnavailable>
    /**
     * Records the attempt and, in the same step, where the webhook stands after it, and holds it for so long again.
     * Answers the webhook as it is then, where it is held. It has another standing if it was changed meanwhile: what
     * was asked for by a user wins. None when it is held no longer, which is so for one that waits or is disabled, too.
     */
    readonly settle: (
      held: Claimed,
      attempt: WebhookAttempt,
      standing: Standing,
      millis: number
    ) => Effect.Effect<Option.Option<StoredWebhook>, StorageUnavailable>
    /** Lets go of it. `reached`: up to there it has nothing to deliver. */
    readonly release: (held: Claimed, reached: Option.Option<MatchId>) => Effect.Effect<void, StorageUnavailable>
    /** Lets go of all, for a store that has no other process: whoever held them is no more. */
    readonly releaseAll: Effect.Effect<void, StorageUnavailable>
    /**
     * To be called from time to time: webhooks without anything to deliver get to the newest match, so that what is
     * deleted later is not taken for theirs; of attempts only so many per webhook are kept, and none from before.
     */
    readonly tend: (keep: {
      readonly attempts: number
      readonly since: Timestamp
      readonly platforms: ReadonlyArray<PlatformId>
    }) => Effect.Effect<void, StorageUnavailable>
    /** Says that a webhook may be due because it was changed in this process. */
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
      const news = yield* PubSub.sliding<void>(1)
      const tell = PubSub.publish(news, undefined)

      const attemptsOf = (id: WebhookId) => oldestFirst.filter(({ webhook_id }) => webhook_id === id).toReversed()
      const listed = (webhook: StoredWebhook): ListedWebhook => ({
        ...webhook,
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
          if (used >= limit) return yield* new WebhookLimitReached({ limit, used })
          webhooks.set(webhook.id, { ...webhook, ...FRESH, cursor, previousSecret: Option.none() })
        })

      const list = (account: AccountId) =>
        Effect.sync(() =>
          [...webhooks.values()]
            .filter((webhook) => webhook.account === account)
            .sort((a, b) => (a.id < b.id ? 1 : -1))
            .map(listed)
        )

      const isBelowFloor = ({ cursor }: StoredWebhook) =>
        Effect.map(matches.floor, (floor) =>
          Option.exists(floor, (floor) => !Option.exists(cursor, (cursor) => cursor >= floor))
        )

      const hasMatches = ({ account, rules, platforms, cursor }: StoredWebhook, all: ReadonlyArray<PlatformId>) =>
        Effect.exists(
          Option.match(rules, { onNone: () => [Option.none<RuleId>()], onSome: (ids) => ids.map(Option.some) }),
          (rule) => {
            const wanted = { account, rule, platforms: Option.getOrElse(platforms, () => all) }
            return Effect.map(matches.next({ ...wanted, after: cursor, limit: 1 }), (found) => found.length > 0)
          }
        )

      const isFree = (id: WebhookId, now: number) => (claims.get(id)?.until ?? 0) <= now
      const isDue = ({ disabledReason, nextAttemptAt }: StoredWebhook, now: Timestamp) =>
        Option.isNone(disabledReason) && !Option.exists(nextAttemptAt, (at) => at > now)

      const claim: WebhookStore["Type"]["claim"] = ({ claim, now, millis, limit, platforms }) =>
        Effect.gen(function* () {
          const clock = yield* Clock.currentTimeMillis
          const candidates = [...webhooks.values()].filter((one) => isDue(one, now) && isFree(one.id, clock))
          const waiting = yield* Effect.filter(candidates, (one) =>
            Effect.if(isBelowFloor(one), {
              onTrue: () => Effect.succeed(true),
              onFalse: () => hasMatches(one, platforms)
            })
          )
          const taken = waiting.sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1)).slice(0, limit)
          for (const { id } of taken) claims.set(id, { claim, until: clock + millis })
          return taken
        })

      const isHeld = ({ claim, webhook }: Claimed) => claims.get(webhook.id)?.claim === claim

      const settle: WebhookStore["Type"]["settle"] = (held, attempt, standing, millis) =>
        Effect.gen(function* () {
          addAttempt(attempt)
          const { id, cursor } = held.webhook
          const webhook = webhooks.get(id)
          if (webhook === undefined || !isHeld(held)) return Option.none()
          claims.set(id, { claim: held.claim, until: (yield* Clock.currentTimeMillis) + millis })
          if (!isSame(webhook.cursor, cursor)) return Option.some(webhook)
          const settled = { ...webhook, ...standing }
          webhooks.set(id, settled)
          if (isGoingOn(standing)) return Option.some(settled)
          claims.delete(id)
          return Option.none()
        })

      const release = (held: Claimed, reached: Option.Option<MatchId>) =>
        Effect.gen(function* () {
          if (!isHeld(held)) return
          const { id, cursor } = held.webhook
          claims.delete(id)
          yield* change(id, (webhook) =>
            Option.isSome(reached) && isSame(webhook.cursor, cursor) ? { ...FRESH, cursor: reached } : {}
          )
        })

      const tend: WebhookStore["Type"]["tend"] = ({ attempts, since, platforms }) =>
        Effect.gen(function* () {
          const newest = yield* matches.newest
          const now = yield* Clock.currentTimeMillis
          for (const webhook of webhooks.values()) {
            if (!isFree(webhook.id, now) || (yield* isBelowFloor(webhook)) || (yield* hasMatches(webhook, platforms)))
              continue
            const { disabledReason } = webhook
            yield* change(webhook.id, () => ({ ...FRESH, disabledReason, cursor: newest }))
          }
          const kept = new Set([...webhooks.keys()].flatMap((id) => attemptsOf(id).slice(0, attempts)))
          oldestFirst = oldestFirst.filter((attempt) => kept.has(attempt) && attempt.at >= since)
        })

      return WebhookStore.of({
        insert,
        list,
        find: (account, id) =>
          Effect.map(list(account), (all) => Option.fromNullable(all.find((one) => one.id === id))),
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
            change(id, () => FRESH),
            tell
          ),
        moveTo: (id, after) =>
          Effect.zipRight(
            change(id, ({ disabledReason }) => ({ ...FRESH, disabledReason, cursor: Option.some(after) })),
            tell
          ),
        attempts: ({ webhook, before, limit }) =>
          Effect.sync(() =>
            attemptsOf(webhook)
              .filter(({ id }) => !Option.exists(before, (before) => id >= before))
              .slice(0, limit)
          ),
        record: (attempt) => Effect.sync(() => addAttempt(attempt)),
        claim,
        settle,
        release,
        releaseAll: Effect.sync(() => claims.clear()),
        tend,
        changes: Stream.fromPubSub(news)
      })
    })
  )
}

/** Whether the next match can be tried at once. */
export const isGoingOn = ({ nextAttemptAt, disabledReason }: Standing): boolean =>
  Option.isNone(nextAttemptAt) && Option.isNone(disabledReason)

// ---- helpers ----

/** Nothing has failed. */
const FRESH = { failures: 0, nextAttemptAt: Option.none<Timestamp>(), disabledReason: Option.none<string>() }

const cursorOf = ({ cursor }: StoredWebhook): string => Option.getOrElse(cursor, () => "")

const isSame = Option.getEquivalence<MatchId>((a, b) => a === b)
