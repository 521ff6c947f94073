/** The server on Node keeps connections, and disconnects stalled clients, and no others. */
import { once } from "node:events"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeServer from "../../../adapters/runtimes/node.ts"

describe("serve on Node", () => {
  it.scopedLive("closes the connection of a client that stops reading, and cancels the response body", () =>
    Effect.gen(function* () {
      let cancel = () => {}
      const cancelled = new Promise<void>((resolve) => {
        cancel = resolve
      })
      const endless = () =>
        new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)), cancel })
      const port = yield* serve(async () => new Response(endless()))
      const socket = yield* sendRequest(port)
      yield* Effect.promise(() => cancelled)
      socket.resume()
      yield* Effect.promise(() => once(socket, "close"))
    })
  )

  it.scopedLive("does not limit the time of the handler, or of a client that reads", () =>
    Effect.gen(function* () {
      const pause = () => new Promise((resolve) => setTimeout(resolve, 5 * STALLED_MILLIS))
      const pieces = ["one", "two", "three"]
      const slow = () =>
        new ReadableStream<Uint8Array>({
          pull: async (controller) => {
            await pause()
            const piece = pieces.shift()
            if (piece === undefined) controller.close()
            else controller.enqueue(new TextEncoder().encode(piece))
          }
        })
      const port = yield* serve(async () => {
        await pause()
        return new Response(slow())
      })
      const text = yield* Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}`)).text())
      assert.strictEqual(text, "onetwothree")
    })
  )

  it.scopedLive("keeps an idle connection longer than load balancers do", () =>
    Effect.gen(function* () {
      const port = yield* serve(async () => new Response("one"))
      const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}`))
      assert.strictEqual(response.headers.get("keep-alive"), "timeout=65")
      yield* Effect.promise(() => response.text())
    })
  )
})

// ---- helpers ----

const STALLED_MILLIS = 50

const serve = (handler: () => Promise<Response>) =>
  NodeServer.serve({ host: "127.0.0.1", port: 0, handler, unreadable: "", stalledMillis: STALLED_MILLIS })

/** Sends a request and reads nothing. */
const sendRequest = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => {})
      await once(socket, "connect")
      socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
