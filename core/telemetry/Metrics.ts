/** Every metric of the service, named once, and what is told of each. They belong to the process, not to a layer. */
import { Effect, Metric, MetricBoundaries, MetricLabel } from "effect"
import type { PlatformId } from "../model/PlatformId.ts"
import { GapCause, StreamState } from "../platforms/Platform.ts"

/** All names begin with it. What Effect counts by itself has other names. */
export const PREFIX = "earshot_"

/** Deliveries came in from the platform. */
/** Creates the platform's counters at 0: a rate is right from the first event on only if the counter existed before. */
export const startAtZero = (platform: PlatformId): void => {
  for (const one of [deliveriesReceived, matchesStored, matchesDuplicate, recordsUnreadable]) one(0, platform)
  for (const cause of GapCause.literals) gaps(0, platform, cause)
  eventsSetAside(0, platform, "unstorable")
}

export const received = (platform: PlatformId, deliveries: number): Effect.Effect<void> =>
  Effect.sync(() => deliveriesReceived(deliveries, platform))

/** A batch is durable. `duplicates`: matches of it that were there already. `seconds`: how long the write took. */
export const stored = (
  platform: PlatformId,
  batch: {
    readonly deliveries: number
    readonly matches: number
    readonly duplicates: number
    readonly seconds: number
  }
): Effect.Effect<void> =>
  Effect.sync(() => {
    matchesStored(batch.matches, platform)
    matchesDuplicate(batch.duplicates, platform)
    batchDeliveries(batch.deliveries, platform)
    batchSeconds(batch.seconds, platform)
  })

/**
 * One event is durable. `sinceReceived`: seconds since it came in. `sinceEvent`: seconds since it happened, where it
 * says when; clocks differ, so it may be below 0. Not an effect: there are thousands a second.
 */
export const lagged = (
  platform: PlatformId,
  lag: { readonly sinceReceived: number; readonly sinceEvent?: number }
): void => {
  storeLag(lag.sinceReceived, platform)
  // The platform's own text became this number: one NaN would spoil the sum for ever.
  if (Number.isFinite(lag.sinceEvent)) eventLag(Math.max(lag.sinceEvent ?? 0, 0), platform)
}

/** An event is not stored as a match. `reason` is one of a few: it becomes a label. */
export const setAside = (platform: PlatformId, reason: string, events = 1): Effect.Effect<void> =>
  Effect.sync(() => eventsSetAside(events, platform, reason))

/** Records of the stream that were left out because they cannot be read. */
export const unreadable = (platform: PlatformId, records = 1): Effect.Effect<void> =>
  Effect.sync(() => recordsUnreadable(records, platform))

/** Deliveries that wait for the store now. */
export const queued = (platform: PlatformId, deliveries: number): Effect.Effect<void> =>
  Effect.sync(() => queueDepth(deliveries, platform))

/** A time begins that cannot be seen. `cause` is one of a few: it becomes a label. */
export const gap = (platform: PlatformId, cause: string): Effect.Effect<void> =>
  Effect.sync(() => gaps(1, platform, cause))

/** A connection ended, or there was none, and the next one is due. `cause` is one of a few: it becomes a label. */
export const reconnecting = (platform: PlatformId, cause: string): Effect.Effect<void> =>
  Effect.sync(() => reconnects(1, platform, cause))

export const streamIs = (platform: PlatformId, state: StreamState): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const one of StreamState.literals) streamState(one === state ? 1 : 0, platform, one)
  })

export const rulesAre = (
  platform: PlatformId,
  counts: { readonly wanted?: number; readonly missing?: number; readonly orphaned?: number }
): Effect.Effect<void> =>
  Effect.sync(() => {
    if (counts.wanted !== undefined) rulesWanted(counts.wanted, platform)
    if (counts.missing !== undefined) rulesMissing(counts.missing, platform)
    if (counts.orphaned !== undefined) rulesOrphaned(counts.orphaned, platform)
  })

/** Not an effect: requests are answered between effects. `route` is a path of ours, never what the caller sent. */
export const answered = (answer: {
  readonly route: string
  readonly status: number
  readonly seconds: number
}): void => {
  requests(1, answer.route, String(answer.status))
  requestSeconds(answer.seconds, answer.route)
}

/** Somebody begins or ends to listen for matches. */
export const listening = (door: LiveDoor, change: 1 | -1): Effect.Effect<void> =>
  Effect.sync(() => {
    openStreams[door] += change
    liveStreams(openStreams[door], door)
  })

export const built = (build: { readonly version: string; readonly runtime: string }): Effect.Effect<void> =>
  Effect.sync(() => buildInfo(1, build.version, build.runtime))

/** `cpu`: seconds since the last time it was told. `memory`: bytes. `startedAt`: seconds since 1970. */
export const processIs = (figures: {
  readonly startedAt: number
  readonly cpu: { readonly user: number; readonly system: number }
  readonly memory: { readonly resident: number; readonly heap: number; readonly external: number }
}): Effect.Effect<void> =>
  Effect.sync(() => {
    startTime(figures.startedAt)
    cpuSeconds(figures.cpu.user, "user")
    cpuSeconds(figures.cpu.system, "system")
    residentMemory(figures.memory.resident)
    heapMemory(figures.memory.heap)
    externalMemory(figures.memory.external)
  })

/** How much later than planned a timer fired, in seconds. */
export const eventLoopDelayed = (seconds: number): Effect.Effect<void> => Effect.sync(() => eventLoopDelay(seconds))

/** `outcome` is one of a few: it becomes a label. */
export const webhookAttempted = (outcome: string): Effect.Effect<void> => Effect.sync(() => webhookAttempts(1, outcome))

/** Spans reached the collector, or were given up. Not an effect: spans end outside of them, too. */
export const exported = (outcome: "sent" | "dropped", spans: number): void => spansExported(spans, outcome)

/** Where matches are handed out as they are stored. */
type LiveDoor = "sse" | "trpc"

// ---- helpers ----

/** Sets or adds, as the kind of the metric has it. */
type Series<Labels extends ReadonlyArray<string>> = (
  value: number,
  ...values: { readonly [Index in keyof Labels]: string }
) => void

const series = <Type, Out, const Labels extends ReadonlyArray<string>>(
  metric: Metric.Metric<Type, number, Out>,
  names: Labels
): Series<Labels> => {
  // Effect finds a series at no cost by the very array of labels that it has seen before.
  const known = new Map<string, ReadonlyArray<MetricLabel.MetricLabel>>()
  return (value, ...values) => {
    const key = values.join("\n")
    let labels = known.get(key)
    if (labels === undefined) {
      labels = names.map((name, index) => MetricLabel.make(name, values[index] ?? ""))
      known.set(key, labels)
    }
    metric.unsafeUpdate(value, labels)
  }
}

/** Its name ends in `_total`. */
const counter = <const Labels extends ReadonlyArray<string>>(name: string, description: string, ...labels: Labels) =>
  series(Metric.counter(PREFIX + name, { description, incremental: true }), labels)

const gauge = <const Labels extends ReadonlyArray<string>>(name: string, description: string, ...labels: Labels) =>
  series(Metric.gauge(PREFIX + name, { description }), labels)

const histogram = <const Labels extends ReadonlyArray<string>>(
  name: string,
  bounds: ReadonlyArray<number>,
  description: string,
  ...labels: Labels
) => series(Metric.histogram(PREFIX + name, MetricBoundaries.fromIterable(bounds), description), labels)

/** Bounds in seconds: of what should take milliseconds, and of what may take hours. */
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const SLOW = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400]
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]

const deliveriesReceived = counter(
  "deliveries_received_total",
  "Events that the platform delivered because they met a rule",
  "platform"
)
const matchesStored = counter("matches_stored_total", "Matches that are new in the store", "platform")
const matchesDuplicate = counter("matches_duplicate_total", "Matches that the store held already", "platform")
const eventsSetAside = counter(
  "events_set_aside_total",
  "Events that could not be stored as matches, by what was wrong with them",
  "platform",
  "reason"
)
const recordsUnreadable = counter(
  "records_unreadable_total",
  "Records of the stream that were left out because they cannot be read",
  "platform"
)
const batchDeliveries = histogram("batch_deliveries", SIZES, "Deliveries that were stored together", "platform")
const batchSeconds = histogram("batch_write_seconds", QUICK, "How long the store took for a batch", "platform")
const storeLag = histogram("store_lag_seconds", QUICK, "From when an event came in to when it was stored", "platform")
const eventLag = histogram("event_lag_seconds", SLOW, "From when an event happened to when it was stored", "platform")
const queueDepth = gauge("queue_deliveries", "Deliveries that wait for the store", "platform")

const reconnects = counter(
  "stream_reconnects_total",
  "Connections to the platform that ended or failed, each followed by the next, by cause",
  "platform",
  "cause"
)
const gaps = counter("coverage_gaps_total", "Times in which the platform could not be watched", "platform", "cause")
const streamState = gauge(
  "stream_state",
  "1 for the state that the stream is in, 0 for the others",
  "platform",
  "state"
)

const rulesWanted = gauge("rules_wanted", "Rules that the platform should hold for this server", "platform")
const rulesMissing = gauge(
  "rules_missing",
  "Rules that are wanted and that the platform did not take when it was last asked",
  "platform"
)
const rulesOrphaned = gauge(
  "rules_orphaned",
  "Rules of this server that nobody wants and that are still to be removed from the platform",
  "platform"
)

const requests = counter("http_requests_total", "Requests that were answered, by route and status", "route", "status")
const requestSeconds = histogram(
  "http_request_seconds",
  QUICK,
  "From when a request was read to when its answer was ready to be sent",
  "route"
)

const liveStreams = gauge("live_streams", "Clients that are told of matches as they are stored", "door")
const openStreams: Record<LiveDoor, number> = { sse: 0, trpc: 0 }
const webhookAttempts = counter(
  "webhook_attempts_total",
  "Messages to webhooks by what came of them; skipped: matches were deleted before they could be sent",
  "outcome"
)

const eventLoopDelay = histogram(
  "event_loop_delay_seconds",
  QUICK,
  "How much later than planned a timer fired: what anything else in the process waits for, too"
)
const cpuSeconds = counter("process_cpu_seconds_total", "CPU time of the process", "mode")
const residentMemory = gauge("process_resident_memory_bytes", "Memory that the process holds")
const heapMemory = gauge("process_heap_bytes", "Memory of JavaScript values in use")
const externalMemory = gauge("process_external_memory_bytes", "Memory of buffers and of compiled modules in use")
const startTime = gauge("process_start_time_seconds", "When the process started, in seconds since 1970")
const buildInfo = gauge("build_info", "Always 1: the labels say what runs", "version", "runtime")

const spansExported = counter("trace_spans_total", "Spans that were sent to the collector or dropped", "outcome")

liveStreams(0, "sse")
liveStreams(0, "trpc")
for (const outcome of ["delivered", "failed", "skipped"]) webhookAttempts(0, outcome)
