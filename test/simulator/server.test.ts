/** The simulator on real sockets: streams, dropped connections and shutdown. */
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import * as Simulator from "../../simulator/Simulator.ts"
import { serve } from "../../simulator/server.ts"
import { until, untilTrue } from "../eventually.ts"
import { pageOf, postOf, RULES, STREAM, TAP, X } from "./stage.ts"

const HOST = "127.0.0.1"

const started = Effect.gen(function* () {
  const simulator = yield* Simulator.make({
    seed: 1,
    settings: { x: { dead_slot_seconds: 0.2 } }
  })
  const port = yield* serve(simulator, { host: HOST, port: 0 })
  const url = `http://${HOST}:${port}`
  const body = JSON.stringify({ add: [{ value: "cat" }] })
  const json = { "content-type": "application/json" }
  yield* Effect.promise(() => fetch(url + RULES, { method: "POST", headers: { ...X, ...json }, body }))
  yield* Effect.promise(() =>
    fetch(`${url}/v1/rules`, { method: "POST", headers: { ...TAP, ...json }, body: JSON.stringify({ value: "cat" }) })
  )
  return { ...simulator, url, port }
})

/** Reads until the text matches, or to the end. */
const readUntil = async (response: Response, pattern: RegExp): Promise<string> => {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  while (!pattern.test(text)) {
    const chunk = await reader?.read()
    if (chunk === undefined || chunk.done) break
    text += decoder.decode(chunk.value, { stream: true })
  }
  await reader?.cancel()
  return text
}

describe("the simulator's server", () => {
  it.scopedLive("sends the headers of X's stream at once, then posts and keep-alives", () =>
    Effect.gen(function* () {
      const { url, control } = yield* started
      const response = yield* Effect.promise(() => fetch(url + STREAM, { headers: X }))
      assert.deepStrictEqual(
        [response.status, response.headers.get("transfer-encoding"), response.headers.get("x-rate-limit-limit")],
        [200, "chunked", "50"]
      )
      yield* control.patch({ x: { keep_alive_seconds: 0.05 } })
      yield* control.publish([postOf("a cat", 1)])
      const text = yield* Effect.promise(() => readUntil(response, /\}\r\n\r\n/))
      assert.match(text, /^(\r\n)*\{"data".*\}\r\n\r\n/)
    })
  )

  it.scopedLive("streams Firehose's events and resumes", () =>
    Effect.gen(function* () {
      const { url, control } = yield* started
      yield* control.publish([pageOf("cat 1", 1), pageOf("cat 2", 2)].map(fresh))
      const headers = { ...TAP, "last-event-id": "0-43000" }
      const response = yield* Effect.promise(() => fetch(`${url}/v1/stream?limit=1`, { headers }))
      const text = yield* Effect.promise(() => response.text())
      assert.match(
        text,
        /^event: connected\ndata: \{\}\n\nid: 0-43001\nevent: update\ndata: \{.*cat 2.*\}\n\nevent: end\ndata: \{\}\n\n$/
      )
    })
  )

  it.scopedLive("closes the socket without a reply on refuse", () =>
    Effect.gen(function* () {
      const { url, port, control } = yield* started
      yield* control.inject({ kind: "refuse", platform: "x", count: 2 })
      const failed = yield* Effect.flip(Effect.tryPromise(() => fetch(url + RULES, { headers: X })))
      assert.match(String(failed.cause instanceof Error ? failed.cause : failed.error), /fetch failed/)
      const bytes = yield* Effect.promise(() => received(port, RULES))
      assert.strictEqual(bytes, "")
      assert.strictEqual((yield* Effect.promise(() => fetch(url + RULES, { headers: X }))).status, 200)
      assert.strictEqual((yield* control.state).faults_fired["x.refuse"], 2)
    })
  )

  it.scopedLive("drops the socket in the middle of a record on cut", () =>
    Effect.gen(function* () {
      const { port, control } = yield* started
      yield* control.inject({ kind: "cut", platform: "x" })
      const all = yield* Effect.fork(Effect.promise(() => received(port, STREAM)))
      yield* untilTrue(
        "the stream is open",
        Effect.map(control.state, ({ x }) => x.connections.length > 0)
      )
      yield* control.publish([postOf("a cat", 1)])
      assert.match(yield* Fiber.join(all), /\r\n\{"data"[^\r]*\r\n$/, "a chunk with half a record, and no last chunk")
    })
  )

  it.scopedLive("notices a disconnected client, and holds its slot for a while", () =>
    Effect.gen(function* () {
      const { url, control } = yield* started
      const controller = new AbortController()
      const response = yield* Effect.promise(() => fetch(url + STREAM, { headers: X, signal: controller.signal }))
      assert.strictEqual(response.status, 200)
      controller.abort()
      const connect = () => fetch(url + STREAM, { headers: X })
      const isClosed = Effect.map(control.state, ({ x }) => x.connections.length === 0)
      yield* untilTrue("the stream is closed", isClosed)
      assert.strictEqual((yield* Effect.promise(connect)).status, 429)
      const isFree = async () => (await connect()).status === 200
      yield* Effect.promise(() => until("its slot is free", isFree))
    })
  )

  it.live("ends open streams cleanly when it stops, and frees the port", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { url, port } = yield* Scope.extend(started, scope)
      const response = yield* Effect.promise(() => fetch(`${url}/v1/stream`, { headers: TAP }))
      const text = Effect.promise(() => response.text())
      yield* Scope.close(scope, Exit.void)
      assert.match(yield* text, /^event: connected/)
      const again = yield* Effect.scoped(
        Effect.flatMap(Simulator.make({ seed: 1 }), (simulator) => serve(simulator, { host: HOST, port }))
      )
      assert.strictEqual(again, port)
    })
  )

  it.scopedLive("fails with SimulatorCannotListen if the port is taken", () =>
    Effect.gen(function* () {
      const { port } = yield* started
      const other = yield* Simulator.make({ seed: 1 })
      const error = yield* Effect.flip(serve(other, { host: HOST, port }))
      assert.strictEqual(
        error.message,
        `Cannot listen on ${HOST}:${port}: another program uses the port; choose another with --port`
      )
    })
  )
})

// ---- helpers ----

/** All bytes that arrive until the server closes the socket. */
const received = (port: number, path: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: HOST, port })
    let bytes = ""
    socket.on("data", (data) => {
      bytes += data.toString()
    })
    socket.on("error", () => {}).on("close", () => resolve(bytes))
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${HOST}\r\nauthorization: ${X.authorization}\r\n\r\n`)
  })

/** The server runs on the real clock, and the quality flag drops old pages. */
const fresh = (page: ReturnType<typeof pageOf>) => ({
  document: { ...page.document, publish_time: new Date().toISOString().slice(0, 19) }
})
