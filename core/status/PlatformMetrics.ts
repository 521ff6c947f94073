/** Updates the gauges of the platforms. */
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
        yield* Metrics.setStreamState(id, (yield* status).state)
        const { comparison } = yield* registrations.syncStatus(id)
        if (Option.isSome(comparison)) yield* Metrics.setRuleCounts(id, comparison.value)
        // While the store is down, the gauge keeps its last value.
        const wanted = yield* Effect.option(Effect.timeout(store.wanted(id), "2 seconds"))
        if (Option.isSome(wanted)) yield* Metrics.setRuleCounts(id, { wanted: wanted.value })
      })

    yield* Effect.forEach(yield* platforms.all, observe, { discard: true, concurrency: "unbounded" })
  }
)
