/** Storage port for matches. */
import { Context, type Effect, type Option, type Stream } from "effect"
import type { StreamProgress } from "../coverage/StreamStore.ts"
import type { MatchesUnstorable, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, MatchId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Bars } from "./Bars.ts"
import type { Match, Redacted, RedactedMatch } from "./Match.ts"

export interface MatchSelector {
  readonly account: AccountId
  /** None: all rules of the account. */
  readonly rules: Option.Option<ReadonlyArray<RuleId>>
  readonly platforms: ReadonlyArray<PlatformId>
}

export interface MatchPage extends MatchSelector {
  readonly before: Option.Option<MatchId>
  readonly limit: number
}

export interface NextPage extends MatchSelector {
  readonly after: Option.Option<MatchId>
  readonly limit: number
}

/** A new match, or the redaction of an earlier one. Both have ids in one order; a redaction has an id of its own. */
export type Change =
  | { readonly _tag: "Matched"; readonly id: MatchId; readonly match: Match }
  | { readonly _tag: "Redacted"; readonly id: MatchId; readonly match: RedactedMatch }

export interface OwnedChange {
  readonly account: AccountId
  readonly change: Change
  /** The size of the payload. */
  readonly bytes: number
}

export interface Redact {
  readonly platform: PlatformId
  readonly postIds: ReadonlyArray<string>
  readonly redacted: Redacted
  readonly atMost: number
}

/** A page has up to `limit` items. It ends before its payloads exceed `MAX_PAGE_BYTES`. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly hasMore: boolean
  /** The size of all payloads. */
  readonly bytes: number
}

/** Only the first match may exceed it: a page has at least one match. Small: large pages would block other requests. */
export const MAX_PAGE_BYTES = 1_048_576

export interface Trim {
  /** Deletes only matches before this id. */
  readonly before: MatchId
  /** Keeps this many of the newest matches. */
  readonly keep: Option.Option<number>
  readonly atMost: number
}

/** Stored matches, and the bytes of their payloads as JSON. As a limit, 0 means none. */
export interface Usage {
  readonly matches: number
  readonly bytes: number
}

export interface AccountTrim {
  readonly account: AccountId
  readonly platforms: ReadonlyArray<PlatformId>
  /** Deletes only matches before this id. */
  readonly before: MatchId
  readonly limits: Usage
  readonly atMost: number
}

export interface CountQuery extends MatchSelector {
  readonly bars: Bars
  /** Otherwise the counts of all rules are added up. */
  readonly isPerRule: boolean
}

/** The number of matches in a bar that has any. `start` is in milliseconds. */
export interface BarCount {
  readonly rule?: RuleId
  readonly platform: PlatformId
  readonly start: number
  readonly matches: number
}

export interface RecentCountsQuery {
  readonly rules: ReadonlyArray<RuleId>
  readonly platforms: ReadonlyArray<PlatformId>
  /** In milliseconds. */
  readonly now: number
}

/** The stored matches of a rule that has any, counted to the minute. */
export interface RecentCounts {
  readonly rule: RuleId
  /** The start of the minute of the newest match, in milliseconds. */
  readonly last: number
  /** In the last hour and in the last 24 hours, each with the minute in which it began. */
  readonly hour: number
  readonly day: number
}

export class MatchStore extends Context.Tag("core/MatchStore")<
  MatchStore,
  {
    /**
     * Stores the matches and `progress` in one transaction and returns how many matches were new. Large matches take
     * several transactions, the last one with `progress`. Skips duplicates (same rule, platform and post) and matches of
     * deleted rules.
     *
     * Matches become visible in the order of their ids, across processes. If another process has stored newer ids, or
     * a clock was set back, the matches get the next free ids instead of their own.
     */
    readonly insert: (
      matches: ReadonlyArray<Match>,
      progress?: StreamProgress
    ) => Effect.Effect<number, StoreUnavailable | MatchesUnstorable>
    /**
     * Like `insert`, while the batch before is being stored: nothing becomes visible before that batch is stored. None
     * if the batch did not come in time: nothing was stored.
     */
    readonly insertNext: (
      matches: ReadonlyArray<Match>,
      progress: StreamProgress
    ) => Effect.Effect<Option.Option<number>, StoreUnavailable | MatchesUnstorable>
    /** Newest first, down to the floor. The cost does not depend on the depth. */
    readonly list: (page: MatchPage) => Effect.Effect<Page<Match>, StoreUnavailable>
    /** Matches and redactions, oldest first, above the floor. The cost does not depend on the depth. */
    readonly next: (page: NextPage) => Effect.Effect<Page<Change>, StoreUnavailable>
    /** Like `next` for many accounts. Skips those of other accounts. */
    readonly nextForAccounts: (page: {
      readonly accounts: ReadonlyArray<AccountId>
      readonly after: Option.Option<MatchId>
      readonly limit: number
    }) => Effect.Effect<Page<OwnedChange>, StoreUnavailable>
    /** Every match and redaction that becomes visible later has a larger id. */
    readonly newest: Effect.Effect<Option.Option<MatchId>, StoreUnavailable>
    /**
     * Above every visible match and below every later one. No match has this id, so it reveals nothing about other
     * accounts.
     */
    readonly watermark: Effect.Effect<MatchId, StoreUnavailable>
    /** Emits when any process may have stored or redacted matches. Notifications can be lost: also poll. */
    readonly changes: Stream.Stream<void>
    /** Across all accounts. */
    readonly oldest: Effect.Effect<Option.Option<MatchId>, StoreUnavailable>
    /**
     * Deletes the oldest matches and raises the floor in one transaction. Returns how many it deleted: 0 while another
     * process trims. The cost does not depend on the number of stored matches.
     */
    readonly trim: (trim: Trim) => Effect.Effect<number, StoreUnavailable>
    /** Like `trim`, but deletes only matches of one account, and only while it exceeds its limits. */
    readonly trimAccount: (trim: AccountTrim) => Effect.Effect<number, StoreUnavailable>
    /** The newest match that `trim` deleted, or `trimAccount` for this account. It never decreases. */
    readonly floor: (account: AccountId) => Effect.Effect<Option.Option<MatchId>, StoreUnavailable>
    /**
     * Removes the payloads of the posts' matches, of all accounts, and their dead letters. Returns how many matches it
     * redacted: fewer than `atMost` once none is left. Idempotent: a match is redacted once. The cost does not depend
     * on the number of stored matches.
     */
    readonly redact: (redact: Redact) => Effect.Effect<number, StoreUnavailable>
    /**
     * Reads the next `limit` matches of all accounts and platforms up to `upTo`, oldest first. Returns the posts of one
     * platform among them that are not redacted, and the last id read: none at the end.
     */
    readonly posts: (page: {
      readonly platform: PlatformId
      readonly after: Option.Option<MatchId>
      readonly upTo: MatchId
      readonly limit: number
    }) => Effect.Effect<
      { readonly postIds: ReadonlyArray<string>; readonly last: Option.Option<MatchId> },
      StoreUnavailable
    >
    /**
     * Counts the stored matches by the time at which they were created, redacted ones too. The cost depends on the
     * number of rules and hours, not on the number of stored matches.
     */
    readonly counts: (query: CountQuery) => Effect.Effect<ReadonlyArray<BarCount>, StoreUnavailable>
    /** One statement for up to 100 rules. The cost does not depend on the number of stored matches. */
    readonly recentCounts: (query: RecentCountsQuery) => Effect.Effect<ReadonlyArray<RecentCounts>, StoreUnavailable>
    /** The number of stored matches of each rule that has any. The cost depends on the number of hours with matches. */
    readonly totals: (rules: ReadonlyArray<RuleId>) => Effect.Effect<ReadonlyMap<RuleId, number>, StoreUnavailable>
    readonly usage: (account: AccountId) => Effect.Effect<Usage, StoreUnavailable>
    /** Of all accounts with matches. */
    readonly usages: Effect.Effect<ReadonlyMap<AccountId, Usage>, StoreUnavailable>
  }
>() {}

export const isOver = (used: Usage, limits: Usage): boolean =>
  (limits.matches > 0 && used.matches > limits.matches) || (limits.bytes > 0 && used.bytes > limits.bytes)
