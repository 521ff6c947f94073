/** Firehose's live stream: consecutive connections of five minutes, resumed without loss. */
import { Chunk, Clock, Effect, Either, Option, Stream } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { firehose } from "../../core/languages/firehose.ts"
import type { Signal } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { instantOf } from "../../core/text/json.ts"
import type { Budget } from "../http/Budget.ts"
import { lines, type OpenAnswer, read, type Unreachable } from "../http/call.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import { type SseEvent, sseEvents } from "../http/sse.ts"
import { Ended, exponential, type StreamItem, supervised } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { Position } from "./Position.ts"
import { failureOf, messageIn, oneLine } from "./problems.ts"
import { deliveryOf } from "./updates.ts"

export interface WatchOptions {
  readonly upstream: Upstream
  /** For connections. */
  readonly budget: Budget
  readonly known: KnownRules
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
  readonly digest: (text: string) => string
}

export const watch = (options: WatchOptions, from: Option.Option<string>): Stream.Stream<Signal> =>
  Stream.suspend(() => {
    const { upstream, budget, known, health, recent, digest } = options
    const position = new Position(from)
    let lastByteAt: number | undefined
    let openedAt = 0
    /** The time of the last update in the platform's order: in a replay, its own time. In milliseconds. */
    let readUntil: number | undefined
    /** The platform's clock is ahead of ours: its times say nothing. */
    let isClockAhead = false
    /** Events were missed, and may not all have been replayed. */
    let isReplaying = Option.isSome(from)
    let lastUpdateAt = 0
    let rejectedPositions = 0
    let skipped = 0

    const connectionFailed = ({ reason }: Unreachable) =>
      new Ended({ kind: "cut", reason: `The connection failed: ${upstream.scrubbed(reason)}` })

    const endedByAnswer = (answer: OpenAnswer) =>
      Effect.gen(function* () {
        const { text } = yield* Effect.orElseSucceed(read(answer), () => ({ text: "" }))
        const { status } = answer
        const failure = failureOf({ ...answer, text: upstream.scrubbed(text) }, yield* Clock.currentTimeMillis)
        const reason = failure.message
        if (failure._tag === "PlatformNotReady") {
          return yield* new Ended({ kind: "failed", reason, refusal: status === 402 ? "credit" : "not_configured" })
        }
        const id = status === 400 || status === 422 ? position.reset() : undefined
        if (id !== undefined) {
          rejectedPositions++
          yield* Effect.logWarning(
            `"firehose" cannot resume after event "${upstream.scrubbed(id)}": events of the last 24 hours may repeat, older ones may be lost`
          )
          const waitMillis = exponential(SECOND, rejectedPositions, MAX_BACKOFF)
          return yield* new Ended({ kind: "failed", reason, waitMillis })
        }
        const { retryAfterSeconds } = failure
        return yield* new Ended({
          kind: status === 429 ? "limited" : "failed",
          reason,
          ...(retryAfterSeconds !== undefined && { waitMillis: retryAfterSeconds * SECOND })
        })
      })

    const connect = Effect.gen(function* () {
      openedAt = yield* Clock.currentTimeMillis
      const { headers, query, ...window } = position.resume(openedAt)
      if (window.since === undefined) isReplaying = false
      const timeout = isReplaying ? REPLAY_TIMEOUT_SECONDS : TIMEOUT_SECONDS
      const answer = yield* upstream
        .open({
          path: "/v1/stream",
          query: { timeout: String(timeout), ...query },
          headers: { accept: "text/event-stream", ...headers }
        })
        .pipe(Effect.mapError(connectionFailed))
      if (answer.status !== 200) return yield* endedByAnswer(answer)
      if ("last-event-id" in headers) rejectedPositions = 0
      lastByteAt = yield* Clock.currentTimeMillis
      const bytes = Stream.tap(answer.bytes, () =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          lastByteAt = now
        })
      )

      let last: SseEvent | undefined
      const events = Stream.takeUntil(sseEvents(lines(bytes)), (event) => {
        if (finalEvents.has(event.name)) last = event
        return last !== undefined
      })
      const ending = Stream.unwrap(
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (last === undefined) return Stream.empty
          const data = upstream.scrubbed(last.data)
          return Stream.fail(endedBy({ ...last, data }, now - openedAt))
        })
      )
      // In a finalizer: an earlier clear would end the stream for lack of rules before it reports the reason.
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (last !== undefined && saysNoRules(last)) known.clear()
        })
      )
      const records = Stream.mapError(events, connectionFailed).pipe(
        Stream.concat(ending),
        Stream.interruptWhen(guard(timeout))
      )
      return { records, ...window }
    })

    /** Runs outside of the connection: events that a closed connection still holds must not advance the position. */
    const signalsOf = (items: Chunk.Chunk<StreamItem<SseEvent>>) =>
      Effect.gen(function* () {
        const receivedAt = yield* Clock.currentTimeMillis
        const signals: Array<Signal> = []
        const payloads: Array<unknown> = []
        const unreadable: Array<string> = []
        const caughtUp = () => {
          if (isReplaying) signals.push({ _tag: "CaughtUp", at: receivedAt })
          isReplaying = false
        }
        for (const item of items) {
          if (item._tag !== "Record") {
            if (item._tag === "GapStarted") isReplaying = true
            signals.push(item)
            continue
          }
          const event = item.record
          if (event.id !== undefined) position.advance(event.id)
          // Without keep-alives, only the end shows that the connection was not stalled since the last update.
          if (event.name === "end") {
            signals.push({ _tag: "Alive", at: receivedAt })
            if (receivedAt - Math.max(openedAt, lastUpdateAt) >= REPLAY_SILENCE_MILLIS) caughtUp()
          }
          if (event.name !== "update") continue
          lastUpdateAt = receivedAt
          const found = deliveryOf(event, { digest, receivedAt })
          if (Either.isRight(found)) {
            signals.push({ _tag: "Event", delivery: found.right })
            const happenedAt = firehose.events.timeOf(found.right.payload) ?? receivedAt
            isClockAhead ||= happenedAt > receivedAt + SECOND
            readUntil = happenedAt < openedAt && !isClockAhead ? happenedAt : receivedAt
            if (happenedAt >= openedAt + SECOND && !isClockAhead) caughtUp()
            if (found.right.damaged === undefined) payloads.push(found.right.payload)
          } else {
            const detail = `The platform sent an update that cannot be read: ${found.left}`
            const matchedAt = matchedAtIn(event.data) ?? Number.NEGATIVE_INFINITY
            isClockAhead ||= matchedAt > receivedAt + SECOND
            const from = Math.max(readUntil ?? receivedAt, isClockAhead ? 0 : matchedAt - SECOND)
            signals.push({ _tag: "Lost", from, to: receivedAt, cause: "unreadable", detail })
            unreadable.push(`${found.left}: "${oneLine(upstream.scrubbed(event.data))}"`)
          }
        }
        if (unreadable.length > 0) {
          skipped += unreadable.length
          yield* Metrics.unreadable("firehose", unreadable.length)
          yield* Effect.logWarning(
            `Skipped ${unreadable.length} unreadable updates of "firehose" (${skipped} so far). The first: ${unreadable[0]}`
          )
        }
        if (payloads.length > 0) {
          yield* health.sawEvent
          yield* recent.record("firehose", payloads)
        }
        return Chunk.unsafeFromArray(signals)
      })

    const items = supervised({
      platform: "firehose",
      health,
      budget,
      known,
      lastSignAt: () => lastByteAt,
      connect,
      stableAfterMillis: STABLE_AFTER_MILLIS,
      backoff
    })
    return Stream.chunks(items).pipe(Stream.mapEffect(signalsOf), Stream.filter(Chunk.isNonEmpty), Stream.flattenChunks)
  })

// ---- helpers ----

const SECOND = 1_000
const STABLE_AFTER_MILLIS = 10 * SECOND
const MAX_BACKOFF = 300 * SECOND

/** The maximum that Firehose allows. */
const TIMEOUT_SECONDS = 300
/** Shorter, because without new updates only the end shows that all was replayed. */
const REPLAY_TIMEOUT_SECONDS = 30
/** After so long without an update the replay is over. */
const REPLAY_SILENCE_MILLIS = 5 * SECOND

/** Firehose may send nothing without matches: only an overdue `end` shows a stall. */
const guard = (timeoutSeconds: number) => {
  const seconds = timeoutSeconds * 1.2
  const reason = `The platform did not end the connection within ${seconds} s`
  return Effect.zipRight(Effect.sleep(seconds * SECOND), Effect.fail(new Ended({ kind: "stalled", reason })))
}

/** Events that end a connection. */
const finalEvents: ReadonlySet<string> = new Set(["end", "error"])

/** Of a torn update: the time stands near its start. */
const matchedAtIn = (text: string): number | undefined => instantOf(/"matched_at":"([^"]{1,40})"/.exec(text)?.[1])

const saysNoRules = ({ name, data }: SseEvent): boolean =>
  name === "error" && /no rules configured/i.test(messageIn(data) ?? "")

const endedBy = (last: SseEvent, livedMillis: number): Ended => {
  if (last.name === "end") {
    const reason = "The connection reached its time limit"
    // No wait, unless the connection ended right after it was opened.
    return new Ended({ kind: "planned", reason, ...(livedMillis >= STABLE_AFTER_MILLIS && { waitMillis: 0 }) })
  }
  const message = messageIn(last.data) ?? "it gave no reason"
  return saysNoRules(last)
    ? new Ended({ kind: "unruled", reason: `The platform holds no rules: ${message}` })
    : new Ended({ kind: "failed", reason: `The platform ended the connection with an error: ${message}` })
}

const backoff = ({ kind, refusal, waitMillis }: Ended, inARow: number): number => {
  if (waitMillis === 0) return 0
  const [first, max] = refusal !== undefined ? refusedBackoff : kind === "unruled" ? noRulesBackoff : failureBackoff
  // The backoff still applies when Firehose asks for a short wait, or we would retry every second forever.
  return Math.max(exponential(first, inARow, max), waitMillis ?? 0)
}

/** The first wait and the longest. */
const failureBackoff = [SECOND, 30 * SECOND] as const
const noRulesBackoff = [5 * SECOND, MAX_BACKOFF] as const
const refusedBackoff = [30 * SECOND, MAX_BACKOFF] as const
