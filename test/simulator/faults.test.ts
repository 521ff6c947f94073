/** The effect and the counter of every fault, on each platform. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { PlatformId } from "../../fixtures/languages.ts"
import type { FaultRequest } from "../../simulator/faults.ts"
import {
  eventsOf,
  type Listening,
  NOW,
  pass,
  RULES,
  recordsOf,
  STREAM,
  type Stage,
  settle,
  stage,
  TAP,
  X
} from "./stage.ts"

const fired = (sim: Stage, name: string) => Effect.map(sim.control.state, ({ faults_fired }) => faults_fired[name] ?? 0)

interface PlatformCase {
  readonly platform: PlatformId
  readonly rules: string
  readonly stream: string
  readonly headers: Readonly<Record<string, string>>
  readonly add: (sim: Stage) => Effect.Effect<unknown>
  readonly send: (sim: Stage, ...texts: ReadonlyArray<string>) => Effect.Effect<void>
  /** Texts of the received records; "broken" for an unreadable record. */
  readonly texts: (listening: Listening) => ReadonlyArray<string>
}

const readText = (json: string, read: (value: Record<string, Record<string, string>>) => string | undefined) => {
  try {
    return read(JSON.parse(json)) ?? "broken"
  } catch {
    return "broken"
  }
}

const platforms: ReadonlyArray<PlatformCase> = [
  {
    platform: "x",
    rules: RULES,
    stream: STREAM,
    headers: X,
    add: (sim) => sim.addX("cat"),
    send: (sim, ...texts) => sim.post(...texts),
    texts: (listening) =>
      listening
        .text()
        .split("\r\n")
        .filter((line) => line !== "")
        .map((line) => readText(line, (record) => record["data"]?.["text"]))
  },
  {
    platform: "firehose",
    rules: "/v1/rules",
    stream: "/v1/stream",
    headers: TAP,
    add: (sim) => sim.addFirehose("cat"),
    send: (sim, ...texts) => sim.page(...texts),
    texts: (listening) =>
      eventsOf(listening.text())
        .filter(({ event }) => event === "update")
        .map(({ data }) => readText(data, (record) => record["document"]?.["title"]))
  }
]

for (const side of platforms) {
  const { platform, headers } = side
  const open = (fault?: FaultRequest, settings = {}) =>
    Effect.gen(function* () {
      const sim = yield* stage(settings)
      yield* side.add(sim)
      const stream = yield* sim.listen(side.stream, headers)
      if (fault !== undefined) yield* sim.control.inject(fault)
      return { sim, stream }
    })

  describe(`on ${platform}`, () => {
    it.scoped("refuse drops calls without a reply, at the given endpoint and the given number of times", () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        yield* sim.control.inject({ kind: "refuse", platform, endpoint: "stream", count: 2 })
        const call = () =>
          Effect.either(Effect.tryPromise(() => sim.handler(new Request(`http://s${side.stream}`, { headers }))))
        assert.strictEqual((yield* sim.call(side.rules, { headers })).status, 200)
        for (const outcome of ["Left", "Left", "Right"]) assert.strictEqual((yield* call())._tag, outcome)
        assert.strictEqual(yield* fired(sim, `${platform}.refuse`), 2)
        const { calls, violations } = yield* sim.control.state
        assert.strictEqual(calls[`${platform}.stream`]?.statuses[0], 2)
        assert.deepStrictEqual(violations, [])
      })
    )

    it.scoped("rate-limit answers 429, with or without reset headers, and records no violation", () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const resetHeader = platform === "x" ? "x-rate-limit-reset" : "retry-after"
        yield* sim.control.inject({ kind: "rate-limit", platform, headers: true, reset_seconds: 90 })
        const first = yield* sim.call(side.rules, { headers })
        assert.deepStrictEqual(
          [first.status, first.headers.get(resetHeader)],
          [429, platform === "x" ? String(NOW / 1_000 + 90) : "90"]
        )
        yield* sim.control.inject({ kind: "rate-limit", platform, headers: false, reset_seconds: 90 })
        const second = yield* sim.call(side.rules, { headers })
        assert.deepStrictEqual([second.status, second.headers.get(resetHeader)], [429, null])
        assert.strictEqual((yield* sim.call(side.rules, { headers })).status, 200)
        assert.strictEqual(yield* fired(sim, `${platform}.rate-limit`), 2)
        assert.deepStrictEqual((yield* sim.control.state).violations, [])
      })
    )

    it.scoped("payment-required answers 402, and server-error answers the given status", () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        yield* side.add(sim)
        yield* sim.control.inject({ kind: "payment-required", platform, endpoint: "stream" })
        yield* sim.control.inject({ kind: "server-error", platform, status: 502, seconds: 10 })
        assert.strictEqual((yield* sim.call(side.stream, { headers })).status, 502)
        assert.strictEqual((yield* sim.call(side.rules, { headers })).status, 502)
        yield* pass(10)
        assert.strictEqual((yield* sim.call(side.stream, { headers })).status, 402)
        assert.strictEqual((yield* sim.listen(side.stream, headers)).status, 200)
        assert.strictEqual(yield* fired(sim, `${platform}.payment-required`), 1)
        assert.strictEqual(yield* fired(sim, `${platform}.server-error`), 2)
      })
    )

    it.scoped("torn-line sends half a record as a complete one, and the next record intact", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open({ kind: "torn-line", platform })
        yield* side.send(sim, "cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(side.texts(stream), ["broken", "cat 2"])
        assert.strictEqual(yield* fired(sim, `${platform}.torn-line`), 1)
      })
    )

    for (const text of ["cat é€🐈", "cat"]) {
      it.scoped(`half-utf8 sends invalid UTF-8 for ${JSON.stringify(text)}`, () =>
        Effect.gen(function* () {
          const { sim, stream } = yield* open({ kind: "half-utf8", platform })
          yield* side.send(sim, text, "cat 2")
          yield* settle
          assert.throws(() => new TextDecoder("utf-8", { fatal: true }).decode(stream.bytes()))
          assert.strictEqual(side.texts(stream)[1], "cat 2")
          assert.strictEqual(yield* fired(sim, `${platform}.half-utf8`), 1)
        })
      )
    }

    it.scoped("cut drops the connection in the middle of a record", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open({ kind: "cut", platform })
        yield* side.send(sim, "cat 1", "cat 2")
        yield* settle
        assert.strictEqual(stream.ended(), "dropped")
        assert.match(stream.text(), /\{"[^\n]*[^\n]$/)
        assert.notInclude(stream.text(), "cat 2")
        assert.strictEqual(yield* fired(sim, `${platform}.cut`), 1)
      })
    )

    it.scoped("slow sends a record in pieces", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open({ kind: "slow", platform, bytes: 10, millis: 1_000 })
        const before = stream.bytes().length
        yield* side.send(sim, "cat 1")
        yield* settle
        assert.strictEqual(stream.bytes().length, before + 10)
        yield* pass(2)
        assert.strictEqual(stream.bytes().length, before + 30)
        yield* pass(100)
        assert.deepStrictEqual(side.texts(stream), ["cat 1"])
        assert.strictEqual(yield* fired(sim, `${platform}.slow`), 1)
      })
    )

    it.scoped("duplicate sends a record twice", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open({ kind: "duplicate", platform })
        yield* side.send(sim, "cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(side.texts(stream), ["cat 1", "cat 1", "cat 2"])
        assert.strictEqual(yield* fired(sim, `${platform}.duplicate`), 1)
      })
    )

    it.scoped("stall delays the records of a connection until it ends, and sends keep-alives", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open(
          { kind: "stall", platform, keep_alives: true, stall_seconds: 45 },
          { firehose: { keep_alive_seconds: 20 } }
        )
        const before = stream.text()
        yield* side.send(sim, "cat 1")
        yield* pass(44)
        const keepAlive = platform === "x" ? "\r\n" : ": keepalive\n\n"
        assert.strictEqual(stream.text(), before + keepAlive.repeat(2))
        yield* pass(1)
        assert.deepStrictEqual(side.texts(stream), ["cat 1"])
        assert.strictEqual(yield* fired(sim, `${platform}.stall`), 1)
      })
    )

    it.scoped("stall without keep-alives sends nothing, and does not affect the next connection", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open({ kind: "stall", platform, keep_alives: false })
        const before = stream.text()
        yield* settle
        yield* side.send(sim, "cat 1")
        yield* pass(600)
        assert.deepStrictEqual([stream.text(), stream.ended()], [before, "open"])
        yield* stream.hangUp
        yield* pass(5)
        const next = yield* sim.listen(side.stream, headers)
        yield* side.send(sim, "cat 2")
        yield* settle
        assert.deepStrictEqual(side.texts(next), ["cat 2"])
      })
    )

    it.scoped("close ends the stream without a message", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open()
        const before = stream.text()
        yield* sim.control.inject({ kind: "close", platform })
        yield* settle
        assert.deepStrictEqual([stream.text(), stream.ended()], [before, "end"])
        assert.strictEqual(yield* fired(sim, `${platform}.close`), 1)
      })
    )

    it.scoped("drop-rules deletes all rules at once", () =>
      Effect.gen(function* () {
        const { sim } = yield* open({ kind: "drop-rules", platform })
        const { body } = yield* sim.call(side.rules, { headers })
        assert.strictEqual(body.meta.result_count ?? body.meta.count, 0)
        assert.strictEqual(yield* fired(sim, `${platform}.drop-rules`), 1)
        yield* side.add(sim)
        assert.lengthOf((yield* sim.call(side.rules, { headers })).body.data, 1)
      })
    )

    it.scoped("lower-caps lowers the rule cap until it is cleared", () =>
      Effect.gen(function* () {
        const { sim } = yield* open({ kind: "lower-caps", platform, rules: 1 })
        const add = sim.call(side.rules, {
          method: "POST",
          headers,
          body: platform === "x" ? { add: [{ value: "dog" }] } : { value: "dog" }
        })
        assert.strictEqual((yield* add).status, 422)
        assert.strictEqual(yield* fired(sim, `${platform}.lower-caps`), 1)
        yield* sim.control.clear()
        assert.strictEqual((yield* add).status, 201)
        assert.strictEqual(yield* fired(sim, `${platform}.lower-caps`), 1, "clearing does not reset the counter")
      })
    )

    it.scoped("clock-skew shifts the reported times", () =>
      Effect.gen(function* () {
        const { sim, stream } = yield* open({ kind: "clock-skew", platform, skew_seconds: -3_600 })
        if (platform === "x") {
          const { body, headers: replyHeaders } = yield* sim.call(side.rules, { headers })
          assert.strictEqual(body.meta.sent, "2026-11-15T11:00:00.000Z")
          assert.strictEqual(replyHeaders.get("x-rate-limit-reset"), String(NOW / 1_000 - 3_600 + 900))
        } else {
          yield* side.send(sim, "cat")
          yield* settle
          assert.include(stream.text(), '"matched_at":"2026-11-15T11:00:00.000Z"')
        }
        assert.isAbove(yield* fired(sim, `${platform}.clock-skew`), 0)
      })
    )
  })
}

describe("platform-specific faults", () => {
  it.scoped("stream-error ends Firehose's stream with an error event", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addFirehose("cat")
      const stream = yield* sim.listen("/v1/stream", TAP)
      yield* sim.control.inject({ kind: "stream-error", platform: "firehose", message: "Kafka is away" })
      yield* settle
      assert.deepStrictEqual(eventsOf(stream.text()).at(-1), { event: "error", data: '{"message":"Kafka is away"}' })
      assert.strictEqual(stream.ended(), "end")
      assert.strictEqual(yield* fired(sim, "firehose.stream-error"), 1)
    })
  )

  it.scoped("disconnect ends X's stream with a message, once", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      const stream = yield* sim.listen(STREAM, X)
      yield* sim.control.inject({ kind: "disconnect", platform: "x", disconnect_type: "OperationalDisconnect" })
      yield* settle
      assert.strictEqual(
        recordsOf(stream.text())[0].errors[0].detail,
        "This stream has been disconnected for operational reasons."
      )
      assert.strictEqual((yield* sim.listen(STREAM, X)).ended(), "open")
      assert.strictEqual(yield* fired(sim, "x.disconnect"), 1)
    })
  )

  it.scoped("hold-slot keeps the slot of a disconnected client", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      yield* sim.control.inject({ kind: "hold-slot", platform: "x", hold_seconds: 900 })
      const stream = yield* sim.listen(STREAM, X)
      yield* stream.hangUp
      yield* pass(899)
      assert.strictEqual((yield* sim.call(STREAM, { headers: X })).body.connection_issue, "TooManyConnections")
      yield* pass(1)
      assert.strictEqual((yield* sim.listen(STREAM, X)).status, 200)
      assert.strictEqual(yield* fired(sim, "x.hold-slot"), 1)
    })
  )

  it.scoped("lower-caps lowers X's connection cap, and records no violation", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { tier: "enterprise" } })
      yield* sim.addX("cat")
      yield* sim.listen(STREAM, X)
      yield* sim.control.inject({ kind: "lower-caps", platform: "x", connections: 1 })
      assert.strictEqual((yield* sim.call(STREAM, { headers: X })).status, 429)
      assert.deepStrictEqual((yield* sim.control.state).violations, [])
    })
  )
})
