/** `/metrics` in the text format of Prometheus. No key is needed. */
import { Effect, Metric, type MetricPair, MetricState, Option } from "effect"
import { Status } from "../../core/status/Status.ts"
import { PREFIX, UNKNOWN } from "../../core/telemetry/Metrics.ts"
import type { OpenRoute } from "./route.ts"

/** `observeProcess` updates the metrics of the process. */
export const metricsRoute = (observeProcess: Effect.Effect<void>): OpenRoute<Status> => ({
  method: "GET",
  path: "/metrics",
  reply: () =>
    Effect.gen(function* () {
      const status = yield* Status
      yield* status.updateGauges
      yield* observeProcess
      return { status: 200, headers: HEADERS, body: exposition(yield* Metric.snapshot) }
    })
})

/** Our metrics in the Prometheus text format, version 0.0.4. */
export const exposition = (snapshot: ReadonlyArray<MetricPair.MetricPair.Untyped>): string => {
  const families = new Map<string, Array<MetricPair.MetricPair.Untyped>>()
  for (const pair of snapshot) {
    const { name } = pair.metricKey
    if (!name.startsWith(PREFIX)) continue
    const family = families.get(name)
    if (family === undefined) families.set(name, [pair])
    else family.push(pair)
  }
  return [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, pairs]) => familyLines(name, pairs))
    .join("")
}

// ---- helpers ----

const HEADERS = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" }

const familyLines = (name: string, pairs: ReadonlyArray<MetricPair.MetricPair.Untyped>): ReadonlyArray<string> => {
  const description = pairs.flatMap(({ metricKey }) => Option.toArray(metricKey.description))[0] ?? ""
  const samples = pairs.flatMap(({ metricKey, metricState }) => {
    const labels = metricKey.tags.map(({ key, value }) => `${key}="${escapeValue(value)}"`)
    return samplesOf(name, labels, metricState)
  })
  if (samples.length === 0) return []
  return [`# HELP ${name} ${escapeHelp(description)}\n`, `# TYPE ${name} ${typeOf(pairs)}\n`, ...samples]
}

const typeOf = ([first]: ReadonlyArray<MetricPair.MetricPair.Untyped>): string => {
  if (MetricState.isCounterState(first?.metricState)) return "counter"
  return MetricState.isHistogramState(first?.metricState) ? "histogram" : "gauge"
}

const samplesOf = (name: string, labels: ReadonlyArray<string>, state: unknown): ReadonlyArray<string> => {
  if (MetricState.isCounterState(state)) return [sample(name, labels, Number(state.count))]
  if (MetricState.isGaugeState(state)) {
    const value = Number(state.value)
    return Object.is(value, UNKNOWN) ? [] : [sample(name, labels, value)]
  }
  if (!MetricState.isHistogramState(state)) return []
  const buckets = state.buckets.filter(([bound]) => Number.isFinite(bound))
  return [
    ...[...buckets, [Number.POSITIVE_INFINITY, state.count] as const].map(([bound, count]) =>
      sample(`${name}_bucket`, [...labels, `le="${formatNumber(bound)}"`], count)
    ),
    sample(`${name}_sum`, labels, state.sum),
    sample(`${name}_count`, labels, state.count)
  ]
}

const sample = (name: string, labels: ReadonlyArray<string>, value: number): string =>
  `${name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${formatNumber(value)}\n`

const formatNumber = (value: number): string => (value === Number.POSITIVE_INFINITY ? "+Inf" : String(value))

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

const escapeValue = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')
