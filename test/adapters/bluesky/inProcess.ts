/** Connects the adapter to the simulated Jetstream in this process, on any clock. */
import { Effect, Layer, Queue, Stream } from "effect"
import { Unreachable } from "../../../adapters/http/call.ts"
import { Refused, WebSockets } from "../../../adapters/http/WebSockets.ts"
import type { Jetstream } from "../../../simulator/bluesky/Jetstream.ts"

export const socketsOn = (jetstream: Jetstream): Layer.Layer<WebSockets> =>
  Layer.succeed(
    WebSockets,
    WebSockets.of({
      open: (address) =>
        Effect.gen(function* () {
          const url = new URL(address)
          const refusal = jetstream.check(url)
          if (refusal !== undefined) return yield* new Refused({ status: refusal.status, text: refusal.body })
          const clock = yield* Effect.clock
          const queue = yield* Effect.acquireRelease(Queue.unbounded<string | Unreachable>(), Queue.shutdown)
          const peer = {
            send: (text: string) => void Queue.unsafeOffer(queue, text),
            close: (code: number) =>
              void Queue.unsafeOffer(queue, new Unreachable({ reason: `the connection was closed with code ${code}` }))
          }
          yield* Effect.acquireRelease(
            Effect.sync(() => jetstream.open(url, peer, clock.unsafeCurrentTimeMillis())),
            ({ left }) => Effect.sync(left)
          )
          return Stream.mapEffect(Stream.fromQueue(queue), (item) =>
            typeof item === "string" ? Effect.succeed(item) : item
          )
        })
    })
  )
