/** Compares the platforms' rules with the store: at the start, and every two minutes. */
import { Effect, Layer, Schedule } from "effect"
import { Registrations } from "./Registrations.ts"

/** Ready after the first comparison, or after ten seconds: a platform that hangs is compared in the background. */
export const layer: Layer.Layer<never, never, Registrations> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { reconcile } = yield* Registrations
    yield* Effect.timeoutOption(Effect.disconnect(reconcile), "10 seconds")
    yield* Effect.forkScoped(Effect.delay(Effect.repeat(reconcile, Schedule.spaced(INTERVAL)), INTERVAL))
  })
)

// ---- helpers ----

const INTERVAL = "2 minutes"
