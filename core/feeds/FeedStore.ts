/** Storage port for the feeds that accounts have added, and for what is known of each feed between two polls. */
import { Context, type Effect, type Option } from "effect"
import type { FeedLimitReached, LimitReached, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { Timestamp } from "../model/Timestamp.ts"

/** A feed of one account. Several accounts may have the same one. */
export interface AddedFeed {
  readonly account: AccountId
  readonly url: string
  readonly addedAt: Timestamp
}

/** What is known of a feed. */
export interface FeedRecord {
  readonly url: string
  readonly title: string | null
  /** The last poll. */
  readonly askedAt: Timestamp | null
  /** The last poll that succeeded. */
  readonly readAt: Timestamp | null
  readonly nextAt: Timestamp
  readonly missedAt: Timestamp | null
  readonly error: string | null
  readonly isGone: boolean
  /** What only the reader of feeds understands. */
  readonly memory: string
}

export interface ListedFeed extends AddedFeed {
  readonly record: Option.Option<Omit<FeedRecord, "memory">>
}

/** All feeds of accounts. */
export interface FeedList {
  /** Grows with each change. */
  readonly version: number
  readonly feeds: ReadonlyArray<AddedFeed>
}

/** How many feeds an account may have (0: no limit), and all accounts together. */
export interface FeedLimits {
  readonly account: number
  readonly everywhere: number
}

export class FeedStore extends Context.Tag("core/FeedStore")<
  FeedStore,
  {
    /** Keeps a feed that is there already, with the time when it was added first. */
    readonly add: (
      feed: AddedFeed,
      limits: FeedLimits
    ) => Effect.Effect<void, LimitReached | FeedLimitReached | StoreUnavailable>
    /** False if the account does not have it. */
    readonly remove: (account: AccountId, url: string) => Effect.Effect<boolean, StoreUnavailable>
    /** By address: of one feed, or of all. */
    readonly list: (
      account: AccountId,
      url: Option.Option<string>
    ) => Effect.Effect<ReadonlyArray<ListedFeed>, StoreUnavailable>
    readonly count: (account: AccountId) => Effect.Effect<number, StoreUnavailable>
    /** None if the list has this version still. Cheap then. */
    readonly changed: (version: number) => Effect.Effect<Option.Option<FeedList>, StoreUnavailable>
    readonly records: Effect.Effect<ReadonlyArray<FeedRecord>, StoreUnavailable>
    readonly save: (records: ReadonlyArray<FeedRecord>) => Effect.Effect<void, StoreUnavailable>
    /** Deletes the records of feeds that are neither an account's nor among these. */
    readonly prune: (kept: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>
  }
>() {}
