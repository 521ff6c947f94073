/** Effect's HTTP client with the simulator's handler as its fetch, as in the tests of the adapters. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { pass, STREAM, settle, stage, X } from "./stage.ts"

describe("Effect's HTTP client", () => {
  it.scoped("reads a stream on the test clock, and disconnects when its fiber is interrupted", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const fetch: typeof globalThis.fetch = (input, init) => sim.handler(new Request(input, init))
      const client = FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)))

      const parts: Array<string> = []
      const reading = yield* HttpClient.execute(
        HttpClientRequest.get(`http://simulator${STREAM}`, { headers: X })
      ).pipe(
        Effect.map(({ stream }) => Stream.decodeText(stream)),
        Stream.unwrap,
        Stream.runForEach((part) => Effect.sync(() => parts.push(part))),
        Effect.provide(client),
        Effect.fork
      )
      yield* settle
      yield* sim.post("a cat")
      yield* pass(20)
      assert.match(parts.join(""), /^\{"data".*\}\r\n\r\n$/)

      yield* Fiber.interrupt(reading)
      yield* settle
      assert.deepStrictEqual((yield* sim.control.state).x.connections, [])
    })
  )
})
