/** The periods that the page shows, ending now. */
import type { Period } from "./coverage.ts"

export type PeriodName = "hour" | "day" | "month"

/** In milliseconds. */
export const LENGTHS: Readonly<Record<PeriodName, number>> = {
  hour: 3_600_000,
  day: 86_400_000,
  month: 30 * 86_400_000
}

export const PERIODS: ReadonlyArray<readonly [PeriodName, string]> = [
  ["hour", "Last hour"],
  ["day", "Last 24 hours"],
  ["month", "Last 30 days"]
]

export const asPeriodName = (text: string | null): PeriodName => PERIODS.find(([name]) => name === text)?.[0] ?? "day"

/** Advances in steps, so that the queries of a period are not new ones at every drawing. */
export const periodUntil = (now: number, name: PeriodName): Period => {
  const to = Math.floor(now / STEP_MILLIS) * STEP_MILLIS
  return { from: to - LENGTHS[name], to }
}

export const STEP_MILLIS = 15_000

const MINUTE_MILLIS = 60_000

/** A shorter period cannot be zoomed to: a bar has at least a minute. */
const SHORTEST = 5 * MINUTE_MILLIS

export const isShortest = ({ from, to }: Period): boolean => to - from <= SHORTEST

/** Without the time before the first watch and the first match, in whole minutes. `firstMatch` is a bar of a histogram. */
export const trimmed = ({ from, to }: Period, firstWatch: number, firstMatch: Period | undefined): Period => {
  const first = firstMatch !== undefined && firstMatch.to <= firstWatch ? firstMatch.from : firstWatch
  return { from: Math.max(from, Math.min(Math.floor(first / MINUTE_MILLIS) * MINUTE_MILLIS, to - SHORTEST)), to }
}

/** The second half: the newest events are there. */
export const zoomedIn = (period: Period, whole: Period): Period =>
  zoomed({ from: (period.from + period.to) / 2, to: period.to }, whole)

/** A part of the whole: not too short, and within it. */
export const zoomed = ({ from, to }: Period, whole: Period): Period => {
  const length = Math.min(Math.max(to - from, SHORTEST), whole.to - whole.from)
  const start = Math.min(Math.max((from + to - length) / 2, whole.from), whole.to - length)
  return { from: start, to: start + length }
}
