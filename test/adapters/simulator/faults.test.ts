/** Every fault does what it is for, on each platform, and its counter proves it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { FaultRequest } from "../../../adapters/simulator/faults.ts"
import type { PlatformId } from "../../platforms.ts"
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

const fired = (on: Stage, name: string) => Effect.map(on.control.state, ({ faults_fired }) => faults_fired[name] ?? 0)

interface Side {
  readonly platform: PlatformId
  readonly rules: string
  readonly stream: string
  readonly headers: Readonly<Record<string, string>>
  readonly add: (on: Stage) => Effect.Effect<unknown>
  readonly send: (on: Stage, ...texts: ReadonlyArray<string>) => Effect.Effect<void>
  /** The texts of the whole records that came, those that cannot be read as "broken". */
  readonly texts: (listening: Listening) => ReadonlyArray<string>
}

const readable = (json: string, read: (value: Record<string, Record<string, string>>) => string | undefined) => {
  try {
    return read(JSON.parse(json)) ?? "broken"
  } catch {
    return "broken"
  }
}

const SIDES: ReadonlyArray<Side> = [
  {
    platform: "x",
    rules: RULES,
    stream: STREAM,
    headers: X,
    add: (on) => on.addX("cat"),
    send: (on, ...texts) => on.post(...texts),
    texts: (listening) =>
      listening
        .text()
        .split("\r\n")
        .filter((line) => line !== "")
        .map((line) => readable(line, (record) => record["data"]?.["text"]))
  },
  {
    platform: "firehose",
    rules: "/v1/rules",
    stream: "/v1/stream",
    headers: TAP,
    add: (on) => on.addFirehose("cat"),
    send: (on, ...texts) => on.page(...texts),
    texts: (listening) =>
      eventsOf(listening.text())
        .filter(({ event }) => event === "update")
        .map(({ data }) => readable(data, (record) => record["document"]?.["title"]))
  }
]

for (const side of SIDES) {
  const { platform, headers } = side
  const open = (fault?: FaultRequest, settings = {}) =>
    Effect.gen(function* () {
      const on = yield* stage(settings)
      yield* side.add(on)
      const stream = yield* on.listen(side.stream, headers)
      if (fault !== undefined) yield* on.control.inject(fault)
      return { on, stream }
    })

  describe(`on ${platform}`, () => {
    it.scoped("refuse drops calls before the answer, at the endpoint that it names and as often as it says", () =>
      Effect.gen(function* () {
        const on = yield* stage()
        yield* on.control.inject({ kind: "refuse", platform, endpoint: "stream", count: 2 })
        const call = () =>
          Effect.either(Effect.tryPromise(() => on.handler(new Request(`http://s${side.stream}`, { headers }))))
        assert.strictEqual((yield* on.call(side.rules, { headers })).status, 200)
        for (const outcome of ["Left", "Left", "Right"]) assert.strictEqual((yield* call())._tag, outcome)
        assert.strictEqual(yield* fired(on, `${platform}.refuse`), 2)
        const { calls, violations } = yield* on.control.state
        assert.strictEqual(calls[`${platform}.stream`]?.statuses[0], 2)
        assert.deepStrictEqual(violations, [])
      })
    )

    it.scoped("rate-limit answers 429, with the headers that tell when it ends or without, and is no violation", () =>
      Effect.gen(function* () {
        const on = yield* stage()
        const told = platform === "x" ? "x-rate-limit-reset" : "retry-after"
        yield* on.control.inject({ kind: "rate-limit", platform, headers: true, reset_seconds: 90 })
        const first = yield* on.call(side.rules, { headers })
        assert.deepStrictEqual(
          [first.status, first.headers.get(told)],
          [429, platform === "x" ? String(NOW / 1_000 + 90) : "90"]
        )
        yield* on.control.inject({ kind: "rate-limit", platform, headers: false, reset_seconds: 90 })
        const second = yield* on.call(side.rules, { headers })
        assert.deepStrictEqual([second.status, second.headers.get(told)], [429, null])
        assert.strictEqual((yield* on.call(side.rules, { headers })).status, 200)
        assert.strictEqual(yield* fired(on, `${platform}.rate-limit`), 2)
        assert.deepStrictEqual((yield* on.control.state).violations, [])
      })
    )

    it.scoped("payment-required answers 402 and server-error the status that it names", () =>
      Effect.gen(function* () {
        const on = yield* stage()
        yield* side.add(on)
        yield* on.control.inject({ kind: "payment-required", platform, endpoint: "stream" })
        yield* on.control.inject({ kind: "server-error", platform, status: 502, seconds: 10 })
        assert.strictEqual((yield* on.call(side.stream, { headers })).status, 502)
        assert.strictEqual((yield* on.call(side.rules, { headers })).status, 502)
        yield* pass(10)
        assert.strictEqual((yield* on.call(side.stream, { headers })).status, 402)
        assert.strictEqual((yield* on.listen(side.stream, headers)).status, 200)
        assert.strictEqual(yield* fired(on, `${platform}.payment-required`), 1)
        assert.strictEqual(yield* fired(on, `${platform}.server-error`), 2)
      })
    )

    it.scoped("torn-line sends half a record as a whole one, and the next as it should be", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open({ kind: "torn-line", platform })
        yield* side.send(on, "cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(side.texts(stream), ["broken", "cat 2"])
        assert.strictEqual(yield* fired(on, `${platform}.torn-line`), 1)
      })
    )

    for (const text of ["cat é€🐈", "cat"]) {
      it.scoped(`half-utf8 sends bytes that are no text, for ${JSON.stringify(text)}`, () =>
        Effect.gen(function* () {
          const { on, stream } = yield* open({ kind: "half-utf8", platform })
          yield* side.send(on, text, "cat 2")
          yield* settle
          assert.throws(() => new TextDecoder("utf-8", { fatal: true }).decode(stream.bytes()))
          assert.strictEqual(side.texts(stream)[1], "cat 2")
          assert.strictEqual(yield* fired(on, `${platform}.half-utf8`), 1)
        })
      )
    }

    it.scoped("cut drops the connection in the middle of a record", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open({ kind: "cut", platform })
        yield* side.send(on, "cat 1", "cat 2")
        yield* settle
        assert.strictEqual(stream.ended(), "dropped")
        assert.match(stream.text(), /\{"[^\n]*[^\n]$/)
        assert.notInclude(stream.text(), "cat 2")
        assert.strictEqual(yield* fired(on, `${platform}.cut`), 1)
      })
    )

    it.scoped("slow sends a record piece by piece", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open({ kind: "slow", platform, bytes: 10, millis: 1_000 })
        const before = stream.bytes().length
        yield* side.send(on, "cat 1")
        yield* settle
        assert.strictEqual(stream.bytes().length, before + 10)
        yield* pass(2)
        assert.strictEqual(stream.bytes().length, before + 30)
        yield* pass(100)
        assert.deepStrictEqual(side.texts(stream), ["cat 1"])
        assert.strictEqual(yield* fired(on, `${platform}.slow`), 1)
      })
    )

    it.scoped("duplicate sends a record twice", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open({ kind: "duplicate", platform })
        yield* side.send(on, "cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(side.texts(stream), ["cat 1", "cat 1", "cat 2"])
        assert.strictEqual(yield* fired(on, `${platform}.duplicate`), 1)
      })
    )

    it.scoped("stall holds back the records of a connection, with keep-alives and until its end", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open(
          { kind: "stall", platform, keep_alives: true, stall_seconds: 45 },
          { firehose: { keep_alive_seconds: 20 } }
        )
        const before = stream.text()
        yield* side.send(on, "cat 1")
        yield* pass(44)
        const keepAlive = platform === "x" ? "\r\n" : ": keepalive\n\n"
        assert.strictEqual(stream.text(), before + keepAlive.repeat(2))
        yield* pass(1)
        assert.deepStrictEqual(side.texts(stream), ["cat 1"])
        assert.strictEqual(yield* fired(on, `${platform}.stall`), 1)
      })
    )

    it.scoped("stall without keep-alives sends not a byte; another connection is well", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open({ kind: "stall", platform, keep_alives: false })
        const before = stream.text()
        yield* settle
        yield* side.send(on, "cat 1")
        yield* pass(600)
        assert.deepStrictEqual([stream.text(), stream.ended()], [before, "open"])
        yield* stream.hangUp
        yield* pass(5)
        const next = yield* on.listen(side.stream, headers)
        yield* side.send(on, "cat 2")
        yield* settle
        assert.deepStrictEqual(side.texts(next), ["cat 2"])
      })
    )

    it.scoped("close ends the stream without a word", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open()
        const before = stream.text()
        yield* on.control.inject({ kind: "close", platform })
        yield* settle
        assert.deepStrictEqual([stream.text(), stream.ended()], [before, "end"])
        assert.strictEqual(yield* fired(on, `${platform}.close`), 1)
      })
    )

    it.scoped("drop-rules forgets all rules at once", () =>
      Effect.gen(function* () {
        const { on } = yield* open({ kind: "drop-rules", platform })
        const { body } = yield* on.call(side.rules, { headers })
        assert.strictEqual(body.meta.result_count ?? body.meta.count, 0)
        assert.strictEqual(yield* fired(on, `${platform}.drop-rules`), 1)
        yield* side.add(on)
        assert.lengthOf((yield* on.call(side.rules, { headers })).body.data, 1)
      })
    )

    it.scoped("lower-caps lowers the cap of rules until it is cleared", () =>
      Effect.gen(function* () {
        const { on } = yield* open({ kind: "lower-caps", platform, rules: 1 })
        const add = on.call(side.rules, {
          method: "POST",
          headers,
          body: platform === "x" ? { add: [{ value: "dog" }] } : { value: "dog" }
        })
        assert.strictEqual((yield* add).status, 422)
        assert.strictEqual(yield* fired(on, `${platform}.lower-caps`), 1)
        yield* on.control.clear()
        assert.strictEqual((yield* add).status, 201)
        assert.strictEqual(yield* fired(on, `${platform}.lower-caps`), 1, "the counter stays")
      })
    )

    it.scoped("clock-skew makes the times wrong that are told, and no others", () =>
      Effect.gen(function* () {
        const { on, stream } = yield* open({ kind: "clock-skew", platform, skew_seconds: -3_600 })
        if (platform === "x") {
          const { body, headers: told } = yield* on.call(side.rules, { headers })
          assert.strictEqual(body.meta.sent, "2026-11-15T11:00:00.000Z")
          assert.strictEqual(told.get("x-rate-limit-reset"), String(NOW / 1_000 - 3_600 + 900))
        } else {
          yield* side.send(on, "cat")
          yield* settle
          assert.include(stream.text(), '"matched_at":"2026-11-15T11:00:00.000Z"')
        }
        assert.isAbove(yield* fired(on, `${platform}.clock-skew`), 0)
      })
    )
  })
}

describe("on one platform only", () => {
  it.scoped("stream-error ends Firehose's stream with an error event", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addFirehose("cat")
      const stream = yield* on.listen("/v1/stream", TAP)
      yield* on.control.inject({ kind: "stream-error", platform: "firehose", message: "Kafka is away" })
      yield* settle
      assert.deepStrictEqual(eventsOf(stream.text()).at(-1), { event: "error", data: '{"message":"Kafka is away"}' })
      assert.strictEqual(stream.ended(), "end")
      assert.strictEqual(yield* fired(on, "firehose.stream-error"), 1)
    })
  )

  it.scoped("disconnect ends X's stream with a notice, once", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addX("cat")
      const stream = yield* on.listen(STREAM, X)
      yield* on.control.inject({ kind: "disconnect", platform: "x", disconnect_type: "OperationalDisconnect" })
      yield* settle
      assert.strictEqual(
        recordsOf(stream.text())[0].errors[0].detail,
        "This stream has been disconnected for operational reasons."
      )
      assert.strictEqual((yield* on.listen(STREAM, X)).ended(), "open")
      assert.strictEqual(yield* fired(on, "x.disconnect"), 1)
    })
  )

  it.scoped("hold-slot keeps the slot of a client that went away", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      yield* on.addX("cat")
      yield* on.control.inject({ kind: "hold-slot", platform: "x", hold_seconds: 900 })
      const stream = yield* on.listen(STREAM, X)
      yield* stream.hangUp
      yield* pass(899)
      assert.strictEqual((yield* on.call(STREAM, { headers: X })).body.connection_issue, "TooManyConnections")
      yield* pass(1)
      assert.strictEqual((yield* on.listen(STREAM, X)).status, 200)
      assert.strictEqual(yield* fired(on, "x.hold-slot"), 1)
    })
  )

  it.scoped("lower-caps lowers X's connections too, which is no violation of the client's", () =>
    Effect.gen(function* () {
      const on = yield* stage({ x: { tier: "enterprise" } })
      yield* on.addX("cat")
      yield* on.listen(STREAM, X)
      yield* on.control.inject({ kind: "lower-caps", platform: "x", connections: 1 })
      assert.strictEqual((yield* on.call(STREAM, { headers: X })).status, 429)
      assert.deepStrictEqual((yield* on.control.state).violations, [])
    })
  )
})
