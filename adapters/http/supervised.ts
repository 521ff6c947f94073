/** A stream that reconnects forever, with backoff and gap signals. */
import { Clock, Data, Effect, type Scope, Stream } from "effect"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { GapCause, Signal } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import type { Budget } from "./Budget.ts"
import type { KnownRules } from "./KnownRules.ts"
import { NO_RULES, type StreamHealth } from "./StreamHealth.ts"

/** Why a connection ended or could not be opened. */
export class Ended extends Data.TaggedError("Ended")<{
  /**
   * planned: a normal end. cut: the connection broke, or the platform closed it unexpectedly. stalled: we closed it
   * after silence. failed: the platform answered with an error. limited: rate limited by the platform. unruled: the
   * platform holds no rules (a metric has this word as a label).
   */
  readonly kind: "planned" | "cut" | "stalled" | "failed" | "limited" | "unruled"
  readonly reason: string
  /** The gap cause if only the owner of the platform account can fix the problem. `cap`: a usage limit is reached. */
  readonly refusal?: "cap" | "credit" | "not_configured"
  /** How long the platform asks to wait. */
  readonly waitMillis?: number
  /** When the gap began, if not at the last sign of life. */
  readonly silentSince?: number
}> {
  override get message() {
    return this.reason
  }
}

export interface Connection<A> {
  readonly records: Stream.Stream<A, Ended>
  /** When it was opened, in milliseconds. Absent: now. */
  readonly openedAt?: number
  /** The platform replays the events since then. The records show when it is done. */
  readonly since?: number
  /** The platform was asked for the events since then. It guarantees nothing. */
  readonly askedSince?: number
}

export interface Supervised<A> {
  readonly platform: PlatformId
  readonly health: StreamHealth
  readonly budget: Budget
  /** The stream is closed while this is empty, except for a short while in which new rules may come. */
  readonly known: KnownRules
  /** Until when the stream was watched, as far as it has shown, in milliseconds. Undefined before the first time. */
  readonly lastSignAt: () => number | undefined
  /** Opens one connection. */
  readonly connect: Effect.Effect<Connection<A>, Ended, Scope.Scope>
  /** A connection that lasts this long resets the backoff. */
  readonly stableAfterMillis: number
  /** Milliseconds until the next attempt. `inARow` counts consecutive ends of the same kind. */
  readonly backoff: (ended: Ended, inARow: number) => number
  /** Ends the backoff early. */
  readonly wake?: (ended: Ended) => Effect.Effect<void>
}

export type StreamItem<A> =
  | { readonly _tag: "Record"; readonly record: A }
  | Exclude<Signal, { readonly _tag: "Event" }>

export const supervised = <A>(options: Supervised<A>): Stream.Stream<StreamItem<A>> =>
  Stream.suspend(() => {
    const { platform, health, budget, known } = options
    let last: { readonly kind: Ended["kind"]; readonly inARow: number } | undefined
    let openedAt: number | undefined
    /** Stays true across planned reconnects. */
    let isWatching = false
    /** The cause of the last gap; undefined while watching. */
    let gapCause: GapCause | undefined

    const emitGap = (at: number, cause: GapCause, detail: string): Stream.Stream<StreamItem<A>> => {
      if (gapCause === cause) return Stream.empty
      isWatching = false
      gapCause = cause
      return Stream.succeed<StreamItem<A>>({ _tag: "GapStarted", at, cause, detail })
    }

    const waitForRules = Stream.unwrap(
      Effect.gen(function* () {
        if (!known.isEmpty) return Stream.empty
        yield* health.enter("idle", NO_RULES)
        const now = yield* Clock.currentTimeMillis
        return Stream.concat(emitGap(now, "no_rules", NO_RULES), Stream.drain(Stream.fromEffect(known.awaitRules)))
      })
    )

    const connect = Effect.gen(function* () {
      openedAt = undefined
      // The status stays "live" across planned reconnects.
      if (last?.kind !== "planned") yield* health.enter("connecting", "The stream is connecting")
      yield* budget.wait
      const { records, since, askedSince, openedAt: at = yield* Clock.currentTimeMillis } = yield* options.connect
      openedAt = at
      yield* health.enter("live", "The stream is open")
      yield* Effect.logInfo(`The stream of "${platform}" is open`)
      const unwatched = Effect.zipRight(
        Effect.repeat(Effect.zipRight(known.awaitNoRules, Effect.sleep(IDLE)), { until: () => known.isEmpty }),
        Effect.fail(new Ended({ kind: "planned", reason: "The last rule was removed" }))
      )
      const opened = isWatching
        ? Stream.empty
        : Stream.succeed<StreamItem<A>>({
            _tag: "Watching",
            at,
            since: since ?? at,
            ...(askedSince !== undefined && { askedSince })
          })
      isWatching = true
      gapCause = undefined
      return Stream.concat(
        opened,
        Stream.map(Stream.interruptWhen(records, unwatched), (record): StreamItem<A> => ({ _tag: "Record", record }))
      )
    })

    const backOff = (ended: Ended) =>
      Effect.gen(function* () {
        yield* Metrics.reconnecting(platform, ended.refusal ?? ended.kind)
        const now = yield* Clock.currentTimeMillis
        if (openedAt !== undefined && now - openedAt >= options.stableAfterMillis) last = undefined
        const inARow = last?.kind === ended.kind ? last.inARow + 1 : 1
        last = { kind: ended.kind, inARow }
        const millis = options.backoff(ended, inARow)
        if (ended.kind === "planned") {
          if (known.isEmpty) yield* health.enter("idle", NO_RULES)
          yield* Effect.logDebug(`The stream of "${platform}" ended as planned: ${ended.reason}`)
        } else {
          const then = millis === 0 ? "reconnecting now" : `reconnecting in ${describe(millis)}`
          yield* health.sawError(ended.reason)
          yield* health.enter(ended.refusal === undefined ? "waiting" : "refused", `${ended.reason}; ${then}`)
          yield* Effect.logWarning(`The stream of "${platform}" ended: ${ended.reason}; ${then}`)
        }
        yield* Effect.raceFirst(Effect.sleep(millis), options.wake?.(ended) ?? Effect.never)
      })

    const handleEnd = (ended: Ended) =>
      Stream.unwrap(
        Effect.map(Clock.currentTimeMillis, (now) => {
          const cause =
            ended.refusal ?? (ended.kind === "planned" && known.isEmpty ? "no_rules" : gapCauses[ended.kind])
          // Only what the stream has shown counts as watched, not the time until the end was noticed.
          const watchedUntil = isWatching && ended.kind !== "planned" ? (options.lastSignAt() ?? now) : now
          const signal =
            cause === undefined ? Stream.empty : emitGap(ended.silentSince ?? watchedUntil, cause, ended.reason)
          return Stream.concat(signal, Stream.drain(Stream.fromEffect(backOff(ended))))
        })
      )

    const once = Stream.unwrapScoped(connect).pipe(
      Stream.concat(Stream.fail(new Ended({ kind: "cut", reason: "The platform closed the connection" }))),
      Stream.catchAll(handleEnd)
    )
    return Stream.forever(Stream.concat(waitForRules, once))
  })

/** Doubles the wait with each consecutive failure. */
export const exponential = (first: number, inARow: number, max: number): number =>
  Math.min(first * 2 ** (inARow - 1), max)

// ---- helpers ----

const describe = (millis: number): string =>
  millis < 1_000
    ? `${millis} ms`
    : millis < 120_000
      ? `${Math.round(millis / 1_000)} s`
      : `${Math.round(millis / 60_000)} min`

/** How long the stream stays open without rules. */
const IDLE = "1 minute"

/** The gap that each kind of end opens. A planned end opens none: the next connection goes on where it ended. */
const gapCauses: Readonly<Partial<Record<Ended["kind"], GapCause>>> = {
  cut: "outage",
  stalled: "stall",
  failed: "outage",
  limited: "cap",
  unruled: "no_rules"
}
