/** Recovery reads the posts of a past gap, and knows whether it got all of them. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Fiber, Logger, Option, Redacted, Stream } from "effect"
import { Fetch } from "../../../adapters/http/Fetch.ts"
import { Upstream } from "../../../adapters/http/Upstream.ts"
import { callBudget } from "../../../adapters/x/limits.ts"
import { Recovery } from "../../../adapters/x/recovery.ts"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { NOW, pass, type Stage, settle, stage, X } from "../../simulator/stage.ts"
import { TOKEN } from "./platform.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Setup {
  readonly on: Stage
  readonly recovery: Recovery
  readonly logs: ReadonlyArray<string>
}

/** With an hour of one post every ten minutes: "cat 1" at 0 min to "cat 7" at 60 min. */
const withRecovery = <A, E, R>(
  settings: NonNullable<SettingsPatch["x"]>,
  body: (setup: Setup) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const on = yield* stage({ x: { tier: "enterprise", ...settings } })
    const upstream = new Upstream({ baseUrl: "http://x.test", token: Redacted.make(TOKEN) })
    yield* on.addX("cat")
    for (let number = 1; number <= 7; number++) {
      yield* on.post(`cat ${number}`)
      if (number < 7) yield* pass(600)
    }
    const logs: Array<string> = []
    const logger = Logger.make(({ message }) => logs.push(String(message)))
    const recovery = new Recovery({ upstream, budget: callBudget(48), fields: { "tweet.fields": "id,text" } })
    return yield* body({ on, recovery, logs }).pipe(
      Effect.provideService(Fetch, { send: on.handler }),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })

const period = (from: number, to: number) => ({ from: NOW + from * MINUTE, to: NOW + to * MINUTE })

const textsOf = (lines: Iterable<string>) =>
  [...lines].filter((line) => line !== "").map((line) => JSON.parse(line).data.text)

const recovered = (recovery: Recovery, from: number, to: number) =>
  Effect.map(Stream.runCollect(recovery.lines(period(from, to))), textsOf)

describe("periodOf", () => {
  it("is in whole seconds, with a little more at both ends", () => {
    const recovery = new Recovery({
      upstream: new Upstream({ baseUrl: "", token: Redacted.make("") }),
      budget: callBudget(1),
      fields: {}
    })
    const gap = { from: NOW + 1_500, to: NOW + 20 * MINUTE + 1_500 }
    assert.deepStrictEqual(
      recovery.periodOf(gap, NOW + HOUR),
      Option.some({ from: NOW + 1_000, to: NOW + 20 * MINUTE + 3_000 })
    )
    assert.deepStrictEqual(
      recovery.periodOf(gap, NOW + 20 * MINUTE + 2_500),
      Option.some({ from: NOW + 1_000, to: NOW + 20 * MINUTE + 2_000 }),
      "not in the future"
    )
    assert.deepStrictEqual(
      recovery.periodOf({ from: NOW - 30 * HOUR, to: NOW }, NOW),
      Option.some({ from: NOW - 24 * HOUR + MINUTE, to: NOW }),
      "at most 24 hours"
    )
    assert.deepStrictEqual(recovery.periodOf({ from: NOW, to: NOW + 5 * MINUTE }, NOW + HOUR), Option.none())
    assert.deepStrictEqual(recovery.periodOf({ from: NOW - 50 * HOUR, to: NOW - 25 * HOUR }, NOW), Option.none())
  })
})

describe("lines", () => {
  it.scoped("are the posts of the period, and end by themselves", () =>
    withRecovery({}, ({ on, recovery }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* recovered(recovery, 9, 31), ["cat 2", "cat 3", "cat 4"])
        assert.deepStrictEqual(yield* recovered(recovery, 31, 39), [])
        const { x, violations } = yield* on.control.state
        assert.deepStrictEqual([x.connections, violations], [[], []])
      })
    )
  )

  it.scoped("of two recoveries come one after the other", () =>
    withRecovery({}, ({ on, recovery }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "slow", platform: "x", bytes: 50, millis: 1_000 })
        const first = yield* Effect.fork(recovered(recovery, 0, 60))
        const second = yield* Effect.fork(recovered(recovery, 0, 60))
        yield* settle
        assert.lengthOf((yield* on.control.state).x.connections, 1)
        assert.deepStrictEqual(recovery.heldSince, [NOW + HOUR])
        yield* pass(60)
        yield* pass(60)
        assert.lengthOf(yield* Fiber.join(first), 7)
        assert.lengthOf(yield* Fiber.join(second), 7)
        assert.deepStrictEqual(recovery.heldSince, [])
      })
    )
  )

  for (const { fault, reason } of [
    { fault: { kind: "cut", platform: "x" }, reason: /^The connection failed/ },
    {
      fault: { kind: "disconnect", platform: "x", disconnect_type: "OperationalDisconnect" },
      reason: /^X ended the stream \(OperationalDisconnect/
    },
    { fault: { kind: "server-error", platform: "x", status: 503 }, reason: /^X answered 503/ },
    { fault: { kind: "refuse", platform: "x" }, reason: /^The connection failed/ }
  ] as const) {
    it.scoped(`fail if X does not send all of them: ${fault.kind}`, () =>
      withRecovery({}, ({ on, recovery }) =>
        Effect.gen(function* () {
          yield* on.control.inject(fault)
          const error = yield* Effect.flip(recovered(recovery, 0, 60))
          assert.match(error.reason, reason)
          assert.isFalse(error.isFinal)
          assert.lengthOf(yield* recovered(recovery, 0, 60), 7, "a second try works")
        })
      )
    )
  }

  it.scoped("fail after a silence, and when the connection is killed", () =>
    withRecovery({}, ({ on, recovery }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: false })
        const silent = yield* Effect.fork(Effect.flip(recovered(recovery, 0, 60)))
        yield* settle
        yield* pass(120)
        assert.strictEqual((yield* Fiber.join(silent)).reason, "No data came for 120 s")

        yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: true })
        const killed = yield* Effect.fork(Effect.flip(recovered(recovery, 0, 60)))
        yield* settle
        yield* on.call("/2/connections/all", { method: "DELETE", headers: X })
        yield* settle
        assert.match((yield* Fiber.join(killed)).reason, /^The connection failed/)
      })
    )
  )

  it.scoped("fail if the last record is torn", () =>
    withRecovery({}, ({ on, recovery }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "torn-line", platform: "x" })
        const error = yield* Effect.flip(Stream.runDrain(recovery.lines(period(0, 5))))
        assert.strictEqual(error.reason, "The connection ended inside a record")
      })
    )
  )

  it.scoped("keep the posts from before a problem of X", () =>
    withRecovery({ usage_cap: 3, usage_cap_reset_seconds: 800 }, ({ recovery }) =>
      Effect.gen(function* () {
        const seen: Array<string> = []
        const run = Stream.runForEachChunk(recovery.lines(period(0, 60)), (chunk) =>
          Effect.sync(() => void seen.push(...Chunk.toReadonlyArray(chunk)))
        )
        assert.match((yield* Effect.flip(run)).reason, /UsageCapExceeded/)
        assert.deepStrictEqual(textsOf(seen), ["cat 1", "cat 2", "cat 3"])
        assert.propertyVal(yield* Effect.flip(run), "waitMillis", 800_000)
      })
    )
  )

  it.scoped("fail for good if the plan has no recovery, with one call and one log entry", () =>
    withRecovery({ tier: "pro" }, ({ on, recovery, logs }) =>
      Effect.gen(function* () {
        const results = yield* Effect.all(
          [Effect.either(recovered(recovery, 0, 60)), Effect.either(recovered(recovery, 0, 60))],
          { concurrency: 2 }
        )
        assert.deepStrictEqual(
          results.map((result) => Either.isLeft(result) && result.left.isFinal),
          [true, true]
        )
        assert.deepStrictEqual(recovery.periodOf(period(0, 60), NOW + HOUR), Option.none())
        assert.strictEqual((yield* on.control.state).calls["x.stream"]?.calls, 1)
        assert.lengthOf(logs, 1)
      })
    )
  )
})
