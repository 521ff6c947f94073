/** All metrics of the service, and functions to update them. They are global to the process. */
import { Effect, Metric, MetricBoundaries, MetricLabel } from "effect"
import type { PlatformId } from "../model/PlatformId.ts"
import { GapCause, StreamState } from "../platforms/Platform.ts"

/** Tells our metrics from Effect's own. */
export const PREFIX = "earshot_"

/** Creates the platform's counters: one that does not exist before its first event gives a wrong rate. */
export const startAtZero = (platform: PlatformId): void => {
  for (const counter of [deliveriesReceived, matchesStored, matchesDuplicate, recordsUnreadable]) counter(0, platform)
  for (const cause of GapCause.literals) gaps(0, platform, cause)
  eventsDeadLettered(0, platform, "unstorable")
}

export const received = (platform: PlatformId, deliveries: number): Effect.Effect<void> =>
  Effect.sync(() => deliveriesReceived(deliveries, platform))

/** After a batch is durable. `duplicates`: matches that were already stored. `seconds`: duration of the write. */
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
 * After an event is durable. In seconds since it was received, and since it happened. `sinceEvent` can be negative
 * because of clock skew. Not an effect, for speed.
 */
export const observeLag = (
  platform: PlatformId,
  lag: { readonly sinceReceived: number; readonly sinceEvent?: number }
): void => {
  storeLag(lag.sinceReceived, platform)
  // Parsed from the platform's text: one NaN would make the sum NaN.
  if (Number.isFinite(lag.sinceEvent)) eventLag(Math.max(lag.sinceEvent ?? 0, 0), platform)
}

/** `reason` becomes a label: use few values. */
export const deadLettered = (platform: PlatformId, reason: string, events = 1): Effect.Effect<void> =>
  Effect.sync(() => eventsDeadLettered(events, platform, reason))

export const unreadable = (platform: PlatformId, records = 1): Effect.Effect<void> =>
  Effect.sync(() => recordsUnreadable(records, platform))

/** The current queue length. */
export const queued = (platform: PlatformId, deliveries: number): Effect.Effect<void> =>
  Effect.sync(() => {
    queueLengths.set(platform, deliveries)
    if (isStoreUp) queueDepth(deliveries, platform)
  })

/** While the store is down, the gauges that depend on it are absent: their last values may be wrong. */
export const setStoreUp = (isUp: boolean): Effect.Effect<void> =>
  Effect.sync(() => {
    isStoreUp = isUp
    storeUp(isUp ? 1 : 0)
    if (isUp) for (const [platform, deliveries] of queueLengths) queueDepth(deliveries, platform)
    else for (const { forget } of storeGauges) forget()
  })

/** When a gap opens. `cause` becomes a label: use few values. */
export const gap = (platform: PlatformId, cause: string): Effect.Effect<void> =>
  Effect.sync(() => gaps(1, platform, cause))

/** When a connection ended or failed. `cause` becomes a label: use few values. */
export const reconnecting = (platform: PlatformId, cause: string): Effect.Effect<void> =>
  Effect.sync(() => reconnects(1, platform, cause))

/** Undefined: not known. */
export const setStreamState = (platform: PlatformId, state: StreamState | undefined): Effect.Effect<void> =>
  Effect.sync(() => {
    if (state === undefined) return streamState.forget(platform)
    for (const each of StreamState.literals) streamState(each === state ? 1 : 0, platform, each)
  })

/** Undefined: not known. */
export const setRulesWanted = (platform: PlatformId, wanted: number | undefined): Effect.Effect<void> =>
  Effect.sync(() => (wanted === undefined ? rulesWanted.forget(platform) : rulesWanted(wanted, platform)))

/** Of the last comparison. Undefined: not known. */
export const setDrift = (
  platform: PlatformId,
  drift: { readonly missing: number; readonly orphaned: number; readonly newer: number } | undefined
): Effect.Effect<void> =>
  Effect.sync(() => {
    if (drift === undefined) for (const { forget } of [rulesMissing, rulesOrphaned, rulesNewer]) forget(platform)
    else {
      rulesMissing(drift.missing, platform)
      rulesOrphaned(drift.orphaned, platform)
      rulesNewer(drift.newer, platform)
    }
  })

/** With several servers: which one watches the platform. Undefined: not known. */
export const setOwner = (
  platform: PlatformId,
  owner: { readonly server: string; readonly epoch: number; readonly isAlive: boolean } | undefined
): Effect.Effect<void> =>
  Effect.sync(() => {
    if (owner === undefined) {
      for (const { forget } of [streamOwner, streamOwned, streamEpoch]) forget(platform)
      return
    }
    const former = owners.get(platform)
    if (former !== undefined && former !== owner.server) streamOwner(0, platform, former)
    owners.set(platform, owner.server)
    streamOwner(1, platform, owner.server)
    streamOwned(owner.isAlive ? 1 : 0, platform)
    streamEpoch(owner.epoch, platform)
  })

/** Undefined: not known. */
export const setServers = (alive: number | undefined): Effect.Effect<void> =>
  Effect.sync(() => (alive === undefined ? servers.forget() : servers(alive)))

/** Messages that wait for their webhooks, and webhooks that are disabled. Undefined: not known. */
export const setWebhookBacklog = (
  backlog: { readonly messages: number; readonly oldestSeconds: number; readonly disabled: number } | undefined
): Effect.Effect<void> =>
  Effect.sync(() => {
    if (backlog === undefined) for (const { forget } of [webhookMessages, webhookAge, webhooksDisabled]) forget()
    else {
      webhooksDisabled(backlog.disabled)
      webhookMessages(backlog.messages)
      webhookAge(backlog.oldestSeconds)
    }
  })

/** Of the present month. Undefined: not known. */
export const setBudget = (
  platform: PlatformId,
  budget: { readonly limit?: number; readonly used: number; readonly paused: number } | undefined
): Effect.Effect<void> =>
  Effect.sync(() => {
    if (budget === undefined) {
      for (const { forget } of [budgetUsed, budgetLimit, rulesPaused]) forget(platform)
      return
    }
    budgetUsed(budget.used, platform)
    if (budget.limit !== undefined) budgetLimit(budget.limit, platform)
    rulesPaused(budget.paused, platform)
  })

/** `route` is one of our paths, never the caller's text. Not an effect: the HTTP handler runs outside of Effect. */
export const answered = (answer: {
  readonly route: string
  readonly status: number
  readonly seconds: number
}): void => {
  requests(1, answer.route, String(answer.status))
  requestSeconds(answer.seconds, answer.route)
}

export const changeLiveStreams = (transport: LiveTransport, change: 1 | -1): Effect.Effect<void> =>
  Effect.sync(() => {
    openStreams[transport] += change
    liveStreams(openStreams[transport], transport)
  })

export const setBuildInfo = (build: { readonly version: string; readonly runtime: string }): Effect.Effect<void> =>
  Effect.sync(() => buildInfo(1, build.version, build.runtime))

/** `cpu`: seconds since the last call. `memory`: bytes. `startedAt`: seconds since 1970. */
export const setProcessStats = (figures: {
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

export const eventLoopDelayed = (seconds: number): Effect.Effect<void> => Effect.sync(() => eventLoopDelay(seconds))

/** `outcome` becomes a label: use few values. */
export const webhookAttempted = (outcome: string): Effect.Effect<void> => Effect.sync(() => webhookAttempts(1, outcome))

/** Not an effect: spans can end outside of Effect. */
export const exported = (outcome: "sent" | "dropped", spans: number): void => spansExported(spans, outcome)

/** The value of a gauge that is left out of the metrics. Effect cannot remove a metric. */
export const UNKNOWN = Number.NaN

type LiveTransport = "sse" | "trpc"

// ---- helpers ----

interface Series<Labels extends ReadonlyArray<string>> {
  (value: number, ...values: { readonly [Index in keyof Labels]: string }): void
  /** Of a gauge: its value is not known any more, for all labels or those that begin with this one. */
  readonly forget: (first?: string) => void
}

const series = <Type, Out, const Labels extends ReadonlyArray<string>>(
  metric: Metric.Metric<Type, number, Out>,
  names: Labels
): Series<Labels> => {
  // Effect looks up a series fast if it gets the same array of labels again.
  const known = new Map<string, ReadonlyArray<MetricLabel.MetricLabel>>()
  const update = (value: number, ...values: { readonly [Index in keyof Labels]: string }) => {
    const key = values.join("\n")
    let labels = known.get(key)
    if (labels === undefined) {
      labels = names.map((name, index) => MetricLabel.make(name, values[index] ?? ""))
      known.set(key, labels)
    }
    metric.unsafeUpdate(value, labels)
  }
  const forget = (first?: string) => {
    for (const labels of known.values()) {
      if (first === undefined || labels[0]?.value === first) metric.unsafeUpdate(UNKNOWN, labels)
    }
  }
  return Object.assign(update, { forget })
}

/** `name` must end in `_total`. */
const counter = <const Labels extends ReadonlyArray<string>>(name: string, description: string, ...labels: Labels) =>
  series(Metric.counter(PREFIX + name, { description, incremental: true }), labels)

const gauge = <const Labels extends ReadonlyArray<string>>(name: string, description: string, ...labels: Labels) =>
  series(Metric.gauge(PREFIX + name, { description }), labels)

/** Absent while the store is down. */
const storeGauge = <const Labels extends ReadonlyArray<string>>(
  name: string,
  description: string,
  ...labels: Labels
) => {
  const made = gauge(name, description, ...labels)
  storeGauges.push(made)
  return made
}
const storeGauges: Array<{ readonly forget: () => void }> = []

const histogram = <const Labels extends ReadonlyArray<string>>(
  name: string,
  bounds: ReadonlyArray<number>,
  description: string,
  ...labels: Labels
) => series(Metric.histogram(PREFIX + name, MetricBoundaries.fromIterable(bounds), description), labels)

/** In seconds. */
const quickBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const slowBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400]
const sizeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]

const deliveriesReceived = counter(
  "deliveries_received_total",
  "Events that the platform delivered because they matched a rule",
  "platform"
)
const matchesStored = counter("matches_stored_total", "New matches in the store", "platform")
const matchesDuplicate = counter("matches_duplicate_total", "Matches that were already stored", "platform")
const eventsDeadLettered = counter(
  "events_set_aside_total",
  "Dead letters: events that could not be stored, by reason",
  "platform",
  "reason"
)
const recordsUnreadable = counter(
  "records_unreadable_total",
  "Stream records that could not be parsed, or that do not say which rules they meet",
  "platform"
)
const batchDeliveries = histogram("batch_deliveries", sizeBounds, "Deliveries per batch", "platform")
const batchSeconds = histogram("batch_write_seconds", quickBounds, "Duration of writing a batch", "platform")
const storeLag = histogram("store_lag_seconds", quickBounds, "Time from receiving an event to storing it", "platform")
const eventLag = histogram("event_lag_seconds", slowBounds, "Time from an event to storing it", "platform")
const queueDepth = storeGauge("queue_deliveries", "Deliveries that wait for the store", "platform")

const queueLengths = new Map<PlatformId, number>()
let isStoreUp = true
const storeUp = gauge("store_up", "1 if the store answers this server within two seconds, otherwise 0")

const reconnects = counter(
  "stream_reconnects_total",
  "Connections to the platform that ended or failed, by cause",
  "platform",
  "cause"
)
const gaps = counter("coverage_gaps_total", "Periods in which the platform was not watched", "platform", "cause")
const streamState = storeGauge(
  "stream_state",
  "1 for the current state of the stream, 0 for the others",
  "platform",
  "state"
)

/** The last known owner of each stream. */
const owners = new Map<PlatformId, string>()
const streamOwner = storeGauge(
  "stream_owner",
  "1 for the server that watches the platform, 0 for the one before it",
  "platform",
  "server"
)
const streamOwned = storeGauge(
  "stream_owned",
  "1 if the server that watches the platform is alive, otherwise 0",
  "platform"
)
const streamEpoch = storeGauge("stream_epoch", "How many owners the stream has had", "platform")
const servers = storeGauge("servers", "Servers on this store that are alive")

const rulesWanted = storeGauge("rules_wanted", "Rules that the platform should hold for this server", "platform")
const rulesMissing = storeGauge(
  "rules_missing",
  "Wanted rules that the platform did not accept in the last comparison",
  "platform"
)
const rulesOrphaned = storeGauge(
  "rules_orphaned",
  "Unused rules of this server that are still to be removed from the platform",
  "platform"
)

const rulesNewer = storeGauge(
  "rules_newer",
  "Rules on the platform that a newer copy of this store made, left alone by this server",
  "platform"
)

const rulesPaused = storeGauge("rules_paused", "Rules that are paused for the monthly budget", "platform")
const budgetUsed = storeGauge(
  "budget_used_posts",
  "Posts received in this month, of a platform that charges",
  "platform"
)
const budgetLimit = storeGauge("budget_limit_posts", "Posts that the platform may deliver per month", "platform")

const requests = counter("http_requests_total", "HTTP requests by route and status", "route", "status")
const requestSeconds = histogram(
  "http_request_seconds",
  quickBounds,
  "Time from reading a request to having its response ready",
  "route"
)

const liveStreams = gauge("live_streams", "Clients that receive matches live", "door")
const openStreams: Record<LiveTransport, number> = { sse: 0, trpc: 0 }
const webhookAttempts = counter(
  "webhook_attempts_total",
  "Messages to webhooks by outcome; skipped: matches were deleted before they were sent",
  "outcome"
)

const webhookMessages = storeGauge(
  "webhook_waiting_messages",
  "Messages that wait for their webhooks, without disabled webhooks; at most 1,000 are counted per webhook, rule and platform"
)
const webhookAge = storeGauge("webhook_waiting_seconds", "Age of the oldest message that waits for its webhook")
const webhooksDisabled = storeGauge("webhooks_disabled", "Webhooks that are disabled because their messages failed")

const eventLoopDelay = histogram("event_loop_delay_seconds", quickBounds, "How late a timer fired")
const cpuSeconds = counter("process_cpu_seconds_total", "CPU time of the process", "mode")
const residentMemory = gauge("process_resident_memory_bytes", "Memory that the process holds")
const heapMemory = gauge("process_heap_bytes", "JavaScript heap in use")
const externalMemory = gauge("process_external_memory_bytes", "Memory of buffers and compiled modules")
const startTime = gauge("process_start_time_seconds", "When the process started, in seconds since 1970")
const buildInfo = gauge("build_info", "Always 1: the labels hold the version and runtime", "version", "runtime")

const spansExported = counter("trace_spans_total", "Spans that were sent to the collector or dropped", "outcome")

liveStreams(0, "sse")
liveStreams(0, "trpc")
for (const outcome of ["delivered", "failed", "skipped"]) webhookAttempts(0, outcome)
