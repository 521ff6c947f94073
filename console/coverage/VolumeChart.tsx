/** Matches over time as lines with steps. Drag to zoom, double click to show the whole period again. */
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import type { Period } from "./coverage.ts"
import type { Line } from "./volume.ts"

export interface ChartContent {
  /** Where the first bar begins, and the length of a bar. In milliseconds, as all times here. */
  readonly start: number
  readonly step: number
  readonly lines: ReadonlyArray<Line>
  /** Periods without coverage, drawn behind the lines. */
  readonly gaps: ReadonlyArray<Period>
  readonly period: Period
}

export const VolumeChart = ({
  content,
  label,
  onZoom,
  onReset,
  onPoint
}: {
  readonly content: ChartContent
  readonly label: string
  readonly onZoom: (period: Period) => void
  readonly onReset: () => void
  /** The number of the bar under the pointer. */
  readonly onPoint: (bar: number | undefined) => void
}) => {
  const element = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>()
  // Read at every drawing: the chart outlives the content.
  const latest = useRef({ content, onZoom, onReset, onPoint })
  latest.current = { content, onZoom, onReset, onPoint }
  const labels = content.lines.map((line) => line.label).join("\n")

  // Another set of lines needs another chart.
  useEffect(() => {
    const host = element.current
    if (host === null) return
    const made = new uPlot(optionsOf(host, latest), dataOf(latest.current.content), host)
    chart.current = made
    const size = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: HEIGHT }))
    size.observe(host)
    const redraw = () => made.redraw(false)
    const theme = new MutationObserver(redraw)
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] })
    const system = matchMedia("(prefers-color-scheme: dark)")
    system.addEventListener("change", redraw)
    return () => {
      size.disconnect()
      theme.disconnect()
      system.removeEventListener("change", redraw)
      made.destroy()
    }
  }, [labels])

  useEffect(() => chart.current?.setData(dataOf(content)), [content])

  return (
    <div class="chart" ref={element} role="img" aria-label={label}>
      {content.lines.map((line, i) => (
        <span key={line.label} hidden class={`line-${i}`} />
      ))}
    </div>
  )
}

// ---- helpers ----

const HEIGHT = 240

const LABEL_PIXELS = 80

const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" })
const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: "short" })
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })

/** `step`: the seconds between two labels. */
const labelOf = (time: number, step: number): string => {
  const form = step >= 86_400 ? days : step >= 60 ? minutes : seconds
  return form.format(time)
}

/** By number of the line, so that lines differ not by colour alone. */
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3], [5, 2], [1, 5]]

type Latest = {
  readonly current: {
    readonly content: ChartContent
    readonly onZoom: (period: Period) => void
    readonly onReset: () => void
    readonly onPoint: (bar: number | undefined) => void
  }
}

/** With a last point, at which the last step ends. uPlot counts in seconds. */
const dataOf = ({ start, step, lines }: ChartContent): uPlot.AlignedData => {
  const bars = lines[0]?.counts.length ?? 0
  return [
    Array.from({ length: bars + 1 }, (_, i) => (start + i * step) / 1_000),
    ...lines.map(({ counts }) => [...counts, counts.at(-1) ?? 0])
  ]
}

const optionsOf = (host: HTMLElement, latest: Latest): uPlot.Options => {
  const color = (name: string) => () => colorOf(host, name)
  const steps = uPlot.paths.stepped?.({ align: 1 })
  const axis = { stroke: color("chart-text"), ticks: { show: false } }
  return {
    width: host.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    scales: {
      x: {
        range: () => {
          const { from, to } = latest.current.content.period
          return [from / 1_000, to / 1_000]
        }
      },
      y: { range: (_, __, highest) => [0, Math.max(1, highest) * 1.05] }
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: LABEL_PIXELS,
        values: (_, times, __, ___, step) => times.map((time) => labelOf(time * 1_000, step))
      },
      {
        ...axis,
        grid: { stroke: color("chart-line"), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6]
      }
    ],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          latest.current.onReset()
          return null
        }
      }
    },
    series: [
      {},
      ...latest.current.content.lines.map(({ label }, i) => ({
        label,
        stroke: color(`line-${i}`),
        width: 2,
        dash: DASHES[i] ?? [],
        ...(steps !== undefined && { paths: steps }),
        points: { show: false }
      }))
    ],
    hooks: {
      drawClear: [(plot) => drawGaps(plot, latest.current.content.gaps, colorOf(host, "chart-gap"))],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          if (width < 5) return
          const timeAt = (pixel: number) => plot.posToVal(pixel, "x") * 1_000
          latest.current.onZoom({ from: timeAt(left), to: timeAt(left + width) })
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
        }
      ],
      setCursor: [
        (plot) => {
          const { left = -1 } = plot.cursor
          const { start, step } = latest.current.content
          latest.current.onPoint(left < 0 ? undefined : Math.floor((plot.posToVal(left, "x") * 1_000 - start) / step))
        }
      ]
    }
  }
}

/** The style sheet decides on colours; a canvas needs them resolved. */
const colorOf = (host: HTMLElement, name: string): string => {
  const probe = host.querySelector(`.${name}`) ?? host.appendChild(probeOf(name))
  return getComputedStyle(probe).color
}

const probeOf = (name: string): HTMLElement => {
  const probe = document.createElement("span")
  probe.className = name
  probe.hidden = true
  return probe
}

const drawGaps = (plot: uPlot, gaps: ReadonlyArray<Period>, color: string): void => {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = color
  ctx.globalAlpha = 0.25
  for (const { from, to } of gaps) {
    const left = Math.max(plot.valToPos(from / 1_000, "x", true), bbox.left)
    const right = Math.min(plot.valToPos(to / 1_000, "x", true), bbox.left + bbox.width)
    if (right > left) ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height)
  }
  ctx.restore()
}
