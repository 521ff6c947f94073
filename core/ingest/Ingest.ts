/** Runs one supervised ingest pipeline per platform. */
import { Cause, Effect, Layer } from "effect"
import { PostBudget } from "../budget/PostBudget.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Failpoints } from "../model/Failpoints.ts"
import { Ids } from "../model/Ids.ts"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { Registrations } from "../rules/Registrations.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { pipeline, retryForever } from "./pipeline.ts"

export const layer: Layer.Layer<
  never,
  never,
  Platforms | Registrations | RuleStore | MatchStore | StreamStore | PostBudget | Ids
> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const services = {
      registrations: yield* Registrations,
      rules: yield* RuleStore,
      matches: yield* MatchStore,
      streams: yield* StreamStore,
      budget: yield* PostBudget,
      ids: yield* Ids,
      failpoints: yield* Failpoints
    }

    const supervised = (platform: Platform) =>
      Effect.scoped(pipeline(services, platform)).pipe(
        // Restarts after a defect, too.
        Effect.sandbox,
        Effect.tapError((cause) => Effect.logError(`The pipeline of "${platform.id}" failed and restarts`, cause)),
        Effect.retry({ schedule: retryForever, while: (cause) => !Cause.isInterruptedOnly(cause) })
      )

    for (const platform of yield* platforms.all) {
      Metrics.startAtZero(platform.id)
      yield* Effect.forkScoped(supervised(platform))
    }
  })
)
