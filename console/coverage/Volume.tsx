/** Matches over time: a chart to zoom, and the same as a table. */
import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { problemOf, type Rule, useTRPC } from "../client.ts"
import { ProblemNote } from "../parts/ProblemNote.tsx"
import { Sparkline } from "../parts/Sparkline.tsx"
import type { Period } from "./coverage.ts"
import { type Histogram, type Line, linesOf, UNIT_MILLIS, type Unit, unitFor } from "./volume.ts"

const VolumeChart = lazy(() => import("./VolumeChart.tsx").then((chart) => chart.VolumeChart))

export const Volume = ({
  ruleId,
  platform,
  rules,
  gaps,
  period,
  onZoom,
  onReset
}: {
  readonly ruleId: string | undefined
  readonly platform: string | undefined
  readonly rules: ReadonlyArray<Rule>
  readonly gaps: ReadonlyArray<Period>
  readonly period: Period
  readonly onZoom: (period: Period) => void
  readonly onReset: () => void
}) => {
  const [bar, setBar] = useState<number>()
  const { data, error, refetch } = useQuery(
    useTRPC().matches.histogram.queryOptions(
      {
        ...(ruleId !== undefined && { rule_id: ruleId }),
        ...(platform !== undefined && { platform }),
        from: new Date(period.from).toISOString(),
        to: new Date(period.to).toISOString(),
        unit: unitFor(period),
        by: ruleId === undefined ? "rule" : "platform"
      },
      { placeholderData: (previous) => previous }
    )
  )
  if (error !== null) return <ProblemNote problem={problemOf(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <div class="chart" />
  const lines = linesOf(data, rules)
  const total = lines.reduce((sum, line) => sum + line.total, 0)
  if (lines.length === 0) return <p class="quiet chart">No matches in this period.</p>
  return (
    <>
      <Suspense fallback={<div class="chart" />}>
        <VolumeChart
          content={{ start: Date.parse(data.from), step: UNIT_MILLIS[data.unit], lines, gaps, period }}
          label={`${total} matches over time, per ${data.unit}. The table below has the figures.`}
          onZoom={onZoom}
          onReset={onReset}
          onPoint={setBar}
        />
      </Suspense>
      <p class="chart-point quiet">{describeBar(data, lines, bar)}</p>
      <LineTable histogram={data} lines={lines} />
    </>
  )
}

// ---- helpers ----

const numbers = new Intl.NumberFormat()
const moments: Readonly<Record<Unit, Intl.DateTimeFormat>> = {
  minute: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }),
  hour: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }),
  // Bars of days begin at midnight in UTC.
  day: new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })
}

const momentOf = ({ from, unit }: Histogram, bar: number): string =>
  `${moments[unit].format(Date.parse(from) + bar * UNIT_MILLIS[unit])}${unit === "day" ? " UTC" : ""}`

const describeBar = (histogram: Histogram, lines: ReadonlyArray<Line>, bar: number | undefined): string => {
  if (bar === undefined || lines[0]?.counts[bar] === undefined) {
    return `Matches per ${histogram.unit}; the last ${histogram.unit} may still be running. Drag over the chart to zoom in, double-click to reset.`
  }
  const counts = lines.map(({ label, counts }) => `${label} ${numbers.format(counts[bar] ?? 0)}`)
  return `${momentOf(histogram, bar)}: ${counts.join(", ")}`
}

const LineTable = ({ histogram, lines }: { readonly histogram: Histogram; readonly lines: ReadonlyArray<Line> }) => (
  <table class="lines">
    <thead>
      <tr>
        <th scope="col">{histogram.series[0]?.rule_id === undefined ? "Platform" : "Rule"}</th>
        <th scope="col">Matches</th>
        <th scope="col">Peak per {histogram.unit}</th>
        <th scope="col">Trend</th>
      </tr>
    </thead>
    <tbody>
      {lines.map(({ label, total, counts }, i) => {
        const most = Math.max(0, ...counts)
        return (
          <tr key={label}>
            <th scope="row">
              <span class={`swatch line line-${i}`} /> {label}
            </th>
            <td>{numbers.format(total)}</td>
            <td>
              {numbers.format(most)}
              {most > 0 && <span class="quiet"> at {momentOf(histogram, counts.indexOf(most))}</span>}
            </td>
            <td>
              <Sparkline counts={counts} label={`${label}: ${total} matches, at most ${most} per ${histogram.unit}`} />
            </td>
          </tr>
        )
      })}
    </tbody>
  </table>
)
