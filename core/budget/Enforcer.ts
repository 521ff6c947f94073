/** Keeps the platforms within their budgets: at start-up, then every minute, or sooner when many posts come in. */
import { Effect, Layer } from "effect"
import { PostBudget } from "./PostBudget.ts"

/** Ready after the first check or after ten seconds: the reconciler then registers the rules whose pause is over. */
export const layer: Layer.Layer<never, never, PostBudget> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { enforce, due } = yield* PostBudget
    yield* Effect.timeoutOption(Effect.disconnect(enforce), "10 seconds")
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(due, enforce)))
  })
)
