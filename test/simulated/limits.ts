/** Checks that the service stayed within the platforms' limits. Returns one message per violation. */

import type { PlatformId } from "../../fixtures/languages.ts"
import type { State } from "../../simulator/Control.ts"

export const limitViolations = (state: State): ReadonlyArray<string> => [
  ...state.violations.map(({ platform, message }) => `${platform}: ${message}`),
  ...Object.entries(state.most_connections)
    .filter(([, most]) => most > 1)
    .map(([platform, most]) => `${platform}: ${most} connections at once`),
  ...limits.flatMap((limit) => {
    const most = maxAttempts(state, limit)
    return most <= limit.most ? [] : [`${limit.platform}: ${most} connects in ${limit.seconds} s`]
  })
]

// ---- helpers ----

interface Limit {
  readonly platform: PlatformId
  readonly seconds: number
  readonly most: number
  /** Counts dropped attempts too. */
  readonly countsDropped: boolean
}

/** X counts only attempts it answers. Dropped attempts are limited by the backoff, which grows by 250 ms each time. */
const limits: ReadonlyArray<Limit> = [
  { platform: "x", seconds: 900, most: 50, countsDropped: false },
  { platform: "x", seconds: 10, most: 12, countsDropped: true },
  { platform: "firehose", seconds: 60, most: 30, countsDropped: true }
]

/** The maximum over sliding windows, which is stricter than the platform's fixed windows. */
const maxAttempts = ({ connection_attempts }: State, { platform, seconds, countsDropped }: Limit): number => {
  const times = connection_attempts
    .filter((attempt) => attempt.platform === platform && (countsDropped || attempt.status !== 0))
    .map(({ at }) => at)
  let most = 0
  let first = 0
  for (const [last, at] of times.entries()) {
    while ((times[first] ?? at) <= at - seconds * 1_000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
