/** Stuck connections are killed, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import { Upstream } from "../../../adapters/http/Upstream.ts"
import { Connections } from "../../../adapters/x/connections.ts"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { NOW, pass, STREAM, type Stage, stage, X } from "../../simulator/stage.ts"
import { TOKEN } from "./platform.ts"

const withConnections = <A, E, R>(
  settings: SettingsPatch,
  body: (on: Stage, connections: Connections) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const on = yield* stage(settings)
    const upstream = new Upstream({ baseUrl: "http://x.test", token: Redacted.make(TOKEN) })
    yield* on.addX("cat")
    return yield* body(on, new Connections(upstream, NOW)).pipe(Effect.provideService(Fetch, { send: on.handler }))
  })

describe("clearStuck", () => {
  it.scoped("frees the slot of a connection that this process opened, and keeps those that it holds", () =>
    withConnections({ x: { tier: "enterprise", dead_slot_seconds: 100_000 } }, (on, connections) =>
      Effect.gen(function* () {
        yield* pass(100)
        const stuck = yield* on.listen(STREAM, X)
        connections.opened(NOW + 100_000)
        yield* stuck.hangUp
        yield* pass(60)
        const held = yield* on.listen(STREAM, X)
        connections.opened(NOW + 160_000)
        assert.strictEqual((yield* on.listen(STREAM, X)).status, 429)
        assert.strictEqual(yield* connections.clearStuck([NOW + 160_000]), 1)
        yield* pass(1)
        assert.strictEqual(held.ended(), "open")
        assert.strictEqual((yield* on.listen(STREAM, X)).status, 200)
      })
    )
  )

  it.scoped("keeps those of other programs, and frees one from before its start after a minute", () =>
    withConnections({ x: { tier: "enterprise" } }, (on, connections) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(NOW - 1_000)
        const earlier = yield* on.listen(STREAM, X)
        yield* pass(101)
        const later = yield* on.listen(STREAM, X)
        assert.strictEqual(yield* connections.clearStuck([]), 0)
        yield* pass(60)
        assert.strictEqual(yield* connections.clearStuck([]), 1)
        yield* pass(1)
        assert.deepStrictEqual([earlier.ended(), later.ended()], ["end", "open"])
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
        connections.opened(NOW)
        yield* on.control.inject({
          kind: "rate-limit",
          platform: "x",
          endpoint: "connections.kill",
          headers: true,
          reset_seconds: 90
        })
        assert.strictEqual(yield* connections.clearStuck([]), 0)
        assert.strictEqual(stream.ended(), "open")
        for (let call = 0; call < 40; call++) yield* connections.clearStuck([NOW])
        const { windows, violations } = yield* on.control.state
        assert.deepStrictEqual(violations, [])
        assert.isAtMost(windows["x.connections.list"]?.most ?? 0, 20)
      })
    )
  )
})
