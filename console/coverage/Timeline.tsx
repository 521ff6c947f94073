/** Timelines with gaps. The gap under the pointer or with the focus is described below them. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { duration } from "../parts/duration.ts"
import { placeOf, Watched } from "./CoverageBar.tsx"
import {
  describeCoverage,
  type GapKind,
  KINDS,
  ownGapsIn,
  type Period,
  type PlatformCoverage,
  type ShownGap
} from "./coverage.ts"

export interface TimelineRow {
  readonly key: string
  readonly name: ComponentChildren
  readonly coverage: PlatformCoverage
}

export const Timeline = ({ rows, period }: { readonly rows: ReadonlyArray<TimelineRow>; readonly period: Period }) => {
  const [pointed, setShown] = useState<ShownGap>()
  const shown = pointed !== undefined && pointed.from < period.to && pointed.to > period.from ? pointed : undefined
  return (
    <div class="timeline">
      {rows.map(({ key, name, coverage }) => (
        <div class="timeline-row" key={key}>
          <div class="timeline-name">{name}</div>
          <Bar coverage={coverage} period={period} onShow={setShown} />
          <div class="timeline-note quiet">{describeCoverage(coverage, period)}</div>
        </div>
      ))}
      <div class="timeline-row" aria-hidden="true">
        <div class="timeline-axis">
          <span>{axisTime(period.from, period)}</span>
          <span>{axisTime((period.from + period.to) / 2, period)}</span>
          <span>{axisTime(period.to, period)}</span>
        </div>
      </div>
      <p class="timeline-detail">
        {shown === undefined ? (
          <span class="quiet">Hover over a gap for details, or reach it with Tab and the arrow keys.</span>
        ) : (
          describeGap(shown)
        )}
      </p>
      <ul class="legend" aria-label="Legend">
        <li>
          <span class="swatch watched" /> Watched
        </li>
        {(Object.keys(KINDS) as ReadonlyArray<GapKind>).map((kind) => (
          <li key={kind}>
            <span class={`swatch gap ${kind}`} /> {KINDS[kind]}
          </li>
        ))}
      </ul>
    </div>
  )
}

// ---- helpers ----

/** One stop of the Tab key; the arrow keys move between its gaps. */
const Bar = ({
  coverage,
  period,
  onShow
}: {
  readonly coverage: PlatformCoverage
  readonly period: Period
  readonly onShow: (gap: ShownGap | undefined) => void
}) => {
  const gaps = [...ownGapsIn(coverage, period)].reverse()
  const [stop, setStop] = useState(0)
  const move = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = Math.min(Math.max(Math.min(stop, gaps.length - 1) + step, 0), gaps.length - 1)
    setStop(next)
    event.currentTarget.querySelectorAll("button")[next]?.focus()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the controls of a form
    <div class="coverage" role="group" aria-label={`Gaps: ${describeCoverage(coverage, period)}`} onKeyDown={move}>
      <Watched coverage={coverage} period={period} />
      {gaps.map((gap, i) => (
        <button
          type="button"
          key={gap.key}
          class={`gap ${gap.kind}`}
          style={placeOf(gap, period)}
          tabIndex={i === Math.min(stop, gaps.length - 1) ? 0 : -1}
          aria-label={describeGap(gap)}
          onMouseEnter={() => onShow(gap)}
          onFocus={() => {
            setStop(i)
            onShow(gap)
          }}
          onClick={() => onShow(gap)}
        />
      ))}
    </div>
  )
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" })

const axisTime = (time: number, { from, to }: Period): string => {
  if (to - from > 3 * 86_400_000) return day.format(time)
  return to - from > 12 * 3_600_000 ? `${day.format(time)}, ${clock.format(time)}` : clock.format(time)
}

const describeGap = ({ kind, isOpen, from, to, cause }: ShownGap): string => {
  const end = isOpen ? "now" : full.format(to)
  return `${KINDS[kind]}: ${full.format(from)} to ${end} (${duration(to - from)}). ${cause}`
}
