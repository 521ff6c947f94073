/** The live stream: connections of five minutes, one after the other, with nothing lost in between. */
import { Chunk, Clock, Effect, Either, type Option, Stream } from "effect"
import type { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { Signal } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import type { Budget } from "../http/Budget.ts"
import { type OpenAnswer, read, type Unreachable } from "../http/call.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import { lines } from "../http/lines.ts"
import type { StreamHealth } from "../http/StreamHealth.ts"
import { type SseEvent, sseEvents } from "../http/sse.ts"
import { Ended, type StreamItem, supervised } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { Place } from "./Place.ts"
import { failureOf, shortened, wordsOf } from "./problems.ts"
import { deliveryOf } from "./updates.ts"

export interface Watching {
  readonly upstream: Upstream
  /** Of connections. */
  readonly budget: Budget
  readonly known: KnownRules
  readonly health: StreamHealth
  readonly recent: RecentEvents["Type"]
  readonly digest: (text: string) => string
}

export const watch = (watching: Watching, from: Option.Option<string>): Stream.Stream<Signal> =>
  Stream.suspend(() => {
    const { upstream, budget, known, health, recent, digest } = watching
    const place = new Place(from)
    let placesRefused = 0
    let skipped = 0

    const broken = ({ reason }: Unreachable) =>
      new Ended({ kind: "cut", reason: `The connection failed: ${upstream.scrubbed(reason)}` })

    const notOpened = (answer: OpenAnswer) =>
      Effect.gen(function* () {
        const { text } = yield* Effect.orElseSucceed(read(answer), () => ({ text: "" }))
        const { status } = answer
        const failure = failureOf({ ...answer, text: upstream.scrubbed(text) }, yield* Clock.currentTimeMillis)
        const reason = failure.message
        if (failure._tag === "PlatformNotReady") {
          return yield* new Ended({ kind: "failed", reason, refusal: status === 402 ? "credit" : "not_configured" })
        }
        const id = status === 400 || status === 422 ? place.giveUp() : undefined
        if (id !== undefined) {
          placesRefused++
          yield* Effect.logWarning(
            `"firehose" does not go on after the event "${upstream.scrubbed(id)}": events of the last 24 hours may come again, and older ones may be lost`
          )
          return yield* new Ended({ kind: "failed", reason, waitMillis: doubling(SECOND, placesRefused, LONG_PAUSE) })
        }
        const { retryAfterSeconds } = failure
        return yield* new Ended({
          kind: status === 429 ? "limited" : "failed",
          reason,
          ...(retryAfterSeconds !== undefined && { waitMillis: retryAfterSeconds * SECOND })
        })
      })

    const connect = Effect.gen(function* () {
      const openedAt = yield* Clock.currentTimeMillis
      const { headers, query, ...made } = place.asked(openedAt)
      const answer = yield* upstream
        .open({
          path: "/v1/stream",
          query: { timeout: String(TIMEOUT_SECONDS), ...query },
          headers: { accept: "text/event-stream", ...headers }
        })
        .pipe(Effect.mapError(broken))
      if (answer.status !== 200) return yield* notOpened(answer)
      if ("last-event-id" in headers) placesRefused = 0

      let last: SseEvent | undefined
      const events = Stream.takeUntil(sseEvents(lines(answer.bytes)), (event) => {
        if (LAST.has(event.name)) last = event
        return last !== undefined
      })
      const ending = Stream.unwrap(
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (last === undefined) return Stream.empty
          const data = upstream.scrubbed(last.data)
          return Stream.fail(endedBy({ ...last, data }, now - openedAt))
        })
      )
      // Only now, or the stream would end for want of rules before it can say that Firehose has none.
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (last !== undefined && saysNoRules(last)) known.clear()
        })
      )
      const records = Stream.mapError(events, broken).pipe(Stream.concat(ending), Stream.interruptWhen(guard))
      return { records, ...made }
    })

    /** Outside of the connection, which may be given up with events in hand: those were not reached. */
    const take = (sightings: Chunk.Chunk<StreamItem<SseEvent>>) =>
      Effect.gen(function* () {
        const receivedAt = yield* Clock.currentTimeMillis
        const signals: Array<Signal> = []
        const payloads: Array<unknown> = []
        const unreadable: Array<string> = []
        for (const sighting of sightings) {
          if (sighting._tag !== "Record") {
            signals.push(sighting)
            continue
          }
          const event = sighting.record
          if (event.id !== undefined) place.reached(event.id)
          if (event.name !== "update") continue
          const found = deliveryOf(event, { digest, receivedAt })
          if (Either.isRight(found)) {
            signals.push({ _tag: "Event", delivery: found.right })
            payloads.push(found.right.payload)
          } else {
            unreadable.push(`${found.left}: "${shortened(upstream.scrubbed(event.data))}"`)
          }
        }
        if (unreadable.length > 0) {
          skipped += unreadable.length
          yield* Metrics.unreadable("firehose", unreadable.length)
          yield* Effect.logWarning(
            `Skipped ${unreadable.length} updates of "firehose" that cannot be read (${skipped} so far). The first: ${unreadable[0]}`
          )
        }
        if (payloads.length > 0) {
          yield* health.sawEvent
          yield* recent.record("firehose", payloads)
        }
        return Chunk.unsafeFromArray(signals)
      })

    const sightings = supervised({
      platform: "firehose",
      health,
      budget,
      known,
      connect,
      stableAfterMillis: GOOD_AFTER,
      pause
    })
    return Stream.chunks(sightings).pipe(Stream.mapEffect(take), Stream.filter(Chunk.isNonEmpty), Stream.flattenChunks)
  })

// ---- helpers ----

const SECOND = 1_000
const GOOD_AFTER = 10 * SECOND
const LONG_PAUSE = 300 * SECOND

/** The longest that Firehose allows. */
const TIMEOUT_SECONDS = 300
/** Firehose sends nothing while nothing matches: silence tells nothing before it should have said `end`. */
const GUARD_SECONDS = TIMEOUT_SECONDS * 1.2

const guard = Effect.zipRight(
  Effect.sleep(GUARD_SECONDS * SECOND),
  Effect.fail(new Ended({ kind: "stalled", reason: `It did not end the connection in ${GUARD_SECONDS} s` }))
)

/** Events that are the last of their connection. */
const LAST: ReadonlySet<string> = new Set(["end", "error"])

const saysNoRules = ({ name, data }: SseEvent): boolean =>
  name === "error" && /no rules configured/i.test(wordsOf(data) ?? "")

const endedBy = (last: SseEvent, livedMillis: number): Ended => {
  if (last.name === "end") {
    const reason = "The time of the connection was up"
    // At once; but not for one that ends as soon as it is opened, time and again.
    return new Ended({ kind: "planned", reason, ...(livedMillis >= GOOD_AFTER && { waitMillis: 0 }) })
  }
  const words = wordsOf(last.data) ?? "it gave no reason"
  return saysNoRules(last)
    ? new Ended({ kind: "unruled", reason: `It holds no rules: ${words}` })
    : new Ended({ kind: "failed", reason: `It ended the connection with an error: ${words}` })
}

const pause = ({ kind, refusal, waitMillis }: Ended, inARow: number): number => {
  if (waitMillis === 0) return 0
  const [first, most] = refusal !== undefined ? REFUSED : kind === "unruled" ? UNRULED : BROKEN
  // Also not sooner than this: who is told to come back in a second must not do so for ever.
  return Math.max(doubling(first, inARow, most), waitMillis ?? 0)
}

/** The first pause, and the longest. */
const BROKEN = [SECOND, 30 * SECOND] as const
const UNRULED = [5 * SECOND, LONG_PAUSE] as const
const REFUSED = [30 * SECOND, LONG_PAUSE] as const

const doubling = (first: number, inARow: number, most: number): number => Math.min(first * 2 ** (inARow - 1), most)
