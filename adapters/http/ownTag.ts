/** What rules of this deployment carry on a platform, so that they are told from those of others. */
import { Effect, Schedule } from "effect"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"

/** Waits until the store tells its name. */
export const ownTag = (store: RuleStore["Type"], platform: PlatformId): Effect.Effect<string> =>
  store.deployment.pipe(
    Effect.tapError(({ cause }) => Effect.logWarning(`Platform "${platform}" waits for the store`, cause)),
    Effect.retry(Schedule.spaced("1 second")),
    // The schedule does not end.
    Effect.orDie,
    Effect.map((deployment) => `earshot:${deployment}`)
  )
