/** Reconciles the platforms with the rule store: at start-up, then every 20 seconds where that is cheap. */
import { Effect, Layer, Schedule } from "effect"
import { Registrations } from "./Registrations.ts"

/** Ready after the first pass or after ten seconds, whichever is first: a slow first pass continues in the background. */
export const layer: Layer.Layer<never, never, Registrations> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { reconcile, reconcileDue } = yield* Registrations
    yield* Effect.timeoutOption(Effect.disconnect(reconcile), "10 seconds")
    yield* Effect.forkScoped(Effect.delay(Effect.repeat(reconcileDue, Schedule.spaced(INTERVAL)), INTERVAL))
  })
)

// ---- helpers ----

const INTERVAL = "20 seconds"
