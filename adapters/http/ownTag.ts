/** The tag that marks this deployment's rules on a platform. */
import { Effect, Schedule } from "effect"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"

/** Waits until the store is available. */
export const ownTag = (store: RuleStore["Type"], platform: PlatformId): Effect.Effect<string> =>
  store.deployment.pipe(
    Effect.tapError(({ cause }) => Effect.logWarning(`Platform "${platform}" waits for the store`, cause)),
    Effect.retry(Schedule.spaced("1 second")),
    // Never happens: the schedule has no end.
    Effect.orDie,
    Effect.map((deployment) => `earshot:${deployment}`)
  )
