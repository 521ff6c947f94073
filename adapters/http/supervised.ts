/** A stream that never ends, out of connections that do. */
import { Clock, Data, Effect, type Scope, Stream } from "effect"
import type { PlatformId } from "../../core/PlatformId.ts"
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
  /** Only someone with the account can change it. */
  readonly isRefused?: boolean
  /** How long the platform asks to wait. */
  readonly waitMillis?: number
}> {
  override get message() {
    return this.reason
  }
}

export interface Supervised<A> {
  readonly platform: PlatformId
  readonly health: StreamHealth
  readonly budget: Budget
  /** There is no connection while there is no rule. */
  readonly known: KnownRules
  /** One connection. It is open when this succeeds; the stream fails with how it ended. */
  readonly connect: Effect.Effect<Stream.Stream<A, Ended>, Ended, Scope.Scope>
  /** A connection that has lived as long as this was a good one: what went wrong before it is forgotten. */
  readonly goodAfterMillis: number
  /** Milliseconds before the next connection, by the manners of the platform, after so many such endings in a row. */
  readonly pause: (ended: Ended, inARow: number) => number
}

export const supervised = <A>(options: Supervised<A>): Stream.Stream<A> =>
  Stream.suspend(() => {
    const { platform, health, budget, known } = options
    let last: { readonly kind: Ended["kind"]; readonly inARow: number } | undefined
    let openedAt: number | undefined

    const connect = Effect.gen(function* () {
      openedAt = undefined
      if (known.isEmpty) {
        yield* health.enter("idle", NO_RULES)
        yield* known.hasRules
      }
      // One connection after the other in the normal course of things is one stream to whoever looks at it.
      if (last?.kind !== "planned") yield* health.enter("connecting", "The stream is being opened")
      yield* budget.wait
      const records = yield* options.connect
      openedAt = yield* Clock.currentTimeMillis
      yield* health.enter("live", "The stream is open")
      yield* Effect.logInfo(`The stream of "${platform}" is open`)
      const unwatched = Effect.zipRight(
        known.hasNoRules,
        Effect.fail(new Ended({ kind: "planned", reason: "The last rule is gone" }))
      )
      return Stream.interruptWhen(records, unwatched)
    })

    const rest = (ended: Ended) =>
      Effect.gen(function* () {
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
          yield* health.enter(ended.isRefused === true ? "refused" : "waiting", `${ended.reason}; ${then}`)
          yield* Effect.logWarning(`The stream of "${platform}" ended: ${ended.reason}; ${then}`)
        }
        yield* Effect.sleep(millis)
      })

    const once = Stream.unwrapScoped(connect).pipe(
      // A stream that ends without a word was closed by the other side.
      Stream.concat(Stream.fail(new Ended({ kind: "cut", reason: "It closed the stream" }))),
      Stream.catchAll((ended) => Stream.drain(Stream.fromEffect(rest(ended))))
    )
    return Stream.forever(once)
  })

// ---- helpers ----

const inWords = (millis: number): string =>
  millis < 1_000
    ? `${millis} ms`
    : millis < 120_000
      ? `${Math.round(millis / 1_000)} s`
      : `${Math.round(millis / 60_000)} min`
