/** Coverage in one line: of a platform, or of a rule on a platform. */

import { platformName } from "../parts/platformName.ts"
import {
  describeCoverage,
  ownGapsIn,
  type Period,
  type PlatformCoverage,
  startedIn,
  watchedIn,
  watchOf
} from "./coverage.ts"

/** Starts with the first watched time. */

export const CoverageBar = ({
  coverage,
  period = lastDay()
}: {
  readonly coverage: PlatformCoverage
  readonly period?: Period
}) => {
  const text = `${platformName(coverage.platform)}: ${describeCoverage(coverage, period)}`
  const drawn = startedIn([coverage], period)
  return (
    <span class="coverage" role="img" aria-label={text} title={text}>
      <Watched coverage={coverage} period={drawn} />
      {ownGapsIn(coverage, drawn).map((gap) => (
        <span key={gap.key} class={`gap ${gap.kind}`} style={placeOf(gap, drawn)} />
      ))}
    </span>
  )
}

/** The line on which gaps lie. */
export const Watched = ({ coverage, period }: { readonly coverage: PlatformCoverage; readonly period: Period }) => {
  const watched = watchedIn(coverage, period)
  if (watched === undefined) return null
  const { from, to, confirmed } = watched
  const least = (watchOf(coverage, period)?.share ?? 0) > 0 ? LEAST_WATCHED : 0
  return (
    <>
      <span class="watched" style={placeOf({ from, to: confirmed }, period, least)} />
      <span class="watched unconfirmed" style={placeOf({ from: confirmed, to }, period, 0)} />
    </>
  )
}

/** A short period at the end is moved to the left, where it can be seen. `least`: its width in pixels. */
export const placeOf = ({ from, to }: Period, period: Period, least = LEAST_GAP) => {
  const length = period.to - period.from
  return {
    left: `min(${((from - period.from) / length) * 100}%, 100% - ${least}px)`,
    width: `${((to - from) / length) * 100}%`,
    minWidth: `${least}px`
  }
}

// ---- helpers ----

const LEAST_GAP = 5

/** A short gap does not hide it. */
const LEAST_WATCHED = 12

const DAY_MILLIS = 86_400_000

const lastDay = (): Period => ({ from: Date.now() - DAY_MILLIS, to: Date.now() })
