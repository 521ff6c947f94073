/** Recovery: a second connection that replays the posts of a past gap and then ends, where the plan has it. */
import { Chunk, Clock, Data, Effect, Option, Stream } from "effect"
import { DAY_MILLIS } from "../../core/model/Timestamp.ts"
import type { Period } from "../../core/platforms/Platform.ts"
import type { Budget } from "../http/Budget.ts"
import { lines, type OpenAnswer, read } from "../http/call.ts"
import type { Ended } from "../http/supervised.ts"
import type { Upstream } from "../http/Upstream.ts"
import { endedByAnswer, endedByNetwork, endedInStream } from "./endings.ts"
import { applyRateLimit } from "./limits.ts"
import { readLine } from "./records.ts"

/** The posts of the period are not all recovered: some may have come, repeated ones are harmless. */
export class NotRecovered extends Data.TaggedError("NotRecovered")<{
  readonly reason: string
  /** The plan has no recovery: later ones fail too. */
  readonly isFinal: boolean
  /** How long X asks to wait. */
  readonly waitMillis?: number
}> {
  override get message() {
    return this.reason
  }
}

export class Recovery {
  private readonly upstream: Upstream
  private readonly budget: Budget
  private readonly fields: Readonly<Record<string, string>>
  private readonly oneAtATime = Effect.unsafeMakeSemaphore(1)
  private openSince: number | undefined
  private isInPlan = true

  /** `budget`: of connections, shared with the stream. `fields`: of the stream's query. */
  constructor(options: {
    readonly upstream: Upstream
    readonly budget: Budget
    readonly fields: Readonly<Record<string, string>>
  }) {
    this.upstream = options.upstream
    this.budget = options.budget
    this.fields = options.fields
  }

  /** When the connection that is open now was opened, in milliseconds. */
  get heldSince(): ReadonlyArray<number> {
    return this.openSince === undefined ? [] : [this.openSince]
  }

  /** The part of a gap that can be recovered. None if it is too old, if backfill covers it, or without the plan. */
  periodOf(gap: Period, now: number): Option.Option<Period> {
    if (!this.isInPlan || gap.to - gap.from <= BACKFILL_MILLIS) return Option.none()
    const from = Math.max(floorToSecond(gap.from), floorToSecond(now - MAX_AGE_MILLIS))
    // A second more, in case X leaves out the last one.
    const to = Math.min(floorToSecond(gap.to) + 2_000, floorToSecond(now))
    return from < to ? Option.some({ from, to }) : Option.none()
  }

  /**
   * All lines of a period from `periodOf`. The stream ends without a failure only if X sent all of them; lines before
   * the last may still be unreadable. Waits while another recovery runs.
   */
  lines(period: Period): Stream.Stream<string, NotRecovered> {
    return Stream.unwrapScoped(
      Effect.gen(this, function* () {
        yield* Effect.acquireRelease(this.oneAtATime.take(1), () => this.oneAtATime.release(1))
        if (!this.isInPlan) return yield* notInPlan()
        const answer = yield* this.open(period)
        yield* Effect.acquireRelease(
          Effect.map(Clock.currentTimeMillis, (now) => {
            this.openSince = now
          }),
          () =>
            Effect.sync(() => {
              this.openSince = undefined
            })
        )
        return this.linesOf(answer)
      })
    )
  }

  private open({ from, to }: Period) {
    return Effect.gen(this, function* () {
      yield* this.budget.wait
      const query = { ...this.fields, start_time: timestampOf(from), end_time: timestampOf(to) }
      const answer = yield* this.upstream.open({ path: "/2/tweets/search/stream", query }).pipe(
        Effect.tapError(() => this.budget.refund),
        Effect.mapError((error) => notRecovered(endedByNetwork(error)))
      )
      yield* applyRateLimit(this.budget, answer.headers)
      if (answer.status === 200) return answer
      const { text } = yield* Effect.orElseSucceed(read(answer), () => ({ text: "" }))
      if (answer.status === 400) {
        this.isInPlan = false
        yield* Effect.logInfo('The app has no recovery on "x": posts of a gap of more than 5 minutes stay missed')
        return yield* notInPlan()
      }
      const now = yield* Clock.currentTimeMillis
      return yield* notRecovered(endedByAnswer({ ...answer, text: this.upstream.scrubbed(text) }, now))
    })
  }

  private linesOf({ bytes }: OpenAnswer): Stream.Stream<string, NotRecovered> {
    const guarded = Stream.timeoutFail(
      Stream.mapError(bytes, (error) => notRecovered(endedByNetwork(error))),
      () => new NotRecovered({ reason: `No data came for ${SILENCE_SECONDS} s`, isFinal: false }),
      `${SILENCE_SECONDS} seconds`
    )
    let last = ""
    const checked = Stream.flatMap(Stream.chunks(lines(guarded)), (batch) => {
      let count = 0
      for (const line of batch) {
        const record = line.startsWith(POST_START) ? undefined : readLine(line)
        // A problem instead of a post means that X stopped before the end.
        if (record?.kind === "end") {
          const ended = endedInStream(record.problem, this.upstream.scrubbed(record.reason))
          return Stream.concat(Stream.fromChunk(Chunk.take(batch, count)), Stream.fail(notRecovered(ended)))
        }
        count++
        last = line
      }
      return Stream.fromChunk(batch)
    })
    const torn = new NotRecovered({ reason: "The connection ended inside a record", isFinal: false })
    return Stream.concat(
      checked,
      Stream.suspend(() => (readLine(last).kind === "unreadable" ? Stream.fail(torn) : Stream.empty))
    )
  }
}

// ---- helpers ----

const BACKFILL_MILLIS = 5 * 60_000

/** X refuses a start more than 24 hours ago. The margin covers the way there, and other clocks. */
const MAX_AGE_MILLIS = DAY_MILLIS - 60_000

/** Longer than for the live stream: X documents no keep-alives for a recovery. */
const SILENCE_SECONDS = 120

const POST_START = '{"data"'

const floorToSecond = (millis: number): number => Math.floor(millis / 1_000) * 1_000

const timestampOf = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")

const notInPlan = () => new NotRecovered({ reason: "The app's plan on X has no recovery", isFinal: true })

const notRecovered = ({ reason, waitMillis }: Ended) =>
  new NotRecovered({ reason, isFinal: false, ...(waitMillis !== undefined && { waitMillis }) })
