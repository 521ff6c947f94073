/** Requests that the server interrupts while the client waits, as when it stops or loses a platform to another server. */
import { assert, describe, it } from "@effect/vitest"
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client"
import { Effect, Layer } from "effect"
import { EventSource } from "eventsource"
import { Keys } from "../../core/keys/Keys.ts"
import { Matches } from "../../core/matches/Matches.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { call, type Target } from "./client.ts"
import { serve, service } from "./inProcess.ts"
import { openStream } from "./sse.ts"

describe.concurrent("an interruption that the client did not cause", () => {
  it.live("is answered with 503, which clients retry", () =>
    Effect.gen(function* () {
      const target = yield* withInterrupted("list", Number.POSITIVE_INFINITY)
      const rest = yield* Effect.promise(() => call(target, "/matches", {}))
      assert.deepStrictEqual([rest.status, rest.body["code"]], [503, "unavailable"])
      const trpc = yield* Effect.promise(() =>
        fetch(`${target.url}/trpc/matches.list`, { headers: { authorization: `Bearer ${target.key}` } })
      )
      assert.strictEqual(trpc.status, 503)
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  for (const step of ["authenticate", "startCursor", "listen"] as const) {
    it.live(`does not end a tRPC subscription (in ${step})`, () =>
      Effect.gen(function* () {
        const interrupted = { left: 1 }
        const target = yield* withInterrupted(step, 1, interrupted)
        const outcome = yield* Effect.promise(() => subscribed(target, () => interrupted.left <= 0))
        assert.strictEqual(outcome, "open again")
      }).pipe(Effect.scoped, Effect.provide(service))
    )
  }

  it.live("ends an event stream with an error that says so", () =>
    Effect.gen(function* () {
      const target = yield* withInterrupted("listen", 1)
      const stream = yield* Effect.promise(() => openStream(`${target.url}/matches/stream`, target))
      yield* Effect.promise(stream.next)
      const block = yield* Effect.promise(stream.next)
      assert.strictEqual(block?.event, "error")
      assert.strictEqual(JSON.parse(block?.data ?? "{}").code, "unavailable")
      assert.isUndefined(yield* Effect.promise(stream.next))
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})

// ---- helpers ----

/** A server whose step interrupts itself the first `times` times. */
const withInterrupted = (
  step: "authenticate" | "list" | "startCursor" | "listen",
  times: number,
  state: { left: number } = { left: times }
) =>
  Effect.gen(function* () {
    const matches = yield* Matches
    const keys = yield* Keys
    const failing = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => (name === step && state.left-- > 0 ? Effect.interrupt : effect))
    const targetOf = yield* Effect.provide(
      serve,
      Layer.merge(
        Layer.succeed(Matches, {
          ...matches,
          list: (...args) => failing("list", matches.list(...args)),
          startCursor: (...args) => failing("startCursor", matches.startCursor(...args)),
          listen: (...args) => failing("listen", matches.listen(...args))
        }),
        Layer.succeed(Keys, {
          ...keys,
          authenticate: (...args) => failing("authenticate", keys.authenticate(...args))
        })
      )
    )
    return yield* targetOf("someone")
  })

/** Resolves when the subscription is open after the interruption, or has ended for good. */
const subscribed = ({ url, key }: Target, isInterrupted: () => boolean): Promise<string> =>
  new Promise((resolve) => {
    const client = createTRPCClient<AppRouter>({
      links: [
        httpSubscriptionLink({
          url: `${url}/trpc`,
          EventSource,
          connectionParams: { authorization: `Bearer ${key}` }
        })
      ]
    })
    let started = 0
    const { unsubscribe } = client.matches.watch.subscribe(
      {},
      {
        onStarted: () => {
          started++
          if (started > 1 && isInterrupted()) end("open again")
        },
        onComplete: () => end("complete"),
        onError: (error) => end(`failed: ${error.message}`)
      }
    )
    const end = (outcome: string) => {
      resolve(outcome)
      unsubscribe()
    }
  })
