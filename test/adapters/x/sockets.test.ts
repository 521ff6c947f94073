/** The X adapter over real sockets, with the runtime's fetch. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Simulator from "../../../simulator/Simulator.ts"
import { serve } from "../../../simulator/server.ts"
import { untilTrue } from "../../eventually.ts"
import { postOf } from "../../simulator/stage.ts"
import { withX } from "./platform.ts"

describe("over real sockets", () => {
  it.scopedLive("registers rules, delivers posts, survives a cut and closes the connection at the end", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.make({ seed: 1, settings: { x: { tier: "enterprise" } } })
      const { control } = simulator
      const baseUrl = `http://127.0.0.1:${yield* serve(simulator, { host: "127.0.0.1", port: 0 })}`
      const isOpen = Effect.map(control.state, ({ x }) => x.connections.length === 1)
      yield* withX(
        fetch,
        ({ platform, watch }) =>
          Effect.gen(function* () {
            const watcher = yield* watch()
            yield* platform.register(["cat", "dog"])
            assert.lengthOf((yield* platform.inventory).rules, 2)
            yield* untilTrue("the stream is open", isOpen)
            yield* control.publish([postOf("a cat", 1)])
            yield* untilTrue(
              "a post arrives",
              Effect.sync(() => watcher.texts().length === 1)
            )
            yield* control.inject({ kind: "cut", platform: "x" })
            yield* control.publish([postOf("a cat 🐈", 2)])
            yield* untilTrue(
              "the next post arrives",
              Effect.sync(() => watcher.texts().length === 2)
            )
            assert.deepStrictEqual(watcher.texts(), ["a cat", "a cat 🐈"])
            yield* watcher.stop
            yield* untilTrue(
              "the stream is closed",
              Effect.map(isOpen, (open) => !open)
            )
          }),
        { baseUrl }
      )
    })
  )

  it.scopedLive("fails with a readable error when no server listens", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.make({ seed: 1 })
      // The port is free again.
      const port = yield* Effect.scoped(serve(simulator, { host: "127.0.0.1", port: 0 }))
      const error = yield* withX(fetch, ({ platform }) => Effect.flip(platform.inventory), {
        baseUrl: `http://127.0.0.1:${port}`
      })
      assert.strictEqual(error.message, 'Platform "x" is not available: connection refused')
    })
  )
})
