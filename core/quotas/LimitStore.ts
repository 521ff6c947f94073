/** Storage port for the limits that the operator set for one account, and for counters that servers share. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId } from "../model/Ids.ts"
import type { LimitName, WindowLimit } from "./Limit.ts"

/** What one server counted in a window, which is the number of minutes since 1970. */
export interface Count {
  readonly account: AccountId
  readonly limit: WindowLimit
  readonly window: number
  readonly used: number
}

export class LimitStore extends Context.Tag("core/LimitStore")<
  LimitStore,
  {
    readonly limitsOf: (account: AccountId) => Effect.Effect<ReadonlyMap<string, number>, StoreUnavailable>
    /** None: back to the default. */
    readonly setLimit: (
      account: AccountId,
      name: LimitName,
      value: Option.Option<number>
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * Replaces what this server counted, and returns what all other servers counted in the same windows. Forgets older
     * windows.
     */
    readonly shareCounts: (
      server: string,
      counts: ReadonlyArray<Count>
    ) => Effect.Effect<ReadonlyArray<Count>, StoreUnavailable>
  }
>() {}
