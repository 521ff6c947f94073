/**
 * Runs the supervised ingest pipelines. With several servers on one store, a remote platform has one pipeline on its
 * owner. A platform in process has one on each server, and its owner only writes the coverage.
 */
import { Cause, Clock, Effect, Layer, Stream } from "effect"
import { PostBudget } from "../budget/PostBudget.ts"
import { Withdrawals } from "../compliance/Withdrawals.ts"
import { StreamStore } from "../coverage/StreamStore.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Failpoints } from "../model/Failpoints.ts"
import { Ids } from "../model/Ids.ts"
import { Ownership, streamOf } from "../ownership/Ownership.ts"
import { type Platform, Platforms, type Signal } from "../platforms/Platform.ts"
import { Registrations } from "../rules/Registrations.ts"
import { RuleStore } from "../rules/RuleStore.ts"
import { ShadowStore } from "../shadows/ShadowStore.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { type CoverageOptions, pipeline, retryForever } from "./pipeline.ts"

export const layer: Layer.Layer<
  never,
  never,
  Platforms | Registrations | RuleStore | MatchStore | ShadowStore | StreamStore | PostBudget | Withdrawals | Ids
> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const services = {
      registrations: yield* Registrations,
      rules: yield* RuleStore,
      matches: yield* MatchStore,
      shadows: yield* ShadowStore,
      streams: yield* StreamStore,
      budget: yield* PostBudget,
      withdrawals: yield* Withdrawals,
      ids: yield* Ids,
      failpoints: yield* Failpoints
    }

    const ownership = yield* Ownership
    const startedAt = yield* Clock.currentTimeMillis

    const supervised = (platform: Platform, coverage?: CoverageOptions) =>
      kept(`The pipeline of "${platform.id}"`, Effect.scoped(pipeline(services, platform, coverage)))

    const kept = (what: string, work: Effect.Effect<void>) =>
      work.pipe(
        // Restarts after a defect, too.
        Effect.sandbox,
        Effect.tapError((cause) =>
          Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError(`${what} failed and restarts`, cause)
        ),
        Effect.retry({ schedule: retryForever, while: (cause) => !Cause.isInterruptedOnly(cause) }),
        Effect.unsandbox
      )

    /** Compares the rules first: without any, the stream would not open. */
    const takeOver = (platform: Platform) =>
      Effect.gen(function* () {
        const { reconcileOne, settle } = services.registrations
        const prepare = Effect.catchAllCause(
          Effect.zipRight(services.budget.enforce, reconcileOne(platform)),
          (cause) => Effect.logError(`Cannot compare the rules on "${platform.id}"`, cause)
        )
        yield* Effect.timeoutOption(Effect.disconnect(prepare), "5 seconds")
        const settled = kept(`Settling the requests for "${platform.id}"`, settle(platform))
        yield* Effect.all([supervised(platform, {}), settled], { concurrency: "unbounded", discard: true })
      })

    for (const platform of yield* platforms.all) {
      Metrics.startAtZero(platform.id)
      const { isRemote } = platform.capabilities
      if (ownership.isAlone) yield* Effect.forkScoped(supervised(platform, {}))
      else if (isRemote) {
        yield* ownership.own(streamOf(platform.id), takeOver(platform))
      } else {
        yield* Effect.forkScoped(supervised(platform))
        // The platform takes events on every server: a new owner has watched it since its own start.
        yield* ownership.own(
          `coverage/${platform.id}`,
          supervised(withoutEvents(platform), { watchingSince: startedAt })
        )
      }
    }
  })
)

// ---- helpers ----

const withoutEvents = (platform: Platform): Platform => ({
  ...platform,
  watch: () =>
    Stream.concat(
      Stream.fromEffect(Effect.map(Clock.currentTimeMillis, (at): Signal => ({ _tag: "Watching", at, since: at }))),
      Stream.never
    )
})
