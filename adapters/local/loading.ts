/** Loads the registered rules of a platform whose events are matched in this process. */
import { Effect, Option } from "effect"
import type { StoreUnavailable } from "../../core/model/Errors.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"

/**
 * The stream may resume in the past: the rules that were registered before a restart are there from its start. `unload`:
 * another server may change the rules from then on.
 */
export const loading = (
  store: RuleStore["Type"],
  platform: PlatformId,
  register: (texts: ReadonlyArray<string>) => Effect.Effect<unknown>
): { readonly load: Effect.Effect<void, StoreUnavailable>; readonly unload: Effect.Effect<void> } => {
  let isLoaded = false
  const load = Effect.gen(function* () {
    if (isLoaded) return
    const registrations = yield* store.registrationsOn(platform)
    const active = registrations.filter(
      ({ platformRuleId, pause }) => Option.isSome(platformRuleId) && Option.isNone(pause)
    )
    yield* register([...new Set(active.map(({ text }) => text))])
    isLoaded = true
  })
  const unload = Effect.sync(() => {
    isLoaded = false
  })
  return { load, unload }
}
