/** What the platforms must never have to bear with. Each check says in words what was wrong; nothing means that all is well. */
import type { State } from "../../adapters/simulator/Control.ts"
import type { PlatformId } from "../platforms.ts"

export const badManners = (state: State): ReadonlyArray<string> => [
  ...state.violations.map(({ platform, message }) => `${platform}: ${message}`),
  ...Object.entries(state.most_connections)
    .filter(([, most]) => most > 1)
    .map(([platform, most]) => `${platform}: ${most} connections at once`),
  ...LIMITS.flatMap((limit) => {
    const most = mostAttempts(state, limit)
    return most <= limit.most ? [] : [`${limit.platform}: ${most} connects in ${limit.seconds} s`]
  })
]

// ---- helpers ----

interface Limit {
  readonly platform: PlatformId
  readonly seconds: number
  readonly most: number
  /** Also those that the platform has not seen, because it did not answer. */
  readonly isOfAll: boolean
}

/** X counts what it has seen. What it has not seen comes no faster than its back-off of 250 ms more each time. */
const LIMITS: ReadonlyArray<Limit> = [
  { platform: "x", seconds: 900, most: 50, isOfAll: false },
  { platform: "x", seconds: 10, most: 12, isOfAll: true },
  { platform: "firehose", seconds: 60, most: 30, isOfAll: true }
]

/** In any window of that length, not only in those that the platform counts in. */
const mostAttempts = ({ connection_attempts }: State, { platform, seconds, isOfAll }: Limit): number => {
  const times = connection_attempts
    .filter((attempt) => attempt.platform === platform && (isOfAll || attempt.status !== 0))
    .map(({ at }) => at)
  let most = 0
  let first = 0
  for (const [last, at] of times.entries()) {
    while ((times[first] ?? at) <= at - seconds * 1_000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
