/** Port to the budget: whether a new rule is paused from the start. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { Platform } from "../platforms/Platform.ts"
import type { NewPause } from "./RuleStore.ts"

export class Pauses extends Context.Tag("core/Pauses")<
  Pauses,
  {
    /** Set if the platform must not get this text now. */
    readonly pauseFor: (platform: Platform, text: string) => Effect.Effect<Option.Option<NewPause>, StoreUnavailable>
  }
>() {}
