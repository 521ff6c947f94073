/** `LookUpRounds` in memory. */
import { Clock, Effect, Layer, Option } from "effect"
import { LookUpRounds, type Round } from "../../core/compliance/LookUpRounds.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"

export const memoryLookUpRounds: Layer.Layer<LookUpRounds> = Layer.sync(LookUpRounds, () => {
  const claims = new Map<PlatformId, { readonly claim: string; readonly until: number }>()
  const rounds = new Map<PlatformId, Round>()
  const holds = (platform: PlatformId, claim: string) => claims.get(platform)?.claim === claim

  return LookUpRounds.of({
    claim: (platform, claim, millis) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (!holds(platform, claim) && (claims.get(platform)?.until ?? 0) > now) return Option.none()
        claims.set(platform, { claim, until: now + millis })
        return Option.some({ last: Option.fromNullable(rounds.get(platform)) })
      }),
    save: (platform, claim, round) =>
      Effect.sync(() => {
        if (holds(platform, claim)) rounds.set(platform, round)
      }),
    release: (platform, claim) =>
      Effect.sync(() => {
        if (holds(platform, claim)) claims.delete(platform)
      })
  })
})
