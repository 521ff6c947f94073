/** X's rate limits: our own call budgets, and the limits in its response headers. */
import { Clock, Effect } from "effect"
import { numberOf } from "../../core/text/json.ts"
import { Budget } from "../http/Budget.ts"

/** Per 15 minutes. Keep it a little below X's limit, to leave room for manual calls with the same app. */
export const callBudget = (calls: number) => new Budget({ limit: calls, windowMillis: WINDOW_MILLIS })

/** At most the rate limit window, in case X's clock or ours is wrong. */
export const secondsUntilReset = (headers: Headers, now: number): number | undefined => {
  const reset = numberOf(headers.get("x-rate-limit-reset"))
  return reset === undefined ? undefined : Math.min(Math.max(Math.ceil(reset - now / 1_000), 1), WINDOW_MILLIS / 1_000)
}

/** X may count more calls than we do: those of another process, or from before a restart. */
export const applyRateLimit = (budget: Budget, headers: Headers): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const seconds = secondsUntilReset(headers, now)
    return numberOf(headers.get("x-rate-limit-remaining")) === 0 && seconds !== undefined
      ? budget.blockFor(seconds * 1_000)
      : Effect.void
  })

// ---- helpers ----

const WINDOW_MILLIS = 15 * 60_000
