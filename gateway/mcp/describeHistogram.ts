/** The counts of matches over time, for a language model. */
import { Schema } from "effect"
import { UNIT_MILLIS } from "../../core/matches/Bars.ts"
import { Histogram } from "../../core/matches/Histogram.ts"
import { optional } from "../../core/model/optional.ts"
import { fromMillis } from "../../core/model/Timestamp.ts"
import { counted } from "../../core/text/counted.ts"
import { describeWatched } from "./describe.ts"

export const ShownHistogram = Schema.Struct({
  ...Histogram.fields,
  other_series: optional(Schema.Struct({ count: Schema.Number, total: Schema.Number }))
})
export type ShownHistogram = typeof ShownHistogram.Type

/** With the largest series only. */
export const shownHistogram = ({ series, ...rest }: Histogram): ShownHistogram => {
  const largest = series.toSorted((a, b) => b.total - a.total)
  const others = largest.slice(MAX_SERIES)
  return {
    ...rest,
    series: largest.slice(0, MAX_SERIES),
    ...(others.length > 0 && { other_series: { count: others.length, total: totalOf(others) } })
  }
}

export const describeHistogram = (histogram: Histogram): string => {
  const { unit, from, to, series, other_series, coverage } = shownHistogram(histogram)
  const barsOf = (counts: ReadonlyArray<number>) => {
    const filled = counts.flatMap((count, index) =>
      count === 0 ? [] : [`${timeOf(Date.parse(from) + index * UNIT_MILLIS[unit])} ${count}`]
    )
    const older = filled.length - MAX_BARS
    return `${filled.slice(-MAX_BARS).join(", ")}${older > 0 ? `, and ${counted(older, "earlier bar")} in structured content` : ""}`
  }
  return [
    `${counted(totalOf(histogram.series), "match", "matches")} from ${from} to ${to}, in UTC per ${unit}; a ${unit} that is not named has none`,
    ...series.map(({ rule_id, platform, total, counts }) => {
      const bars = total === 0 ? "none" : barsOf(counts)
      const name = rule_id ?? platform
      return name === undefined ? bars : `- ${name}, ${total}: ${bars}`
    }),
    ...(other_series === undefined
      ? []
      : [`- ${other_series.count} more with fewer matches, ${other_series.total} in total`]),
    describeWatched(coverage)
  ].join("\n")
}

// ---- helpers ----

const MAX_SERIES = 20

/** Of a series. */
const MAX_BARS = 48

const totalOf = (series: Histogram["series"]): number => series.reduce((sum, { total }) => sum + total, 0)

const timeOf = (millis: number): string => `${fromMillis(millis).slice(0, 16)}Z`
