/** Describes coverage in lines of text. */
import type { Coverage, PlatformCoverage } from "../core/coverage/Coverage.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"
import { plural } from "./progress.ts"
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

/** Of one platform in the last 24 hours, in one line. */
export const describeWatched = ({ watched_since, gaps, more_gaps, suspected }: PlatformCoverage): string => {
  if (watched_since === undefined) return "not yet"
  const [newest] = gaps
  const [doubtful] = suspected
  // Without rules there is nothing to miss.
  const ruleless = gaps.filter(({ cause }) => cause === "no_rules").length
  const lost = gaps.filter(({ cause, recovered }) => cause !== "no_rules" && !recovered).length
  return [
    `since ${watched_since}`,
    newest === undefined
      ? "no gap in the last 24 hours"
      : `${more_gaps ? "more than " : ""}${plural(gaps.length, "gap")} in the last 24 hours, ${ruleless === 0 ? "" : `${ruleless} while there were no rules, `}${lost} not recovered`,
    ...(newest === undefined
      ? []
      : [
          `the latest ${newest.to === undefined ? `since ${newest.from}` : `from ${newest.from} to ${newest.to}`} (${newest.cause})`
        ]),
    ...(doubtful === undefined
      ? []
      : [
          `in doubt in ${plural(suspected.length, "period")}, the latest from ${doubtful.from} to ${doubtful.to}: ${visible(doubtful.detail)}`
        ])
  ].join("; ")
}

// ---- helpers ----

const MAX_GAPS = 5

const moreGaps = (platform: PlatformId) => `Not watched: ${platform}, and at other times (see --json)`
