/** What several servers ask of the owner of a platform, and its answers. Part of `Ownership`. */
import { type Effect, type Either, type Option, Schema } from "effect"
import {
  PlatformLimitReached,
  PlatformNotReady,
  PlatformRefused,
  PlatformUnavailable,
  type StoreUnavailable
} from "../model/Errors.ts"
import type { RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Registered } from "../platforms/Platform.ts"

export type RegisterFailure = PlatformRefused | PlatformLimitReached | PlatformNotReady | PlatformUnavailable

export type Outcome = Either.Either<Registered, RegisterFailure>

/** As the store keeps it. */
export const Outcome: Schema.Schema<Outcome, unknown> = Schema.asSchema(
  Schema.Either({
    right: Schema.Struct({ platformRuleId: Schema.String, translatedValue: Schema.String }),
    left: Schema.Union(PlatformRefused, PlatformLimitReached, PlatformNotReady, PlatformUnavailable)
  })
) as Schema.Schema<Outcome, unknown>

/** A registration that is pending or being removed. */
export interface Unsettled {
  readonly ruleId: RuleId
  readonly platform: PlatformId
  readonly text: string
  readonly state: "pending" | "removing"
  readonly platformRuleId: Option.Option<string>
  readonly outcome: Option.Option<Outcome>
}

export interface RuleRequests {
  /** Tells all servers that there is something to settle, or that something is settled. */
  readonly announce: Effect.Effect<void, StoreUnavailable>
  /** Gives the effect that waits for the next announcement, or half a second: one can get lost. */
  readonly nextAnnouncement: Effect.Effect<Effect.Effect<void>>
  readonly unsettled: (platform: PlatformId) => Effect.Effect<ReadonlyArray<Unsettled>, StoreUnavailable>
  /** For the owner: what the platform answered. */
  readonly settle: (id: RuleId, platform: PlatformId, outcome: Outcome) => Effect.Effect<void, StoreUnavailable>
  /** The answer to a pending registration, if there is one. */
  readonly outcome: (id: RuleId, platform: PlatformId) => Effect.Effect<Option.Option<Outcome>, StoreUnavailable>
  /** Takes a request back: the owner removes what the platform holds of it. */
  readonly abandon: (id: RuleId) => Effect.Effect<void, StoreUnavailable>
  /** The platform no longer holds the rule. Deletes the rule with its last registration. */
  readonly drop: (id: RuleId, platform: PlatformId) => Effect.Effect<void, StoreUnavailable>
  /** Texts that were activated after this version, in the order of their versions. A version is never reused. */
  readonly activatedSince: (
    platform: PlatformId,
    version: number
  ) => Effect.Effect<ReadonlyArray<{ readonly text: string; readonly version: number }>, StoreUnavailable>
}
