/** Port to the budget and the limits on matching: whether a new rule is paused from the start. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { Platform } from "../platforms/Platform.ts"
import type { LimitPause } from "./RuleStore.ts"

export class Pauses extends Context.Tag("core/Pauses")<
  Pauses,
  {
    /** Set if the platform must not get this text of the account now. */
    readonly pauseFor: (
      platform: Platform,
      text: string,
      account: AccountId
    ) => Effect.Effect<Option.Option<LimitPause>, StoreUnavailable>
  }
>() {}
