/** How often X may be called, and what it says itself about that. */
import { Clock, Effect } from "effect"
import { numberOf } from "../../core/syntax/json.ts"
import { Budget } from "../http/Budget.ts"

/** Calls in 15 minutes. To be kept a little below what X allows: someone may try something by hand with the same app. */
export const budgetOf = (calls: number) => new Budget({ limit: calls, windowMillis: WINDOW_MILLIS })

/** Not by more than the window of the limits: X's clock may be wrong, or ours. */
export const secondsUntilReset = (headers: Headers, now: number): number | undefined => {
  const reset = numberOf(headers.get("x-rate-limit-reset"))
  return reset === undefined ? undefined : Math.min(Math.max(Math.ceil(reset - now / 1_000), 1), WINDOW_MILLIS / 1_000)
}

/** X may count more than we do: another process, or the same one before a restart. */
export const keepLimit = (budget: Budget, headers: Headers): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const seconds = secondsUntilReset(headers, now)
    return numberOf(headers.get("x-rate-limit-remaining")) === 0 && seconds !== undefined
      ? budget.blockFor(seconds * 1_000)
      : Effect.void
  })

// ---- helpers ----

const WINDOW_MILLIS = 15 * 60_000
