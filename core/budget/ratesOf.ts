/** How many posts per hour the rules of a platform receive. */
import type { StoredRegistration } from "../rules/RuleStore.ts"
import type { Subject } from "./PostCounts.ts"
import type { Outlook } from "./textsToPause.ts"

/** Posts of the present hour and those before it, `hours` in all. */
export interface RecentPosts {
  readonly hours: number
  readonly counts: ReadonlyMap<Subject, number>
}

/** The highest rate of all windows. A rule that is not active receives no posts. `now` is in milliseconds. */
export const ratesOf = (
  registrations: ReadonlyArray<StoredRegistration>,
  windows: ReadonlyArray<RecentPosts>,
  now: number
): Pick<Outlook, "perHour" | "texts"> => {
  const rate = (subject: Subject, since: number) =>
    Math.max(...windows.map(({ hours, counts }) => (counts.get(subject) ?? 0) / hoursWatched(hours, since, now)))

  const perText = new Map<string, number>()
  let first = now
  for (const { ruleId, text, state, since } of registrations) {
    const isActive = state === "active"
    if (isActive) first = Math.min(first, Date.parse(since))
    // Each of the rules with this text receives the same posts.
    perText.set(text, Math.max(perText.get(text) ?? 0, isActive ? rate(ruleId, Date.parse(since)) : 0))
  }
  return {
    perHour: rate("all", first),
    texts: [...perText].map(([text, perHour]) => ({ text, perHour }))
  }
}

// ---- helpers ----

const HOUR_MILLIS = 3_600_000

/** At least one, so that a few posts of a new rule are not taken for a high rate. */
const hoursWatched = (hours: number, since: number, now: number): number => {
  const windowStart = now - (now % HOUR_MILLIS) - (hours - 1) * HOUR_MILLIS
  return Math.max(1, (now - Math.max(windowStart, since)) / HOUR_MILLIS)
}
