/** Describes coverage in lines of text. */
import type { Coverage } from "../core/coverage/Coverage.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import { visible } from "./terminal.ts"

/** One line per time for which matches may be missing: not watched, or already deleted. */
export const describeGaps = ({ platforms, kept_since }: Coverage): ReadonlyArray<string> => [
  ...(platforms.length === 0 ? ["Not watched: there are no rules"] : []),
  ...(kept_since === undefined ? [] : [`Deleted: matches from before ${kept_since}`]),
  ...platforms.flatMap(({ platform, watched_since, gaps, more_gaps, suspected }) => {
    if (watched_since === undefined && gaps.length === 0) return [`Not watched: ${platform}, not yet`]
    const doubtful = suspected.map(
      ({ from, to, detail }) => `In doubt: ${platform}, ${from} to ${to}: ${visible(detail)}`
    )
    const lost = gaps.filter(({ recovered }) => !recovered)
    const listed = lost
      .slice(0, MAX_GAPS)
      .map(
        ({ rule_id, from, to, cause, detail }) =>
          `Not watched: ${platform}, ${rule_id === undefined ? "" : `${rule_id}, `}${to === undefined ? `since ${from}` : `${from} to ${to}`}, ${cause}: ${visible(detail)}`
      )
    return [
      ...listed,
      ...(lost.length > MAX_GAPS || more_gaps ? [moreGaps(platform)] : []),
      ...doubtful.slice(0, MAX_GAPS)
    ]
  })
]

// ---- helpers ----

const MAX_GAPS = 5

const moreGaps = (platform: PlatformId) => `Not watched: ${platform}, and at other times (see --json)`
