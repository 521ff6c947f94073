/** The stream of recent changes: consecutive connections of 15 minutes, resumed without loss. */
import { Chunk, Clock, Effect, Either, type Option, Schedule, Stream } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { wikimedia } from "../../core/languages/wikimedia.ts"
import type { StoreUnavailable } from "../../core/model/Errors.ts"
import type { Signal } from "../../core/platforms/Platform.ts"
import { isCanary } from "../../core/syntax/wikimedia/change.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import { isTooDeep, type JsonObject, jsonOf, MAX_DEPTH, numberOf, objectOf, textOf } from "../../core/text/json.ts"
import { numberProblem } from "../../core/text/numbers.ts"
import { truncated } from "../../core/text/truncated.ts"
import { inTurns, yieldRegularly } from "../../core/work/turns.ts"
import type { Budget } from "../http/Budget.ts"
import { lines, type OpenAnswer, open, read, type Unreachable } from "../http/call.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import { noConnection } from "../http/reasons.ts"
import { retryAfterMillis } from "../http/retryAfter.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import { type SseEvent, sseEvents } from "../http/sse.ts"
import { Ended, exponential, type StreamItem, supervised } from "../http/supervised.ts"
import type { HeldRules } from "../local/HeldRules.ts"
import { KnownIds } from "./KnownIds.ts"
import { Position } from "./Position.ts"

export interface WatchOptions {
  readonly baseUrl: string
  readonly contact: string
  /** For connections. */
  readonly budget: Budget
  readonly known: KnownRules
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
  readonly digest: (text: string) => string
  readonly match: HeldRules["match"]
  /** Of events whose matches are stored. */
  readonly stored: KnownIds
  readonly load: Effect.Effect<void, StoreUnavailable>
  readonly unload: Effect.Effect<void>
}

export const watch = (options: WatchOptions, from: Option.Option<string>): Stream.Stream<Signal> =>
  Stream.suspend(() => {
    const { budget, known, health, recent, digest, match, stored, contact } = options
    const baseUrl = options.baseUrl.replace(/\/+$/, "")
    const position = new Position(from)
    const received = new KnownIds(stored.all)
    let lastByteAt: number | undefined
    let openedAt = 0
    let aliveAt = 0
    let skipped = 0
    /** Of this connection: what has been seen of each topic and partition. */
    let offsets = new Map<string, { readonly offset: number; readonly at: number }>()
    /** The last event before this connection. It comes again if the platform replays everything since then. */
    let awaited: { readonly id: string; readonly at: number } | undefined
    /** A gap is open until the replay has passed the time of the connection, by the clock of the platform. */
    let isReplaying = position.last !== undefined
    let replayedAt = 0

    const ended = (reason: string, now: number): Ended => {
      const isPlanned = now - openedAt >= PLANNED_AFTER_MILLIS
      return isPlanned
        ? new Ended({ kind: "planned", reason: "The connection reached its time limit", waitMillis: 0 })
        : new Ended({ kind: "cut", reason })
    }

    const endedByAnswer = (answer: OpenAnswer) =>
      Effect.gen(function* () {
        const { status, headers } = answer
        const { text } = yield* Effect.orElseSucceed(read(answer), () => ({ text: "" }))
        const message = truncated(text.replace(/\s+/g, " ").trim(), 200)
        const reason = `The platform answered with status ${status}${message === "" ? "" : `: ${message}`}`
        if (status === 403) {
          const detail = `${reason}. It refuses clients without a contact: check EARSHOT_WIKIMEDIA_CONTACT`
          return yield* new Ended({ kind: "failed", reason: detail, refusal: "not_configured" })
        }
        if ((status === 400 || status === 404) && position.reject()) {
          yield* Effect.logWarning(`"wikimedia" does not accept the position; the stream resumes by time: ${reason}`)
        }
        const millis = retryAfterMillis(headers.get("retry-after"), yield* Clock.currentTimeMillis)
        return yield* new Ended({
          kind: status === 429 ? "limited" : "failed",
          reason,
          ...(millis !== undefined && { waitMillis: Math.max(0, millis) })
        })
      })

    const connect = Effect.gen(function* () {
      openedAt = yield* Clock.currentTimeMillis
      const { headers, query, ...window } = position.resume()
      const request = yield* Effect.try({
        try: () =>
          new Request(`${baseUrl}/v2/stream/recentchange${query}`, {
            headers: {
              ...headers,
              accept: "text/event-stream",
              "accept-encoding": "identity",
              "user-agent": `Earshot/0.1 (${contact})`
            }
          }),
        catch: () => new Ended({ kind: "failed", reason: "The base URL or the contact is not valid" })
      })
      const answer = yield* Effect.mapError(
        open(request),
        ({ reason }) => new Ended({ kind: "cut", reason: noConnection(baseUrl, reason) })
      )
      if (answer.status !== 200) return yield* endedByAnswer(answer)
      const now = yield* Clock.currentTimeMillis
      lastByteAt = now
      offsets = new Map()
      awaited = position.last
      replayedAt = Date.parse(answer.headers.get("date") ?? "") || now
      const clock = yield* Effect.clock
      const failed = (error: Unreachable | Ended) =>
        error._tag === "Ended"
          ? error
          : ended(`The connection failed: ${error.reason}`, clock.unsafeCurrentTimeMillis())
      const bytes = answer.bytes.pipe(
        Stream.timeoutFail(
          () => new Ended({ kind: "stalled", reason: `No change came for ${STALLED_AFTER_SECONDS} s` }),
          STALLED_AFTER_SECONDS * SECOND
        ),
        Stream.mapError(failed),
        Stream.tap(() =>
          Effect.map(Clock.currentTimeMillis, (at) => {
            lastByteAt = at
          })
        )
      )
      const closed = Effect.flatMap(Clock.currentTimeMillis, (at) => ended("The platform closed the connection", at))
      return { records: Stream.concat(sseEvents(lines(bytes)), Stream.fromEffect(closed)), ...window }
    })

    /** What the offsets and the repeated event say about the events before this one. */
    const evidenceOf = (meta: JsonObject, at: number): ReadonlyArray<Signal> => {
      const signals: Array<Signal> = []
      const topic = textOf(meta["topic"])
      const offset = numberOf(meta["offset"])
      if (topic !== undefined && offset !== undefined) {
        const key = `${topic} ${numberOf(meta["partition"]) ?? 0}`
        const last = offsets.get(key)
        if (last !== undefined && offset > last.offset + 1) {
          const detail = `${offset - last.offset - 1} changes are missing in ${topic} before offset ${offset}`
          isReplaying = false
          signals.push({ _tag: "Lost", cause: "stall", from: Math.min(last.at, at), to: at, detail })
        }
        if (last === undefined || offset > last.offset) offsets.set(key, { offset, at })
      }
      if (awaited !== undefined && textOf(meta["id"]) === awaited.id) awaited = undefined
      if (awaited !== undefined && at > awaited.at + OVERLAP_MILLIS) {
        const detail = "The platform did not send again what came last before the connection ended"
        signals.push({ _tag: "Suspected", from: awaited.at, to: at, detail })
        awaited = undefined
        isReplaying = false
      }
      return signals
    }

    const signalsOfEvent = (event: SseEvent, receivedAt: number, yieldIfDue: Effect.Effect<void>) =>
      Effect.gen(function* () {
        const signals: Array<Signal> = []
        const isTooLong = event.data.length > MAX_LENGTH
        const change = isTooLong ? undefined : objectOf(jsonOf(event.data))
        const problem = isTooLong
          ? `Longer than ${MAX_LENGTH} characters`
          : change === undefined
            ? "Not a JSON object"
            : isTooDeep(change)
              ? `Nested more than ${MAX_DEPTH} levels deep`
              : ""
        const id = change === undefined || problem !== "" ? Either.left(problem) : wikimedia.events.idOf(change, digest)
        if (change === undefined || Either.isLeft(id)) {
          const reason = Either.isLeft(id) ? id.left : problem
          const detail = `The platform sent a change that cannot be read: ${reason}`
          const since = position.last?.at ?? receivedAt
          signals.push({ _tag: "Lost", cause: "unreadable", from: Math.min(since, receivedAt), to: receivedAt, detail })
          isReplaying = false
          return { signals, payload: undefined, unreadable: `${reason}: "${truncated(event.data, 200)}"` }
        }
        const happenedAt = wikimedia.events.timeOf(change) ?? receivedAt
        const isNew = received.add(id.right)
        const at = position.advance(event.id, { id: id.right, at: happenedAt })
        signals.push(...evidenceOf(objectOf(change["meta"]) ?? {}, at))
        if (isReplaying && at >= replayedAt && awaited === undefined) {
          isReplaying = false
          signals.push({ _tag: "CaughtUp", at: receivedAt })
        }
        if (!isNew || isCanary(change)) return { signals, payload: undefined }
        const fields = wikimedia.events.read(change, receivedAt)
        if (Either.isLeft(fields)) return { signals, payload: undefined }
        const platformRuleIds = yield* inTurns(match(fields.right), yieldIfDue)
        const reason = numberProblem(event.data)
        if (platformRuleIds.length > 0) {
          const platformPostId = id.right
          signals.push({
            _tag: "Event",
            delivery: {
              platformPostId,
              payload: change,
              ...(reason !== undefined && { damaged: { reason, text: event.data } }),
              platformRuleIds,
              cursor: position.cursor,
              receivedAt,
              ack: Effect.sync(() => void stored.add(platformPostId))
            }
          })
        }
        return { signals, payload: reason === undefined ? change : undefined }
      })

    /** Runs outside of the connection: events that a closed connection still holds must not advance the position. */
    const signalsOf = (items: Chunk.Chunk<StreamItem<SseEvent>>) =>
      Effect.gen(function* () {
        const receivedAt = yield* Clock.currentTimeMillis
        const signals: Array<Signal> = []
        const payloads: Array<unknown> = []
        const unreadable: Array<string> = []
        const yieldIfDue = yield* yieldRegularly
        for (const item of items) {
          if (item._tag !== "Record") {
            if (item._tag === "GapStarted") isReplaying = true
            if (item._tag === "Watching" && item.since >= item.at) isReplaying = false
            signals.push(item)
            continue
          }
          if (item.record.data === "") continue
          yield* yieldIfDue
          const found = yield* signalsOfEvent(item.record, receivedAt, yieldIfDue)
          signals.push(...found.signals)
          if (found.payload !== undefined) payloads.push(found.payload)
          if ("unreadable" in found) unreadable.push(found.unreadable ?? "")
          if (receivedAt - aliveAt >= ALIVE_MILLIS) {
            aliveAt = receivedAt
            signals.push({ _tag: "Alive", at: receivedAt, cursor: position.cursor })
          }
        }
        if (unreadable.length > 0) {
          skipped += unreadable.length
          yield* Metrics.unreadable("wikimedia", unreadable.length)
          yield* Effect.logWarning(
            `Skipped ${unreadable.length} unreadable changes of "wikimedia" (${skipped} so far). The first: ${unreadable[0]}`
          )
        }
        if (payloads.length > 0) {
          yield* health.sawEvent
          yield* recent.record("wikimedia", payloads)
        }
        return Chunk.unsafeFromArray(signals)
      })

    const items = supervised({
      platform: "wikimedia",
      health,
      budget,
      known,
      lastSignAt: () => lastByteAt,
      connect,
      stableAfterMillis: STABLE_AFTER_MILLIS,
      backoff
    })
    const load = Effect.retry(options.load, Schedule.spaced("1 second")).pipe(Effect.orDie)
    return Stream.concat(Stream.drain(Stream.fromEffect(load)), items).pipe(
      Stream.chunks,
      Stream.mapEffect(signalsOf),
      Stream.filter(Chunk.isNonEmpty),
      Stream.flattenChunks,
      Stream.ensuring(options.unload)
    )
  })

// ---- helpers ----

const SECOND = 1_000
const STABLE_AFTER_MILLIS = 10 * SECOND

/** The platform ends connections after 15 minutes. */
const PLANNED_AFTER_MILLIS = 14 * 60 * SECOND

/** There are at least 30 changes per second. */
const STALLED_AFTER_SECONDS = 60

/** How far behind the event that is to come again others may be. */
const OVERLAP_MILLIS = 10 * SECOND

const ALIVE_MILLIS = 5 * SECOND

/** Far above any change. To parse a longer one would take too much time at once. */
const MAX_LENGTH = 128 * 1_024

const backoff = ({ refusal, waitMillis }: Ended, inARow: number): number => {
  if (waitMillis === 0) return 0
  const [first, max] = refusal === undefined ? [SECOND, 60 * SECOND] : [30 * SECOND, 300 * SECOND]
  return Math.max(exponential(first, inARow, max), waitMillis ?? 0)
}
