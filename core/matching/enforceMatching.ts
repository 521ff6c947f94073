/** Enforces the limits on matching, every second. */
import { Effect, Layer, Schedule } from "effect"
import { MatchingLimits } from "./MatchingLimits.ts"

export const layer: Layer.Layer<never, never, MatchingLimits> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { enforce } = yield* MatchingLimits
    yield* Effect.forkScoped(Effect.repeat(enforce, Schedule.spaced("1 second")))
  })
)
