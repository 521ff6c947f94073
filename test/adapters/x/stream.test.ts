/** X's stream: every fault is survived within X's manners, nothing is delivered twice, and what can be had again is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { FaultRequest } from "../../../adapters/simulator/faults.ts"
import type { SettingsPatch } from "../../../adapters/simulator/settings.ts"
import { NOW, pass, postOf, RULES, type Stage, settle, X } from "../simulator/stage.ts"
import { type Adapter, attempts, fired, onStage, passSlowly, type Watching } from "./platform.ts"

type Settings = NonNullable<SettingsPatch["x"]>

/** On a plan with backfill, and with one connection like the others. */
const staged = <A, E, R>(settings: Settings, body: (on: Stage, adapter: Adapter) => Effect.Effect<A, E, R>) =>
  onStage({ x: { tier: "enterprise", connection_cap: 1, ...settings } }, body)

/** With the stream open for one rule, "cat". */
const watched = <A, E, R>(
  settings: Settings,
  body: (
    on: Stage,
    adapter: Adapter & { readonly watching: Watching; readonly catRule: string }
  ) => Effect.Effect<A, E, R>
) =>
  staged(settings, (on, adapter) =>
    Effect.gen(function* () {
      yield* adapter.platform.register(["cat"])
      const catRule = (yield* on.control.state).x.rules[0]?.id ?? ""
      return yield* body(on, { ...adapter, catRule, watching: yield* adapter.watch() })
    })
  )

const stateOf = ({ platform }: Adapter) => Effect.map(platform.status, ({ state }) => state)

/** Recovered: a post comes through, and X has nothing to complain of. */
const goesOn = (on: Stage, watching: Watching) =>
  Effect.gen(function* () {
    yield* on.post("cat at last")
    yield* settle
    assert.strictEqual(watching.texts().at(-1), "cat at last")
    const { violations, most_connections, x } = yield* on.control.state
    assert.deepStrictEqual(violations, [])
    assert.strictEqual(most_connections["x"], 1)
    assert.lengthOf(x.connections, 1)
  })

describe("deliveries", () => {
  it.scoped("tells the post, its rules and when it came, without X's own word on rules", () =>
    watched({}, (on, adapter) =>
      Effect.gen(function* () {
        const { watching, catRule, platform, recorded } = adapter
        yield* on.call(RULES, { method: "POST", headers: X, body: { add: [{ value: "sat", tag: "theirs" }] } })
        const foreign = (yield* on.control.state).x.rules[1]?.id ?? ""
        yield* pass(7)
        yield* on.post("a cat sat", "a dog", "a dog sat")
        yield* settle
        const { data, includes } = postOf("a cat sat", 1)
        assert.deepStrictEqual(
          watching.deliveries.map(({ ack: _, ...delivery }) => delivery),
          [
            {
              platformPostId: "1000001",
              payload: { data, includes },
              platformRuleIds: [catRule, foreign],
              cursor: Option.some(String(NOW + 7_000)),
              receivedAt: NOW + 7_000
            },
            {
              platformPostId: "1000003",
              payload: { data: postOf("a dog sat", 3).data, includes },
              platformRuleIds: [foreign],
              cursor: Option.some(String(NOW + 7_000)),
              receivedAt: NOW + 7_000
            }
          ]
        )
        assert.deepStrictEqual(
          recorded,
          watching.deliveries.map(({ payload }) => payload)
        )
        const status = yield* platform.status
        assert.deepStrictEqual([status.state, Option.getOrNull(status.lastEventAt)], ["live", NOW + 7_000])
      })
    )
  )

  for (const vocabulary of ["tweet", "post"] as const) {
    it.scoped(`delivers what X sends as it is, in the words of "${vocabulary}"`, () =>
      watched({ vocabulary }, (on, { watching }) =>
        Effect.gen(function* () {
          const post = postOf("a cat", 1)
          const original = { id: "99", text: "the cat itself", author_id: "8" }
          yield* Effect.orDie(
            on.control.publish([
              {
                data: { ...post.data, referenced_tweets: [{ type: "quoted", id: "99" }] },
                includes: { ...post.includes, tweets: [original] },
                errors: [{ title: "Not Found Error", type: "https://api.x.com/2/problems/resource-not-found" }]
              }
            ])
          )
          yield* settle
          const [delivery] = watching.deliveries
          assert.hasAllKeys(delivery?.payload, ["data", "includes"])
          const words = JSON.stringify(delivery?.payload)
          assert.include(words, vocabulary === "post" ? '"referenced_posts":[' : '"referenced_tweets":[')
          assert.include(words, vocabulary === "post" ? '"posts":[' : '"tweets":[')
          assert.lengthOf(yield* attempts(on), 1, "errors beside a post are no end of the stream")
        })
      )
    )
  }

  it.scoped("opens no connection without a rule, one with the first, and none after the last", () =>
    staged({}, (on, adapter) =>
      Effect.gen(function* () {
        const watching = yield* adapter.watch()
        yield* passSlowly(60, 30)
        assert.deepStrictEqual([yield* attempts(on), yield* stateOf(adapter)], [[], "idle"])
        const [first] = yield* adapter.platform.register(["cat"])
        yield* settle
        assert.strictEqual(yield* stateOf(adapter), "live")
        const { platformRuleId } = yield* first ?? Effect.dieMessage("no outcome")
        yield* adapter.platform.unregister([platformRuleId])
        yield* settle
        assert.lengthOf((yield* on.control.state).x.connections, 0)
        yield* pass(1)
        yield* adapter.platform.register(["cat"])
        yield* passSlowly(10, 1)
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [6, 200]
        ])
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("watches for the rules that an earlier process left", () =>
    staged({}, (on, adapter) =>
      Effect.gen(function* () {
        const body = { add: [{ value: "cat", tag: "earshot:memory" }] }
        yield* on.call(RULES, { method: "POST", headers: X, body })
        const watching = yield* adapter.watch()
        assert.lengthOf(yield* attempts(on), 0)
        yield* adapter.platform.inventory
        yield* settle
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("does not connect for the rules of others", () =>
    staged({}, (on, adapter) =>
      Effect.gen(function* () {
        yield* on.addX("theirs")
        yield* adapter.watch()
        yield* adapter.platform.inventory
        yield* settle
        assert.deepStrictEqual([yield* attempts(on), yield* stateOf(adapter)], [[], "idle"])
      })
    )
  )

  it.scoped("hangs up when it is left", () =>
    watched({}, (on, { watching }) =>
      Effect.gen(function* () {
        yield* watching.leave
        assert.lengthOf((yield* on.control.state).x.connections, 0)
      })
    )
  )
})

/** How the connections go, in seconds after the first, when the fault meets the attempt to connect. */
const REFUSALS: ReadonlyArray<{
  readonly fault: FaultRequest
  readonly state: string
  readonly reason: RegExp
  /** What the status says about the next attempt, at first. */
  readonly next: string
  readonly attempts: ReadonlyArray<readonly [number, number]>
}> = [
  {
    fault: { kind: "refuse", platform: "x", endpoint: "stream", count: 4 },
    state: "waiting",
    reason: /^The connection failed: /,
    next: "reconnecting in 250 ms",
    attempts: [
      [0, 0],
      [0, 0],
      [0.25, 0],
      [0.75, 0],
      [1.5, 200]
    ]
  },
  {
    fault: { kind: "server-error", platform: "x", endpoint: "stream", status: 503, count: 3 },
    state: "waiting",
    reason: /^It answered 503 \(Service Unavailable\)$/,
    next: "reconnecting in 5 s",
    attempts: [
      [0, 503],
      [5, 503],
      [15, 503],
      [35, 200]
    ]
  },
  {
    fault: { kind: "payment-required", platform: "x", endpoint: "stream", count: 2 },
    state: "refused",
    reason: /out of credit/,
    next: "reconnecting in 5 s",
    attempts: [
      [0, 402],
      [5, 402],
      [15, 200]
    ]
  },
  {
    fault: { kind: "rate-limit", platform: "x", endpoint: "stream", headers: false, reset_seconds: 60, count: 2 },
    state: "waiting",
    reason: /Too Many Requests/,
    next: "reconnecting in 60 s",
    attempts: [
      [0, 429],
      [60, 429],
      [180, 200]
    ]
  },
  {
    fault: { kind: "rate-limit", platform: "x", endpoint: "stream", headers: true, reset_seconds: 300 },
    state: "waiting",
    reason: /Too Many Requests/,
    next: "reconnecting in 5 min",
    attempts: [
      [0, 429],
      [300, 200]
    ]
  },
  {
    fault: { kind: "lower-caps", platform: "x", connections: 0, seconds: 100 },
    state: "waiting",
    reason: /^X counts another connection of this app/,
    next: "reconnecting in 5 s",
    attempts: [
      [0, 429],
      [5, 429],
      [15, 429],
      [35, 429],
      [75, 429],
      [155, 200]
    ]
  }
]

describe("a connection that is not had", () => {
  for (const { fault, state, reason, next, attempts: expected } of REFUSALS) {
    it.scoped(`is asked for again by X's manners after ${JSON.stringify(fault)}`, () =>
      staged({}, (on, adapter) =>
        Effect.gen(function* () {
          yield* adapter.platform.register(["cat"])
          yield* on.control.inject(fault)
          const watching = yield* adapter.watch()
          const status = yield* adapter.platform.status
          assert.strictEqual(status.state, state)
          assert.match(Option.getOrThrow(status.lastError).message, reason)
          assert.isTrue(status.detail.endsWith(next), status.detail)
          const last = expected.at(-1)?.[0] ?? 0
          yield* passSlowly(last + 1, last > 20 ? 5 : 0.25)
          assert.deepStrictEqual(yield* attempts(on), expected)
          assert.strictEqual(yield* stateOf(adapter), "live")
          assert.strictEqual(yield* fired(on, fault.kind), expected.length - 1)
          yield* goesOn(on, watching)
        })
      )
    )
  }

  it.scoped("waits at most 320 s after errors, and 16 s after cuts", () =>
    staged({}, (on, adapter) =>
      Effect.gen(function* () {
        yield* adapter.platform.register(["cat"])
        yield* on.control.inject({
          kind: "server-error",
          platform: "x",
          endpoint: "stream",
          status: 500,
          seconds: 1_300
        })
        const watching = yield* adapter.watch()
        yield* passSlowly(1_600, 5)
        assert.deepStrictEqual(
          (yield* attempts(on)).map(([at]) => at),
          [0, 5, 15, 35, 75, 155, 315, 635, 955, 1_275, 1_595]
        )
        yield* goesOn(on, watching)
        yield* passSlowly(60, 5)
        const before = (yield* attempts(on)).length
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 900 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passSlowly(930, 0.5)
        const times = (yield* attempts(on)).slice(before).map(([at = 0]) => at)
        const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
        assert.deepStrictEqual(gaps.slice(0, 4), [0.25, 0.5, 0.75, 1])
        assert.strictEqual(gaps.at(-1), 16)
        assert.isAtMost(Math.max(...gaps), 16, "an outage does not use up the connections that are wanted after it")
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("is refused for a wrong token and a plan without the stream, until that is mended", () =>
    staged({}, (on, adapter) =>
      Effect.gen(function* () {
        yield* adapter.platform.register(["cat"])
        yield* on.control.patch({ x: { tier: "free" } })
        const watching = yield* adapter.watch()
        const detail = Effect.map(adapter.platform.status, (status) => `${status.state}: ${status.detail}`)
        assert.match(
          yield* detail,
          /^refused: The plan of the app has no access to the filtered stream \(.*\); reconnecting in 5 s$/
        )
        yield* on.control.patch({ x: { tier: "pro", bearer_token: "another" } })
        yield* pass(5)
        assert.match(yield* detail, /^refused: It does not know the token: check X_BEARER_TOKEN/)
        yield* on.control.patch({ x: { bearer_token: "simulator-x-bearer-token" } })
        yield* passSlowly(10)
        yield* goesOn(on, watching)
      })
    )
  )

  for (const skew_seconds of [-100_000, 100_000]) {
    it.scoped(`is had in time though X's clock is ${skew_seconds} s wrong`, () =>
      staged({ stream_limit: 1 }, (on, adapter) =>
        Effect.gen(function* () {
          yield* adapter.platform.register(["cat"])
          yield* on.control.inject({ kind: "clock-skew", platform: "x", skew_seconds })
          const watching = yield* adapter.watch()
          yield* on.control.inject({ kind: "close", platform: "x" })
          yield* on.control.patch({ x: { stream_limit: 50 } })
          yield* passSlowly(901)
          assert.deepStrictEqual(yield* attempts(on), [
            [0, 200],
            [skew_seconds < 0 ? 1 : 900, 200]
          ])
          assert.isAbove(yield* fired(on, "clock-skew"), 0)
          yield* goesOn(on, watching)
        })
      )
    )
  }

  it.scoped("is not asked for when X says that the calls are used up", () =>
    staged({ stream_limit: 2 }, (on, adapter) =>
      Effect.gen(function* () {
        yield* adapter.platform.register(["cat"])
        const watching = yield* adapter.watch()
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* settle
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passSlowly(905)
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [0, 200],
          [900, 200]
        ])
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("is never asked for more often than X allows, whatever ends it", () =>
    watched({}, (on, { watching }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "close", platform: "x", seconds: 1_500 })
        yield* passSlowly(2_000)
        const { windows } = yield* on.control.state
        assert.isAtMost(windows["x.stream"]?.most ?? 0, 48)
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("waits for rules after 409, and comes back when they do", () =>
    watched({}, (on, adapter) =>
      Effect.gen(function* () {
        const { watching, platform } = adapter
        yield* on.control.inject({ kind: "drop-rules", platform: "x" })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passSlowly(300)
        assert.deepStrictEqual(
          (yield* attempts(on)).map(([, status]) => status),
          [200, 409]
        )
        assert.strictEqual(yield* stateOf(adapter), "idle")
        assert.strictEqual(yield* fired(on, "drop-rules"), 1)
        yield* platform.register(["cat"])
        yield* settle
        yield* goesOn(on, watching)
      })
    )
  )
})

describe("a record", () => {
  it.scoped("that is torn is left out with a word in the log, and the next is delivered", () =>
    watched({}, (on, { watching, logs }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "torn-line", platform: "x" })
        yield* on.post("cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(watching.texts(), ["cat 2"])
        assert.strictEqual(yield* fired(on, "torn-line"), 1)
        assert.lengthOf(
          logs.filter((line) => line.includes('A record of "x" cannot be read and is left out, 1 so far')),
          1
        )
        assert.lengthOf(yield* attempts(on), 1)
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("that is never readable does not fill the log", () =>
    watched({}, (on, { watching, logs }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "torn-line", platform: "x", count: 150 })
        yield* on.post(...Array.from({ length: 150 }, (_, at) => `cat ${at}`))
        yield* settle
        assert.deepStrictEqual(
          logs.flatMap((line) => /left out, (\d+) so far/.exec(line)?.[1] ?? []),
          ["1", "10", "100"]
        )
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("with half a character is delivered with a mark in its place", () =>
    watched({}, (on, { watching }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "half-utf8", platform: "x" })
        yield* on.post("cat é!", "cat 2")
        yield* settle
        assert.deepStrictEqual(watching.texts(), ["cat \uFFFD!", "cat 2"])
        assert.strictEqual(yield* fired(on, "half-utf8"), 1)
      })
    )
  )

  it.scoped("that comes byte by byte is delivered whole", () =>
    watched({}, (on, { watching }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "slow", platform: "x", bytes: 20, millis: 2_000 })
        yield* on.post("cat 🐈 é€")
        yield* passSlowly(60, 2)
        assert.deepStrictEqual(watching.texts(), ["cat 🐈 é€"])
        assert.strictEqual(yield* fired(on, "slow"), 1)
        assert.lengthOf(yield* attempts(on), 1)
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("that comes twice is delivered once", () =>
    watched({}, (on, { watching, recorded }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "duplicate", platform: "x", count: 2 })
        yield* on.post("cat 1", "cat 2", "cat 3")
        yield* settle
        assert.deepStrictEqual(watching.texts(), ["cat 1", "cat 2", "cat 3"])
        assert.lengthOf(recorded, 3)
        assert.strictEqual(yield* fired(on, "duplicate"), 2)
      })
    )
  )

  it.scoped("that comes again for a further rule is delivered again, and noted once", () =>
    watched({}, (on, { watching, platform, recorded }) =>
      Effect.gen(function* () {
        yield* Effect.orDie(on.control.publish([postOf("cat and dog", 1)]))
        yield* settle
        yield* platform.register(["dog"])
        yield* Effect.orDie(on.control.publish([postOf("cat and dog", 1), postOf("cat and dog", 1)]))
        yield* settle
        assert.deepStrictEqual(
          watching.deliveries.map(({ platformRuleIds }) => platformRuleIds.length),
          [1, 2]
        )
        assert.lengthOf(recorded, 1)
      })
    )
  )
})

/** How the connections go, in seconds after the first, when the fault meets an open connection. */
const BREAKS: ReadonlyArray<{
  readonly fault: FaultRequest
  readonly settings?: Settings
  readonly reason: RegExp
  readonly again: number
}> = [
  { fault: { kind: "close", platform: "x" }, reason: /^It closed the stream$/, again: 0 },
  { fault: { kind: "cut", platform: "x" }, reason: /^The connection failed: /, again: 0 },
  {
    fault: { kind: "disconnect", platform: "x", disconnect_type: "OperationalDisconnect" },
    reason:
      /^It ended the stream \(OperationalDisconnect: This stream has been disconnected for operational reasons\.\)$/,
    again: 0
  },
  {
    fault: { kind: "disconnect", platform: "x", disconnect_type: "SlowReader" },
    settings: { stream_errors: "bare" },
    reason: /^It ended the stream \(SlowReader: /,
    again: 0
  },
  {
    fault: { kind: "stall", platform: "x", keep_alives: false },
    reason: /^Nothing came for 30 s/,
    // Silent since the last keep-alive, hung up after 30 s, and 6 s until X has noticed.
    again: 36
  }
]

describe("a connection that breaks", () => {
  for (const { fault, settings = {}, reason, again } of BREAKS) {
    it.scoped(`is had again by X's manners after ${JSON.stringify(fault)}`, () =>
      watched(settings, (on, { watching, platform }) =>
        Effect.gen(function* () {
          yield* pass(20)
          yield* on.post("cat 1")
          yield* settle
          yield* on.control.inject(fault)
          yield* on.post("cat 2")
          yield* passSlowly(again + 1, again === 0 ? 0.25 : 1)
          assert.deepStrictEqual(yield* attempts(on), [
            [0, 200],
            [20 + again, 200]
          ])
          assert.match(Option.getOrThrow((yield* platform.status).lastError).message, reason)
          assert.strictEqual(yield* fired(on, fault.kind), 1)
          assert.deepStrictEqual(watching.texts(), ["cat 1", "cat 2"], "nothing is lost, and nothing comes twice")
          yield* goesOn(on, watching)
        })
      )
    )
  }

  it.scoped("delivers what came before X's last word, in the same bytes", () =>
    watched({ credits: 1 }, (on, adapter) =>
      Effect.gen(function* () {
        yield* on.post("cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(adapter.watching.texts(), ["cat 1"])
        const { state, detail } = yield* adapter.platform.status
        assert.strictEqual(state, "refused")
        assert.match(detail, /^It ended the stream \(UsageCapExceeded: Usage cap exceeded/)
        yield* on.control.patch({ x: { credits: null } })
        yield* passSlowly(5)
        yield* goesOn(on, adapter.watching)
      })
    )
  )

  it.scoped("finds its slot taken for as long as X holds it", () =>
    watched({}, (on, { watching }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "hold-slot", platform: "x", hold_seconds: 150 })
        yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: false })
        yield* passSlowly(240, 1)
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [36, 429],
          [41, 429],
          [51, 429],
          [71, 429],
          [111, 429],
          [191, 200]
        ])
        assert.deepStrictEqual([yield* fired(on, "hold-slot"), yield* fired(on, "stall")], [1, 1])
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped(
    "is opened anew when no post came for ten minutes though they come every few seconds, keep-alives or not",
    () =>
      watched({}, (on, { watching, platform }) =>
        Effect.gen(function* () {
          for (let at = 0; at < 10; at++) {
            yield* on.post(`cat ${at}`)
            yield* pass(5)
          }
          yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: true })
          yield* passSlowly(580, 10)
          assert.lengthOf(yield* attempts(on), 1)
          yield* passSlowly(60, 10)
          assert.lengthOf(yield* attempts(on), 2)
          assert.match(Option.getOrThrow((yield* platform.status).lastError).message, /^No post came for 10 min/)
          assert.strictEqual(yield* fired(on, "stall"), 1)
          yield* goesOn(on, watching)
        })
      )
  )

  it.scoped("is left alone for six hours when there has been no post yet", () =>
    watched({ keep_alive_seconds: 29 }, (on, { watching }) =>
      Effect.gen(function* () {
        yield* passSlowly(6 * 3_600 - 29, 29)
        assert.lengthOf(yield* attempts(on), 1)
        yield* passSlowly(60, 10)
        assert.lengthOf(yield* attempts(on), 2)
        yield* goesOn(on, watching)
      })
    )
  )
})

describe("backfill", () => {
  it.scoped("brings what was posted in a gap, once, on a plan that has it", () =>
    watched({}, (on, { watching }) =>
      Effect.gen(function* () {
        yield* on.post("cat 1")
        yield* settle
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 100 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passSlowly(20)
        yield* on.post("cat 2")
        yield* passSlowly(100)
        assert.deepStrictEqual(watching.texts(), ["cat 1", "cat 2"])
        yield* on.control.inject({ kind: "cut", platform: "x" })
        yield* on.post("cat 3")
        yield* passSlowly(20)
        assert.deepStrictEqual(watching.texts(), ["cat 1", "cat 2", "cat 3"], "the record that was cut comes again")
        yield* goesOn(on, watching)
      })
    )
  )

  it.scoped("begins at the cursor after a restart, and goes back five minutes at most", () =>
    watched({}, (on, { watching, watch }) =>
      Effect.gen(function* () {
        const restart = (cursor: string) =>
          Effect.gen(function* () {
            const later = yield* watch(cursor)
            assert.lengthOf((yield* on.control.state).x.connections, 1)
            yield* later.leave
            yield* pass(5)
            return later.texts()
          })
        yield* watching.leave
        yield* on.post("too old, cat")
        yield* passSlowly(400, 50)
        yield* on.post("cat 1")
        yield* pass(100)
        yield* on.post("cat 2")
        assert.deepStrictEqual(yield* restart(String(NOW)), ["cat 1", "cat 2"])
        assert.deepStrictEqual(yield* restart(String(NOW + 500_000)), ["cat 2"])
        for (const cursor of ["43-1", "", "-5", "9".repeat(30)]) {
          assert.deepStrictEqual(yield* restart(cursor), [], `cursor "${cursor}"`)
        }
      })
    )
  )

  it.scoped("is tried once on a plan without it, and never again", () =>
    watched({ tier: "pay-per-use" }, (on, { watching }) =>
      Effect.gen(function* () {
        for (let turn = 0; turn < 3; turn++) {
          yield* passSlowly(100, 20)
          yield* on.control.inject({ kind: "close", platform: "x" })
          yield* settle
        }
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [100, 400],
          [100, 200],
          [200, 200],
          [300, 200]
        ])
        yield* goesOn(on, watching)
      })
    )
  )
})
