/** From the platforms' streams into the store: one supervised pipeline per platform. */
import { Cause, Effect, Layer } from "effect"
import { StreamStore } from "../coverage/StreamStore.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Ids } from "../model/Ids.ts"
import { Steps } from "../model/Steps.ts"
import { type Platform, Platforms } from "../platforms/Platform.ts"
import { Registrations } from "../rules/Registrations.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { pipeline, untilItWorks } from "./pipeline.ts"

/** Runs for as long as its scope is open. */
export const layer: Layer.Layer<never, never, Platforms | Registrations | RuleStore | MatchStore | StreamStore | Ids> =
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const services = {
        registrations: yield* Registrations,
        rules: yield* RuleStore,
        matches: yield* MatchStore,
        streams: yield* StreamStore,
        ids: yield* Ids,
        steps: yield* Steps
      }

      const supervised = (platform: Platform) =>
        Effect.scoped(pipeline(services, platform)).pipe(
          // A bug in a platform's stream must not be the end of it.
          Effect.sandbox,
          Effect.tapError((cause) => Effect.logError(`The stream of "${platform.id}" broke and is resumed`, cause)),
          Effect.retry({ schedule: untilItWorks, while: (cause) => !Cause.isInterruptedOnly(cause) })
        )

      for (const platform of yield* platforms.all) {
        Metrics.startAtZero(platform.id)
        yield* Effect.forkScoped(supervised(platform))
      }
    })
  )
