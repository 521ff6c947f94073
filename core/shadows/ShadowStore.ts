/** Storage port for what the shadows of rules matched. */
import { Context, type Effect, type Record } from "effect"
import type { Match } from "../matches/Match.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { Rule } from "../rules/Rule.ts"

/** `rule_id` is the shadow, or the rule to which it was handed over. */
export type ShadowMatch = Pick<Match, "rule_id" | "created_at" | "platform" | "platform_post_id" | "payload">

/** A rule with its shadow. */
export interface Pair {
  readonly account: AccountId
  readonly rule: RuleId
  readonly shadow: RuleId
  /** The platforms of the shadow. */
  readonly platforms: ReadonlyArray<PlatformId>
  readonly since: Timestamp
}

export interface ComparedPair extends Pair {
  /** The first version of the rule with its present filters. Events that an earlier one met are left out. */
  readonly fromVersion: number
}

/** Which of the two matched an event. */
export type Side = "present_only" | "candidate_only" | "both"
export const SIDES = ["present_only", "candidate_only", "both"] as const

export interface Compared {
  readonly counts: Readonly<Record<Side, number>>
  /** The newest events of each side. */
  readonly samples: Readonly<Record<Side, ReadonlyArray<Pick<Match, "platform" | "platform_post_id" | "payload">>>>
}

export class ShadowStore extends Context.Tag("core/ShadowStore")<
  ShadowStore,
  {
    /** Skips those that are stored already, and those of deleted shadows. */
    readonly insert: (matches: ReadonlyArray<ShadowMatch>) => Effect.Effect<void, StoreUnavailable>
    readonly compare: (pair: ComparedPair, samples: number) => Effect.Effect<Compared, StoreUnavailable>
    /**
     * Hands over to the rule what its shadow has matched since then and the rule has not: it waits there to become matches,
     * also when the shadow is gone. Returns how many.
     */
    readonly handOver: (pair: Pair) => Effect.Effect<number, StoreUnavailable>
    /** The rules for which something waits. */
    readonly waitingRules: Effect.Effect<ReadonlyArray<Pick<Rule, "id" | "version">>, StoreUnavailable>
    /** What waits for a rule, oldest first. */
    readonly waiting: (rule: RuleId, limit: number) => Effect.Effect<ReadonlyArray<ShadowMatch>, StoreUnavailable>
    /** These have become matches of the rule. */
    readonly settle: (rule: RuleId, matches: ReadonlyArray<ShadowMatch>) => Effect.Effect<void, StoreUnavailable>
    /** Deletes what is older, and the oldest of each shadow beyond `keep`: the comparison then begins later. */
    readonly trim: (options: {
      readonly before: Timestamp
      readonly keep: number
    }) => Effect.Effect<void, StoreUnavailable>
  }
>() {}
