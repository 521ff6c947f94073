/** Storage port for webhooks and their delivery state. */
import { Context, type Effect, Option, type Redacted, type Stream } from "effect"
import type { WireGap } from "../coverage/Coverage.ts"
import type { Change } from "../matches/MatchStore.ts"
import type { LimitReached, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, AttemptId, GrantId, KeyId, MatchId, RuleId, WebhookId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { NewSubscription, Subscription, SubscriptionKey } from "./Subscription.ts"
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
  readonly subscription: Option.Option<
    NewSubscription & {
      /** Delivery starts after this match. */
      readonly start: MatchId
      /** The gaps that the receiver need not be told of. */
      readonly announcedGaps: ReadonlyArray<AnnouncedGap>
    }
  >
}

/** A gap as the receiver knows it. */
export interface AnnouncedGap extends Omit<typeof WireGap.Type, "detail"> {
  readonly platform: PlatformId
}

export interface StoredWebhook extends Omit<NewWebhook, "subscription"> {
  readonly subscription: Option.Option<Subscription>
  /** Also signs until then. */
  readonly previousSecret: Option.Option<{ readonly secret: Redacted.Redacted; readonly until: Timestamp }>
  /** The last match that was delivered or skipped. */
  readonly cursor: Option.Option<MatchId>
  readonly announcedGaps: ReadonlyArray<AnnouncedGap>
  /** Failed attempts to tell a subscription that it missed events; none if there is nothing to tell. */
  readonly gapTries: Option.Option<number>
  /** Failed attempts to tell a subscription that it has ended. */
  readonly endTries: number
  /** Failed attempts of the next message. */
  readonly failures: number
  /** None: now. */
  readonly nextAttemptAt: Option.Option<Timestamp>
  /** A subscription is suspended rather than disabled: its client resumes it. */
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
  "cursor" | "announcedGaps" | "gapTries" | "endTries" | "failures" | "nextAttemptAt" | "disabledReason"
>

export interface Backlog {
  readonly messages: number
  readonly oldest: Option.Option<MatchId>
  /** Disabled webhooks, for which nothing waits. Without suspended subscriptions, which their clients resume. */
  readonly disabled: number
}

export const MAX_COUNTED = 1_000

/** Attempts to send a message that need not arrive: about missed events, or about the end of a subscription. */
export const MAX_CONTROL_TRIES = 2

export class WebhookStore extends Context.Tag("core/WebhookStore")<
  WebhookStore,
  {
    /**
     * Delivery starts after the newest match, except of a subscription. The limit counts webhooks or subscriptions. No-op
     * for a subscription that exists already.
     */
    readonly insert: (webhook: NewWebhook, limit: number) => Effect.Effect<void, LimitReached | StoreUnavailable>
    /** The webhook of a subscription, expired or ended ones too. */
    readonly subscription: (key: SubscriptionKey) => Effect.Effect<Option.Option<ListedWebhook>, StoreUnavailable>
    /** Clears the failures, resumes a suspended subscription, and forgets missed events that it could not be told of. */
    readonly refresh: (
      id: WebhookId,
      refreshed: {
        readonly url: string
        readonly expiresAt: Timestamp
        readonly client: Option.Option<string>
        /** A client that signs in again has another grant. */
        readonly key: KeyId
        readonly grant: Option.Option<GrantId>
        readonly secret: Redacted.Redacted
        /** If the secret is another one: how long the present one also signs. */
        readonly previousUntil: Timestamp
      }
    ) => Effect.Effect<void, StoreUnavailable>
    /** Subscriptions of all accounts that nothing is sent to any more: expired, or ended while they were suspended. */
    readonly finished: Effect.Effect<ReadonlyArray<StoredWebhook>, StoreUnavailable>
    /** Makes another subscription to the rule its owner. False if there is none. */
    readonly passOwnRule: (id: WebhookId, rule: RuleId) => Effect.Effect<boolean, StoreUnavailable>
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
     * have matches after the cursor, that missed deleted matches, or that are among `dueGaps`, and subscriptions that
     * have ended or have to be told of missed events. Concurrent claims get different webhooks.
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
    /** Enabled webhooks with the event coverage.gap, and enabled subscriptions, of all accounts. */
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
>() {}

export const isDeliverable = ({ nextAttemptAt, disabledReason }: DeliveryState): boolean =>
  Option.isNone(nextAttemptAt) && Option.isNone(disabledReason)

export const eventOf: Readonly<Record<Change["_tag"], WebhookEvent>> = { Matched: "match", Redacted: "match.redacted" }

export const noFailures = {
  failures: 0,
  nextAttemptAt: Option.none<Timestamp>(),
  disabledReason: Option.none<string>()
}
