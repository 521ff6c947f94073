/** The time until a platform sends the events of a rule that it has accepted. */
import { Effect } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { RuleId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Platform } from "../platforms/Platform.ts"
import type { RuleStore } from "./RuleStore.ts"

/**
 * The platforms have just accepted the rule. Call it before the store says so: after a crash in between, the rule counts as
 * watched too late rather than too early. `from`: now if absent.
 */
export const awaitEffect = (
  store: RuleStore["Type"],
  id: RuleId,
  { platforms, from }: { readonly platforms: ReadonlyArray<Platform>; readonly from?: Timestamp.Timestamp }
): Effect.Effect<void, StoreUnavailable> =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    for (const { id: platform, capabilities } of platforms) {
      if (capabilities.ruleDelayMillis === undefined) continue
      const to = Timestamp.fromMillis(Date.parse(now) + capabilities.ruleDelayMillis)
      yield* store.addPending(id, platform, { from: from ?? now, to })
    }
  })
