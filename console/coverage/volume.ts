/** Matches over time, as a chart shows them. */
import type { Answers, Rule } from "../client.ts"
import { platformName } from "../parts/platformName.ts"
import type { Period } from "./coverage.ts"

export type Histogram = Answers["matches"]["histogram"]
export type Unit = Histogram["unit"]

export interface Line {
  readonly label: string
  readonly total: number
  /** One number per bar, oldest first. */
  readonly counts: ReadonlyArray<number>
}

/** In milliseconds. */
export const UNIT_MILLIS: Readonly<Record<Unit, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Few enough bars to tell them apart. */
export const unitFor = ({ from, to }: Period): Unit => {
  const length = to - from
  return length <= 6 * UNIT_MILLIS.hour ? "minute" : length <= 7 * UNIT_MILLIS.day ? "hour" : "day"
}

/** The bar of the oldest match. */
export const firstBarOf = ({ from, unit, series }: Pick<Histogram, "from" | "unit" | "series">): Period | undefined => {
  const firsts = series.map(({ counts }) => counts.findIndex((count) => count > 0)).filter((bar) => bar >= 0)
  if (firsts.length === 0) return undefined
  const start = Date.parse(from) + Math.min(...firsts) * UNIT_MILLIS[unit]
  return { from: start, to: start + UNIT_MILLIS[unit] }
}

/** The lines with the most matches first; those that have no place are added up. */
export const linesOf = ({ series }: Pick<Histogram, "series">, rules: ReadonlyArray<Rule>): ReadonlyArray<Line> => {
  const names = new Map<string, string>(rules.map(({ id, name }) => [id, name]))
  const lines = series
    .map(({ rule_id, platform, total, counts }) => ({
      label: labelOf({ platform, rule: rule_id && (names.get(rule_id) ?? rule_id) }),
      total,
      counts
    }))
    .sort((a, b) => b.total - a.total)
  if (lines.length <= MAX_LINES) return lines
  const shown = lines.slice(0, MAX_LINES - 1)
  const others = lines.slice(MAX_LINES - 1)
  return [
    ...shown,
    {
      label: `${others.length} other rules`,
      total: others.reduce((sum, { total }) => sum + total, 0),
      counts: (others[0]?.counts ?? []).map((_, i) => others.reduce((sum, { counts }) => sum + (counts[i] ?? 0), 0))
    }
  ]
}

const labelOf = ({ platform, rule }: { readonly platform?: string | undefined; readonly rule?: string | undefined }) =>
  platform === undefined ? (rule ?? "All matches") : platformName(platform)

/** As many as there are looks of lines in the style sheet. */
export const MAX_LINES = 6
