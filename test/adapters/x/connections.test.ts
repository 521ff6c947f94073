/** Stuck connections are killed, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import { Upstream } from "../../../adapters/http/Upstream.ts"
import type { SettingsPatch } from "../../../adapters/simulator/settings.ts"
import { Connections } from "../../../adapters/x/connections.ts"
import { NOW, pass, STREAM, type Stage, stage, X } from "../simulator/stage.ts"
import { TOKEN } from "./platform.ts"

const withConnections = <A, E, R>(
  settings: SettingsPatch,
  body: (on: Stage, connections: Connections) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const on = yield* stage(settings)
    const upstream = new Upstream({ baseUrl: "http://x.test", token: Redacted.make(TOKEN) })
    yield* on.addX("cat")
    return yield* body(on, new Connections(upstream)).pipe(Effect.provideService(Fetch, { send: on.handler }))
  })

describe("clearStuck", () => {
  it.scoped("frees the slot of a client that X does not know is gone", () =>
    withConnections({ x: { dead_slot_seconds: 100_000 } }, (on, connections) =>
      Effect.gen(function* () {
        const stream = yield* on.listen(STREAM, X)
        yield* stream.hangUp
        assert.strictEqual((yield* on.listen(STREAM, X)).status, 429)
        assert.strictEqual(yield* connections.clearStuck([]), 1)
        const next = yield* on.listen(STREAM, X)
        assert.strictEqual(next.status, 200)
        assert.strictEqual(next.ended(), "open")
      })
    )
  )

  it.scoped("keeps the connections that we hold", () =>
    withConnections({ x: { tier: "enterprise" } }, (on, connections) =>
      Effect.gen(function* () {
        const stuck = yield* on.listen(STREAM, X)
        yield* pass(60)
        const ours = yield* on.listen(STREAM, X)
        assert.strictEqual(yield* connections.clearStuck([NOW + 60_000]), 1)
        yield* pass(1)
        assert.deepStrictEqual([stuck.ended(), ours.ended()], ["end", "open"])
        assert.strictEqual(yield* connections.clearStuck([NOW + 60_000]), 0, "only ours is left")
      })
    )
  )

  it.scoped("does not fail, and keeps to its budget", () =>
    withConnections({}, (on, connections) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "server-error", platform: "x", endpoint: "connections.list", status: 503 })
        assert.strictEqual(yield* connections.clearStuck([]), 0)
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "connections.list" })
        assert.strictEqual(yield* connections.clearStuck([]), 0)
        const stream = yield* on.listen(STREAM, X)
        yield* on.control.inject({
          kind: "rate-limit",
          platform: "x",
          endpoint: "connections.kill",
          headers: true,
          reset_seconds: 90
        })
        assert.strictEqual(yield* connections.clearStuck([]), 0)
        assert.strictEqual(stream.ended(), "open")
        for (let call = 0; call < 40; call++) yield* connections.clearStuck([])
        const { windows, violations } = yield* on.control.state
        assert.deepStrictEqual(violations, [])
        assert.isAtMost(windows["x.connections.list"]?.most ?? 0, 20)
      })
    )
  )
})
