/** Disconnecting cancels the request. Over real sockets. */
import { once } from "node:events"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import * as NodeServer from "../../adapters/runtimes/node.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import { unreadableRequest } from "../../gateway/errors.ts"
import { makeHandler } from "../../gateway/http/handler.ts"
import { json, type Reply } from "../../gateway/http/route.ts"

const REQUEST = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"
const services = Layer.mergeAll(Entropy.layerCounting, Layer.mock(Keys, {}), Layer.mock(Quotas, {}))

describe("a request", () => {
  it.scopedLive("is interrupted when the client disconnects", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      const port = yield* serve(
        Deferred.succeed(started, undefined).pipe(
          Effect.zipRight(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
        )
      )
      const socket = yield* open(port)
      yield* Deferred.await(started)
      socket.destroy()
      yield* Deferred.await(interrupted)
    }).pipe(Effect.provide(services))
  )

  it.scopedLive("is answered while the client waits", () =>
    Effect.gen(function* () {
      const port = yield* serve(Effect.delay(Effect.succeed(json(200, { slow: true })), "50 millis"))
      const socket = yield* open(port)
      const [chunk] = yield* Effect.promise(() => once(socket, "data"))
      assert.match(String(chunk), /^HTTP\/1\.1 200 OK[\s\S]*\{"slow":true\}$/)
    }).pipe(Effect.provide(services))
  )
})

// ---- helpers ----

const serve = (reply: Effect.Effect<Reply>) =>
  Effect.gen(function* () {
    const handler = yield* makeHandler<never>([{ method: "GET", path: "/", reply: () => reply }], [])
    return yield* NodeServer.serve({ host: "127.0.0.1", port: 0, handler, unreadable: unreadableRequest })
  })

/** A connection with the request sent. */
const open = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect(port, "127.0.0.1")
      await once(socket, "connect")
      socket.write(REQUEST)
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
