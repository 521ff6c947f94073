/** Storage port for the place of the compliance job on each platform. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { MatchId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"

/** One walk through all stored posts of a platform, in the order of their matches. */
export interface Round {
  /** In milliseconds. */
  readonly startedAt: number
  /** The round ends here: later posts are for the next one. */
  readonly upTo: MatchId
  /** Everything up to here was looked up. */
  readonly place: Option.Option<MatchId>
}

export class LookUpRounds extends Context.Tag("core/LookUpRounds")<
  LookUpRounds,
  {
    /** Claims the rounds of a platform for `millis`, or renews the claim. None while another process holds them. */
    readonly claim: (
      platform: PlatformId,
      claim: string,
      millis: number
    ) => Effect.Effect<Option.Option<{ readonly last: Option.Option<Round> }>, StoreUnavailable>
    /** No-op if the claim is lost. */
    readonly save: (platform: PlatformId, claim: string, round: Round) => Effect.Effect<void, StoreUnavailable>
    readonly release: (platform: PlatformId, claim: string) => Effect.Effect<void, StoreUnavailable>
  }
>() {}
