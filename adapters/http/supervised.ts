/** A stream that never ends, out of connections that do. */
import { Clock, Data, Effect, type Scope, Stream } from "effect"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import type { GapCause, Signal } from "../../core/platforms/Platform.ts"
import * as Metrics from "../../core/telemetry/Metrics.ts"
import type { Budget } from "./Budget.ts"
import type { KnownRules } from "./KnownRules.ts"
import { NO_RULES, type StreamHealth } from "./StreamHealth.ts"

/** How a connection ended, or why there was none. */
export class Ended extends Data.TaggedError("Ended")<{
  /**
   * planned: in the normal course of things. cut: the connection broke. stalled: we gave it up ourselves. failed: the
   * platform answered with an error. limited: it asks for fewer calls. unruled: it says that there are no rules.
   */
  readonly kind: "planned" | "cut" | "stalled" | "failed" | "limited" | "unruled"
  /** In words. */
  readonly reason: string
  /** Only someone with the account can change it: what is wrong with it. */
  readonly refusal?: "cap" | "credit" | "not_configured"
  /** How long the platform asks to wait. */
  readonly waitMillis?: number
  /** Since when nothing came that could be relied on, where that is not now. */
  readonly deafSince?: number
}> {
  override get message() {
    return this.reason
  }
}

export interface Connection<A> {
  /** Fails with how it ended. */
  readonly records: Stream.Stream<A, Ended>
  /** From when on the platform makes up for what was missed, where it does. */
  readonly since?: number
}

export interface Supervised<A> {
  readonly platform: PlatformId
  readonly health: StreamHealth
  readonly budget: Budget
  /** There is no connection while there is no rule. */
  readonly known: KnownRules
  /** One connection. It is open when this succeeds. */
  readonly connect: Effect.Effect<Connection<A>, Ended, Scope.Scope>
  /** A connection that has lived as long as this was a good one: what went wrong before it is forgotten. */
  readonly goodAfterMillis: number
  /** Milliseconds before the next connection, by the manners of the platform, after so many such endings in a row. */
  readonly pause: (ended: Ended, inARow: number) => number
}

export type Sighting<A> = { readonly _tag: "Record"; readonly record: A } | Exclude<Signal, { readonly _tag: "Event" }>

export const supervised = <A>(options: Supervised<A>): Stream.Stream<Sighting<A>> =>
  Stream.suspend(() => {
    const { platform, health, budget, known } = options
    let last: { readonly kind: Ended["kind"]; readonly inARow: number } | undefined
    let openedAt: number | undefined
    /** The cause that was told since the stream was last open; none before it ever was. */
    let blind: GapCause | "untold" | undefined = "untold"

    const tell = (at: number, cause: GapCause, detail: string): Stream.Stream<Sighting<A>> => {
      if (blind === cause) return Stream.empty
      blind = cause
      return Stream.succeed<Sighting<A>>({ _tag: "Blind", at, cause, detail })
    }

    const waitForRules = Stream.unwrap(
      Effect.gen(function* () {
        if (!known.isEmpty) return Stream.empty
        yield* health.enter("idle", NO_RULES)
        const now = yield* Clock.currentTimeMillis
        return Stream.concat(tell(now, "no_rules", NO_RULES), Stream.drain(Stream.fromEffect(known.hasRules)))
      })
    )

    const connect = Effect.gen(function* () {
      openedAt = undefined
      // One connection after the other in the normal course of things is one stream to whoever looks at it.
      if (last?.kind !== "planned") yield* health.enter("connecting", "The stream is being opened")
      yield* budget.wait
      const { records, since: madeUpSince } = yield* options.connect
      const at = yield* Clock.currentTimeMillis
      const since = madeUpSince ?? at
      openedAt = at
      yield* health.enter("live", "The stream is open")
      yield* Effect.logInfo(`The stream of "${platform}" is open`)
      const unwatched = Effect.zipRight(
        known.hasNoRules,
        Effect.fail(new Ended({ kind: "planned", reason: "The last rule is gone" }))
      )
      const opened = blind === undefined ? Stream.empty : Stream.succeed<Sighting<A>>({ _tag: "Watching", at, since })
      blind = undefined
      return Stream.concat(
        opened,
        Stream.map(Stream.interruptWhen(records, unwatched), (record): Sighting<A> => ({ _tag: "Record", record }))
      )
    })

    const rest = (ended: Ended) =>
      Effect.gen(function* () {
        yield* Metrics.reconnecting(platform, ended.refusal ?? ended.kind)
        const now = yield* Clock.currentTimeMillis
        if (openedAt !== undefined && now - openedAt >= options.goodAfterMillis) last = undefined
        const inARow = last?.kind === ended.kind ? last.inARow + 1 : 1
        last = { kind: ended.kind, inARow }
        const millis = options.pause(ended, inARow)
        if (ended.kind === "planned") {
          yield* Effect.logDebug(`The stream of "${platform}" ended as planned: ${ended.reason}`)
        } else {
          const then = millis === 0 ? "it is opened again at once" : `it is opened again in ${inWords(millis)}`
          yield* health.sawError(ended.reason)
          yield* health.enter(ended.refusal === undefined ? "waiting" : "refused", `${ended.reason}; ${then}`)
          yield* Effect.logWarning(`The stream of "${platform}" ended: ${ended.reason}; ${then}`)
        }
        yield* Effect.sleep(millis)
      })

    const afterwards = (ended: Ended) =>
      Stream.unwrap(
        Effect.map(Clock.currentTimeMillis, (now) => {
          const cause = ended.refusal ?? CAUSES[ended.kind]
          const told = cause === undefined ? Stream.empty : tell(ended.deafSince ?? now, cause, ended.reason)
          return Stream.concat(told, Stream.drain(Stream.fromEffect(rest(ended))))
        })
      )

    const once = Stream.unwrapScoped(connect).pipe(
      // A stream that ends without a word was closed by the other side.
      Stream.concat(Stream.fail(new Ended({ kind: "cut", reason: "It closed the stream" }))),
      Stream.catchAll(afterwards)
    )
    return Stream.forever(Stream.concat(waitForRules, once))
  })

// ---- helpers ----

const inWords = (millis: number): string =>
  millis < 1_000
    ? `${millis} ms`
    : millis < 120_000
      ? `${Math.round(millis / 1_000)} s`
      : `${Math.round(millis / 60_000)} min`

/** Why the platform is not watched after such an ending; after a planned one it is opened again at once. */
const CAUSES: Readonly<Partial<Record<Ended["kind"], GapCause>>> = {
  cut: "outage",
  stalled: "stall",
  failed: "outage",
  limited: "cap",
  unruled: "no_rules"
}
