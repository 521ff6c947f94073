/** Storage port for rules and their registrations. */
import { Context, type Effect, Option } from "effect"
import type { RuleLimitReached, RuleNotFound, RuleVersionChanged, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, KeyId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { GapCause, Registered } from "../platforms/Platform.ts"
import type { PausedBy, RegistrationState, Rule, RuleDetails, RuleVersion } from "./Rule.ts"

/** A rule that is not registered yet. */
export interface NewRule extends RuleDetails {
  readonly id: RuleId
  readonly accountId: AccountId
  readonly createdAt: Timestamp
  /** The key that creates it. */
  readonly by?: KeyId | undefined
  readonly filters: ReadonlyArray<{
    readonly platform: PlatformId
    readonly text: string
    readonly pause?: Pause | undefined
  }>
  readonly candidate?: Candidate
}

/**
 * A rule whose filters are to replace those of another rule, or to be compared with them. It has registrations as any
 * rule, but is not visible. update: abandoned if no change runs that uses it.
 */
export interface Candidate {
  readonly of: RuleId
  readonly purpose: "update" | "shadow"
}

/** What `change` makes of a rule. */
export interface RuleChange extends RuleDetails {
  readonly at: Timestamp
  readonly by: Option.Option<KeyId>
  readonly expectedVersion: number
  /** The platforms on which the rule's registrations end: they become those of the candidate, to be removed. */
  readonly ended: ReadonlyArray<PlatformId>
  /** New registrations of the rule that the account has paused. */
  readonly paused: ReadonlyArray<{ readonly platform: PlatformId; readonly text: string }>
  /** Its registrations become those of the rule. It need not exist if `added` is empty. */
  readonly candidate: RuleId
  /** The platforms on which the candidate is registered: the change fails with `RuleNotFound` if it no longer is. */
  readonly added: ReadonlyArray<PlatformId>
  /** From when on events that only a shadow met count for the rule. Without it: from the change on. */
  readonly promotedSince?: Timestamp
  /** Runs in the transaction of the change, after it. */
  readonly also?: Effect.Effect<void, StoreUnavailable>
}

/** The registration of one rule on one platform, of any account. */
export interface StoredRegistration {
  readonly ruleId: RuleId
  readonly accountId: AccountId
  readonly platform: PlatformId
  /** Canonical form. Registrations with the same text share one rule of the platform. */
  readonly text: string
  readonly platformRuleId: Option.Option<string>
  /** As reported by the platform. */
  readonly translatedValue: string
  readonly state: RegistrationState
  /** Start of the current state. A retry or a pause of a failed one does not change it, nor does a failure after a pause. */
  readonly since: Timestamp
  /** None once a pause by a limit has ended, although the state is `paused` until the platform accepts or rejects the rule. */
  readonly pause: Option.Option<Pause>
  /** Of a candidate. */
  readonly purpose: Option.Option<Candidate["purpose"]>
}

/** While it lasts, the platform does not get the filter. */
export type Pause = typeof BY_ACCOUNT | LimitPause

/** The account paused the rule, until it resumes it. */
export const BY_ACCOUNT = { by: "account", reason: "The account paused the rule" } as const

/** The monthly budget is nearly used up, or the rules of the account cost too much to match. */
export interface LimitPause {
  readonly by: Exclude<PausedBy, "account">
  readonly reason: string
  readonly until: Timestamp
  /** At its start: the posts of the budget, or the milliseconds of matching per minute. */
  readonly limit: number
}

export const isPausedBy =
  (by: PausedBy) =>
  ({ pause }: Pick<StoredRegistration, "pause">): boolean =>
    Option.exists(pause, (one) => one.by === by)

export const isPausedByAccount = isPausedBy("account")

/** An account with a registration that has this text. */
export type TextOwner = Pick<StoredRegistration, "text" | "accountId">

/** A period in which a platform did not hold a rule. `to` is none while that lasts, and in the future if it will end then. */
export interface RuleGap {
  readonly ruleId: RuleId
  readonly platform: PlatformId
  readonly from: Timestamp
  readonly to: Option.Option<Timestamp>
  readonly cause: GapCause
  readonly detail: string
}

/** One rule of an account, or all of them. */
export interface CoverageSelector {
  readonly account: AccountId
  readonly rule: Option.Option<RuleId>
  readonly platforms: ReadonlyArray<PlatformId>
}

/** What the platforms hold for a rule, or for all rules of an account. */
export interface RuleCoverage {
  /** Per platform: the rule, or the account's oldest rule there, and when the platform first held it. */
  readonly oldest: ReadonlyArray<{
    readonly platform: PlatformId
    readonly ruleId: RuleId
    readonly createdAt: Timestamp
    readonly since: Timestamp
  }>
  /** Newest first. */
  readonly gaps: ReadonlyArray<RuleGap>
}

/** Links a rule of the platform to one of our rules. */
export interface RuleLink {
  readonly platformRuleId: string
  readonly ruleId: RuleId
  readonly accountId: AccountId
  /** `BEFORE_PROMOTION` until a filter was promoted: its events were those of a shadow. */
  readonly version: number
  /** When the version ended. Its filter may be that of the next one, which then has a link too. In milliseconds. */
  readonly retiredAt?: number
  /** `ruleId` is a candidate, whose matches are stored apart. */
  readonly isShadow: boolean
}

export const BEFORE_PROMOTION = 0

/** The gap of a rule that the platform has accepted, until it takes effect. */
export const PENDING = {
  cause: "rule_pending",
  detail: "The platform has accepted the rule, which takes some seconds to take effect"
} as const

/** The gap of a rule that the platform had lost and accepted again. */
export const DROPPED = {
  cause: "rules_dropped",
  detail: "The platform lost the rule at some time after the last comparison"
} as const

export type StoredVersion = Omit<RuleVersion, "changed">

/** The cause of the gap of a paused registration. */
export const causeOf = ({ by }: Pause): GapCause => (by === "account" ? "paused" : by)

/** A rule is visible from the activation of all its registrations until `hide`. */
export class RuleStore extends Context.Tag("core/RuleStore")<
  RuleStore,
  {
    /** Stores the rule with its registrations pending or paused. An earlier shadow of the same rule ends. `limits`: the account's maximum per platform. */
    readonly reserve: (
      rule: NewRule,
      limits: ReadonlyMap<PlatformId, number>
    ) => Effect.Effect<void, RuleLimitReached | StoreUnavailable>
    /** A unique name of this store. Rules on platforms are tagged with it. */
    readonly deployment: Effect.Effect<string, StoreUnavailable>
    /** The next number of a generation, from 1 on: each server process is one, and counts its registrations. */
    readonly nextOfGeneration: (generation: string) => Effect.Effect<number, StoreUnavailable>
    /** The last number of each generation. A rule on a platform with another one was made from a copy of this store. */
    readonly generations: Effect.Effect<ReadonlyMap<string, number>, StoreUnavailable>
    /** For a new rule. Atomic. Skips registrations that are being removed. */
    readonly activate: (
      id: RuleId,
      registered: ReadonlyMap<PlatformId, Registered>,
      at: Timestamp
    ) => Effect.Effect<void, StoreUnavailable>
    /** The platform has accepted the rule, and sends no events for it until `to`, or until `tookEffect`: a gap. */
    readonly addPending: (
      id: RuleId,
      platform: PlatformId,
      pending: { readonly from: Timestamp; readonly to: Timestamp }
    ) => Effect.Effect<void, StoreUnavailable>
    /** The platform sent events for these rules at `at`: those of `addPending` end, if they last longer. */
    readonly tookEffect: (
      platform: PlatformId,
      rules: ReadonlyArray<RuleId>,
      at: Timestamp
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * The platform lost the rule and holds it again from `at` on. Ends the gap of a failed or paused registration;
     * otherwise adds a gap that began at `lostSince`. Only for a registration that is active, failed or paused by a limit.
     */
    readonly restore: (
      id: RuleId,
      platform: PlatformId,
      restored: { readonly registered: Registered; readonly lostSince: Timestamp; readonly at: Timestamp }
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * The platform rejects the rule, or a limit pauses it. Begins a gap at `lostSince`; an open gap of another cause ends
     * at `at`, where the new one begins. Only for a registration that is active, failed or paused by a limit.
     */
    readonly fail: (
      id: RuleId,
      platform: PlatformId,
      failure: {
        readonly reason: string
        readonly lostSince: Timestamp
        readonly at: Timestamp
        readonly pause?: LimitPause
      }
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * Ends the pauses by `by` that are over at `at`, and those for a smaller limit; 0 is no limit. Returns the number of
     * rules. Their state stays until the platform accepts or rejects them. Without `account`: of all accounts.
     */
    readonly endPauses: (
      platform: PlatformId,
      when: Pick<LimitPause, "by" | "limit"> & { readonly at: Timestamp; readonly account?: AccountId }
    ) => Effect.Effect<number, StoreUnavailable>
    /** The accounts that have rules on the platform with such a pause. */
    readonly pausedAccounts: (
      platform: PlatformId,
      by: LimitPause["by"]
    ) => Effect.Effect<ReadonlyArray<AccountId>, StoreUnavailable>
    /** When the rules of the platform were last compared with the store. */
    readonly comparedAt: (platform: PlatformId) => Effect.Effect<Option.Option<Timestamp>, StoreUnavailable>
    readonly saveComparison: (platform: PlatformId, at: Timestamp) => Effect.Effect<void, StoreUnavailable>
    /** Constant cost: `limit` is the maximum number of gaps, newest first. Those of new rules (`rule_pending`) give way. */
    readonly ruleCoverage: (selector: CoverageSelector, limit: number) => Effect.Effect<RuleCoverage, StoreUnavailable>
    /**
     * Replaces registrations, in one transaction, and adds a version. Open gaps of replaced registrations end. Events from
     * before the change still find the rule, by `ruleLinks`. Returns the new version.
     */
    readonly change: (
      account: AccountId,
      id: RuleId,
      change: RuleChange
    ) => Effect.Effect<number, RuleNotFound | RuleVersionChanged | StoreUnavailable>
    /** The shadow of a rule, if it has one. */
    readonly shadowOf: (id: RuleId) => Effect.Effect<Option.Option<RuleId>, StoreUnavailable>
    /** All candidates of a rule. */
    readonly candidatesOf: (id: RuleId) => Effect.Effect<ReadonlyArray<RuleId>, StoreUnavailable>
    /** Newest first. Empty if the account has no such rule. */
    readonly versions: (account: AccountId, id: RuleId) => Effect.Effect<ReadonlyArray<StoredVersion>, StoreUnavailable>
    /** Forgets the registrations that were replaced before this time. */
    readonly forgetRetired: (before: Timestamp) => Effect.Effect<void, StoreUnavailable>
    /** The newest visible rules of the account, newest first. `before`: only older ones. */
    readonly list: (
      account: AccountId,
      page: { readonly before: Option.Option<RuleId>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Rule>, StoreUnavailable>
    readonly find: (account: AccountId, id: RuleId) => Effect.Effect<Option.Option<Rule>, StoreUnavailable>
    readonly exists: (account: AccountId, id: RuleId) => Effect.Effect<boolean, StoreUnavailable>
    /** False if no such rule is visible. Of two concurrent callers, one gets true. */
    readonly hide: (account: AccountId, id: RuleId, at: Timestamp) => Effect.Effect<boolean, StoreUnavailable>
    /** Deletes the rule, its registrations and its matches, in any state. */
    readonly remove: (id: RuleId) => Effect.Effect<void, StoreUnavailable>
    readonly registrations: (rule: RuleId) => Effect.Effect<ReadonlyArray<StoredRegistration>, StoreUnavailable>
    /** All registrations on a platform, oldest rule first. */
    readonly registrationsOn: (
      platform: PlatformId
    ) => Effect.Effect<ReadonlyArray<StoredRegistration>, StoreUnavailable>
    /** The number of the account's rules on the platform, as `reserve` counts them: without those that it paused. */
    readonly count: (account: AccountId, platform: PlatformId) => Effect.Effect<number, StoreUnavailable>
    /** The number of visible rules of each account that has any. */
    readonly counts: Effect.Effect<ReadonlyMap<AccountId, number>, StoreUnavailable>
    /** The number of distinct texts of visible rules on the platform, without paused ones. */
    readonly wanted: (platform: PlatformId) => Effect.Effect<number, StoreUnavailable>
    /** The number of rules on the platform that the budget pauses. */
    readonly paused: (platform: PlatformId) => Effect.Effect<number, StoreUnavailable>
    /** Whether another rule has the same text on the platform. */
    readonly isShared: (
      registration: Pick<StoredRegistration, "ruleId" | "platform" | "text">
    ) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * The texts of all registrations of the account on the platform, in any state, and those that a change has replaced:
     * events from before it still meet them. `among`: only these. A text is there before any platform gets it.
     */
    readonly textsOf: (
      account: AccountId,
      platform: PlatformId,
      among: Option.Option<ReadonlyArray<string>>
    ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** The accounts that want the platform to hold these texts: without paused registrations. */
    readonly textOwners: (
      platform: PlatformId,
      texts: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TextOwner>, StoreUnavailable>
    /** Only visible rules and shadows. A rule also has the ids that the platform gave it before `restore` and `change`: late events have them. */
    readonly ruleLinks: (
      platform: PlatformId,
      platformRuleIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<RuleLink>, StoreUnavailable>
  }
>() {}
