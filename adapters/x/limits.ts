/** X's rate limits: our own call budgets, and the limits in its response headers. */
import { Clock, Effect, Option } from "effect"
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import { numberOf } from "../../core/text/json.ts"
import { Budget } from "../http/Budget.ts"
import { retryAfterMillis } from "../http/retryAfter.ts"

/** Per 15 minutes. Keep it a little below X's limit, to leave room for manual calls with the same app. */
export const callBudget = (calls: number) => new Budget({ limit: calls, windowMillis: WINDOW_MILLIS })

/** At most the rate limit window, in case X's clock or ours is wrong. */
export const secondsUntilReset = (headers: Headers, now: number): number | undefined =>
  Option.getOrUndefined(Option.map(resetIn(headers, now), (seconds) => Math.min(seconds, WINDOW_MILLIS / 1_000)))

/** A usage cap may last until next month: at most a day, because the owner of the app can raise it before. */
export const secondsUntilUsageReset = (headers: Headers, now: number): number | undefined =>
  Option.getOrUndefined(Option.map(resetIn(headers, now), (seconds) => Math.min(seconds, DAY_MILLIS / 1_000)))

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

/** In seconds, at least 1. Times are on X's clock, which the `Date` header shows. */
const resetIn = (headers: Headers, localNow: number): Option.Option<number> => {
  const date = Date.parse(headers.get("date") ?? "")
  const now = Number.isNaN(date) ? localNow : date
  const reset = numberOf(headers.get("x-rate-limit-reset"))
  const millis = reset === undefined ? retryAfterMillis(headers.get("retry-after"), now) : reset * 1_000 - now
  return millis === undefined ? Option.none() : Option.some(Math.max(Math.ceil(millis / 1_000), 1))
}
