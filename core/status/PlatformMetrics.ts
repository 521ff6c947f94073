/** Brings the metrics of the platforms up to date: what is true now, and did not come about through one event. */
import { Effect, Option } from "effect"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { Registrations } from "../rules/Registrations.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"

export const observePlatforms: Effect.Effect<void, never, Platforms | Registrations | RuleStore> = Effect.gen(
  function* () {
    const platforms = yield* Platforms
    const registrations = yield* Registrations
    const store = yield* RuleStore

    const observe = ({ id, status }: Platform) =>
      Effect.gen(function* () {
        yield* Metrics.streamIs(id, (yield* status).state)
        const { comparison } = yield* registrations.standing(id)
        if (Option.isSome(comparison)) yield* Metrics.rulesAre(id, comparison.value)
        // Whoever asks wants to know the rest above all when the store is away: the count stays as it was.
        const wanted = yield* Effect.option(Effect.timeout(store.wanted(id), "2 seconds"))
        if (Option.isSome(wanted)) yield* Metrics.rulesAre(id, { wanted: wanted.value })
      })

    yield* Effect.forEach(yield* platforms.all, observe, { discard: true, concurrency: "unbounded" })
  }
)
