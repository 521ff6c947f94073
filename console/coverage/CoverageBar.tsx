/** Coverage in one line: of a platform, or of a rule on a platform. */
import { describeCoverage, gapsIn, type Period, type PlatformCoverage, watchedIn } from "./coverage.ts"

export const CoverageBar = ({
  coverage,
  period = lastDay()
}: {
  readonly coverage: PlatformCoverage
  readonly period?: Period
}) => {
  const text = `${coverage.platform}: ${describeCoverage(coverage, period)}`
  return (
    <span class="coverage" role="img" aria-label={text} title={text}>
      <Watched coverage={coverage} period={period} />
      {gapsIn(coverage, period).map((gap) => (
        <span key={gap.key} class={`gap ${gap.kind}`} style={placeOf(gap, period)} />
      ))}
    </span>
  )
}

/** The line on which gaps lie. */
export const Watched = ({ coverage, period }: { readonly coverage: PlatformCoverage; readonly period: Period }) => {
  const watched = watchedIn(coverage, period)
  if (watched === undefined) return null
  const { from, to, confirmed } = watched
  return (
    <>
      <span class="watched" style={placeOf({ from, to: confirmed }, period)} />
      <span class="watched unconfirmed" style={placeOf({ from: confirmed, to }, period)} />
    </>
  )
}

/** A short period at the end is moved to the left, where it can be seen. */
export const placeOf = ({ from, to }: Period, period: Period) => {
  const length = period.to - period.from
  return {
    left: `min(${((from - period.from) / length) * 100}%, 100% - 5px)`,
    width: `${((to - from) / length) * 100}%`
  }
}

// ---- helpers ----

const DAY_MILLIS = 86_400_000

const lastDay = (): Period => ({ from: Date.now() - DAY_MILLIS, to: Date.now() })
