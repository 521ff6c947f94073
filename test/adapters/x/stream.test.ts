/** X's stream: it recovers from every fault with X's backoff, delivers once, and requests backfill. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { FaultRequest } from "../../../simulator/faults.ts"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { NOW, pass, postOf, RULES, type Stage, settle, X } from "../../simulator/stage.ts"
import { type Adapter, attempts, fired, passInSteps, type Watcher, withSimulator } from "./platform.ts"

type Settings = NonNullable<SettingsPatch["x"]>

/** A plan with backfill but only one connection. */
const enterprise = <A, E, R>(settings: Settings, body: (on: Stage, adapter: Adapter) => Effect.Effect<A, E, R>) =>
  withSimulator({ x: { tier: "enterprise", connection_cap: 1, ...settings } }, body)

/** With an open stream and one rule, "cat". */
const watched = <A, E, R>(
  settings: Settings,
  body: (
    on: Stage,
    adapter: Adapter & { readonly watcher: Watcher; readonly catRule: string }
  ) => Effect.Effect<A, E, R>
) =>
  enterprise(settings, (on, adapter) =>
    Effect.gen(function* () {
      yield* adapter.platform.register(["cat"])
      const catRule = (yield* on.control.state).x.rules[0]?.id ?? ""
      return yield* body(on, { ...adapter, catRule, watcher: yield* adapter.watch() })
    })
  )

const stateOf = ({ platform }: Adapter) => Effect.map(platform.status, ({ state }) => state)

/** A post is delivered, and X counts no violations. */
const assertRecovered = (on: Stage, watcher: Watcher) =>
  Effect.gen(function* () {
    yield* on.post("cat at last")
    yield* settle
    assert.strictEqual(watcher.texts().at(-1), "cat at last")
    const { violations, most_connections, x } = yield* on.control.state
    assert.deepStrictEqual(violations, [])
    assert.strictEqual(most_connections["x"], 1)
    assert.lengthOf(x.connections, 1)
  })

describe("deliveries", () => {
  it.scoped("contain the post, its rules and the time, without X's matching_rules", () =>
    watched({}, (on, adapter) =>
      Effect.gen(function* () {
        const { watcher, catRule, platform, recorded } = adapter
        yield* on.call(RULES, { method: "POST", headers: X, body: { add: [{ value: "sat", tag: "theirs" }] } })
        const foreign = (yield* on.control.state).x.rules[1]?.id ?? ""
        yield* pass(7)
        yield* on.post("a cat sat", "a dog", "a dog sat")
        yield* settle
        const { data, includes } = postOf("a cat sat", 1, NOW + 7_000)
        const delivered = { receivedAt: NOW + 7_000, isSignOfLife: false } as const
        assert.deepStrictEqual(
          watcher.deliveries.map(({ ack: _, ...delivery }) => delivery),
          [
            {
              platformPostId: "1000001",
              payload: { data, includes },
              platformRuleIds: [catRule, foreign],
              // Posts that were made before may still come.
              cursor: Option.some(`${NOW - 10_000} 1000001`),
              ...delivered
            },
            {
              platformPostId: "1000003",
              payload: { data: postOf("a dog sat", 3, NOW + 7_000).data, includes },
              platformRuleIds: [foreign],
              cursor: Option.some(`${NOW - 3_000} 1000003`),
              ...delivered
            }
          ]
        )
        assert.deepStrictEqual(
          recorded,
          watcher.deliveries.map(({ payload }) => payload)
        )
        const status = yield* platform.status
        assert.deepStrictEqual([status.state, Option.getOrNull(status.lastEventAt)], ["live", NOW + 7_000])
      })
    )
  )

  for (const vocabulary of ["tweet", "post"] as const) {
    it.scoped(`keep X's payload unchanged, with the field names of "${vocabulary}"`, () =>
      watched({ vocabulary }, (on, { watcher }) =>
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
          const [delivery] = watcher.deliveries
          assert.hasAllKeys(delivery?.payload, ["data", "includes"])
          const json = JSON.stringify(delivery?.payload)
          assert.include(json, vocabulary === "post" ? '"referenced_posts":[' : '"referenced_tweets":[')
          assert.include(json, vocabulary === "post" ? '"posts":[' : '"tweets":[')
          assert.lengthOf(yield* attempts(on), 1, "errors next to a post do not end the stream")
        })
      )
    )
  }

  it.scoped("need a connection only while there is a rule", () =>
    enterprise({}, (on, adapter) =>
      Effect.gen(function* () {
        const watcher = yield* adapter.watch()
        yield* passInSteps(60, 30)
        assert.deepStrictEqual([yield* attempts(on), yield* stateOf(adapter)], [[], "idle"])
        const [first] = yield* adapter.platform.register(["cat"])
        yield* settle
        assert.strictEqual(yield* stateOf(adapter), "live")
        const { platformRuleId } = yield* first ?? Effect.dieMessage("no outcome")
        yield* adapter.platform.unregister([platformRuleId])
        yield* passInSteps(59)
        assert.lengthOf((yield* on.control.state).x.connections, 1, "a new rule may come")
        yield* pass(1)
        assert.lengthOf((yield* on.control.state).x.connections, 0)
        assert.strictEqual(yield* stateOf(adapter), "idle")
        yield* pass(1)
        yield* adapter.platform.register(["cat"])
        yield* passInSteps(10, 1)
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [66, 200]
        ])
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("include rules that an earlier process registered", () =>
    enterprise({}, (on, adapter) =>
      Effect.gen(function* () {
        const body = { add: [{ value: "cat", tag: "earshot:memory" }] }
        yield* on.call(RULES, { method: "POST", headers: X, body })
        const watcher = yield* adapter.watch()
        assert.lengthOf(yield* attempts(on), 0)
        yield* adapter.platform.inventory
        yield* settle
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("need no connection for foreign rules", () =>
    enterprise({}, (on, adapter) =>
      Effect.gen(function* () {
        yield* on.addX("theirs")
        yield* adapter.watch()
        yield* adapter.platform.inventory
        yield* settle
        assert.deepStrictEqual([yield* attempts(on), yield* stateOf(adapter)], [[], "idle"])
      })
    )
  )

  it.scoped("close the connection when the watcher stops", () =>
    watched({}, (on, { watcher }) =>
      Effect.gen(function* () {
        yield* watcher.stop
        assert.lengthOf((yield* on.control.state).x.connections, 0)
      })
    )
  )
})

/** Faults of a connection attempt. */
const refusals: ReadonlyArray<{
  readonly fault: FaultRequest
  readonly state: string
  readonly reason: RegExp
  /** The end of the status detail after the first attempt. */
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
    reason: /^X answered 503 \(Service Unavailable\)$/,
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

describe("a refused connection", () => {
  for (const { fault, state, reason, next, attempts: expected } of refusals) {
    it.scoped(`is retried with X's backoff after ${JSON.stringify(fault)}`, () =>
      enterprise({}, (on, adapter) =>
        Effect.gen(function* () {
          yield* adapter.platform.register(["cat"])
          yield* on.control.inject(fault)
          const watcher = yield* adapter.watch()
          const status = yield* adapter.platform.status
          assert.strictEqual(status.state, state)
          assert.match(Option.getOrThrow(status.lastError).message, reason)
          assert.isTrue(status.detail.endsWith(next), status.detail)
          const last = expected.at(-1)?.[0] ?? 0
          yield* passInSteps(last + 1, last > 20 ? 5 : 0.25)
          assert.deepStrictEqual(yield* attempts(on), expected)
          assert.strictEqual(yield* stateOf(adapter), "live")
          assert.strictEqual(yield* fired(on, fault.kind), expected.length - 1)
          yield* assertRecovered(on, watcher)
        })
      )
    )
  }

  it.scoped("is retried after at most 320 s for errors and 16 s for cuts", () =>
    enterprise({}, (on, adapter) =>
      Effect.gen(function* () {
        yield* adapter.platform.register(["cat"])
        yield* on.control.inject({
          kind: "server-error",
          platform: "x",
          endpoint: "stream",
          status: 500,
          seconds: 1_300
        })
        const watcher = yield* adapter.watch()
        yield* passInSteps(1_600, 5)
        assert.deepStrictEqual(
          (yield* attempts(on)).map(([at]) => at),
          [0, 5, 15, 35, 75, 155, 315, 635, 955, 1_275, 1_595]
        )
        yield* assertRecovered(on, watcher)
        yield* passInSteps(60, 5)
        const before = (yield* attempts(on)).length
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 900 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(930, 0.5)
        const times = (yield* attempts(on)).slice(before).map(([at = 0]) => at)
        const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
        assert.deepStrictEqual(gaps.slice(0, 4), [0.25, 0.5, 0.75, 1])
        assert.deepStrictEqual(gaps.slice(-2), [16, 10], "the last is a recovery")
        assert.isAtMost(Math.max(...gaps), 16, "an outage does not use up the budget")
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("sets the state to refused for a wrong token and for a plan without the stream, until that is fixed", () =>
    enterprise({}, (on, adapter) =>
      Effect.gen(function* () {
        yield* adapter.platform.register(["cat"])
        yield* on.control.patch({ x: { tier: "free" } })
        const watcher = yield* adapter.watch()
        const detail = Effect.map(adapter.platform.status, (status) => `${status.state}: ${status.detail}`)
        assert.match(
          yield* detail,
          /^refused: The app's plan has no access to the filtered stream \(.*\); reconnecting in 5 s$/
        )
        yield* on.control.patch({ x: { tier: "pro", bearer_token: "another" } })
        yield* pass(5)
        assert.match(yield* detail, /^refused: X rejects the token: check X_BEARER_TOKEN/)
        yield* on.control.patch({ x: { bearer_token: "simulator-x-bearer-token" } })
        yield* passInSteps(10)
        yield* assertRecovered(on, watcher)
      })
    )
  )

  for (const skew_seconds of [-100_000, 100_000]) {
    it.scoped(`is retried in time when X's clock is ${skew_seconds} s off`, () =>
      enterprise({ stream_limit: 1 }, (on, adapter) =>
        Effect.gen(function* () {
          yield* adapter.platform.register(["cat"])
          yield* on.control.inject({ kind: "clock-skew", platform: "x", skew_seconds })
          const watcher = yield* adapter.watch()
          yield* on.control.inject({ kind: "close", platform: "x" })
          yield* on.control.patch({ x: { stream_limit: 50 } })
          yield* passInSteps(901)
          assert.deepStrictEqual(yield* attempts(on), [
            [0, 200],
            [900, 200]
          ])
          assert.isAbove(yield* fired(on, "clock-skew"), 0)
          yield* assertRecovered(on, watcher)
        })
      )
    )
  }

  it.scoped("is not retried before the reset when X reports 0 remaining calls", () =>
    enterprise({ stream_limit: 2 }, (on, adapter) =>
      Effect.gen(function* () {
        yield* adapter.platform.register(["cat"])
        const watcher = yield* adapter.watch()
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* settle
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(910)
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [0, 200],
          [900, 200],
          [910, 200]
        ])
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("stays within X's connection limit", () =>
    watched({}, (on, { watcher }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "close", platform: "x", seconds: 1_500 })
        yield* passInSteps(2_000)
        const { windows } = yield* on.control.state
        assert.isAtMost(windows["x.stream"]?.most ?? 0, 48)
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("waits for rules after 409, and reconnects when there is one", () =>
    watched({}, (on, adapter) =>
      Effect.gen(function* () {
        const { watcher, platform } = adapter
        yield* on.control.inject({ kind: "drop-rules", platform: "x" })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(300)
        assert.deepStrictEqual(
          (yield* attempts(on)).map(([, status]) => status),
          [200, 409]
        )
        assert.strictEqual(yield* stateOf(adapter), "idle")
        assert.strictEqual(yield* fired(on, "drop-rules"), 1)
        yield* platform.register(["cat"])
        yield* settle
        yield* assertRecovered(on, watcher)
      })
    )
  )
})

describe("a record", () => {
  it.scoped("that is torn is skipped and logged, and the next is delivered", () =>
    watched({}, (on, { watcher, logs }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "torn-line", platform: "x" })
        yield* on.post("cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(watcher.texts(), ["cat 2"])
        assert.strictEqual(yield* fired(on, "torn-line"), 1)
        assert.lengthOf(
          logs.filter((line) => line.includes('Skipped an unreadable record of "x" (1 so far)')),
          1
        )
        assert.lengthOf(yield* attempts(on), 1)
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("that is unreadable is logged once per power of ten", () =>
    watched({}, (on, { watcher, logs }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "torn-line", platform: "x", count: 150 })
        yield* on.post(...Array.from({ length: 150 }, (_, at) => `cat ${at}`))
        yield* settle
        assert.deepStrictEqual(
          logs.flatMap((line) => /unreadable record of "x" \((\d+) so far/.exec(line)?.[1] ?? []),
          ["1", "10", "100"]
        )
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("with half a character is delivered with U+FFFD in its place", () =>
    watched({}, (on, { watcher }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "half-utf8", platform: "x" })
        yield* on.post("cat é!", "cat 2")
        yield* settle
        assert.deepStrictEqual(watcher.texts(), ["cat \uFFFD!", "cat 2"])
        assert.strictEqual(yield* fired(on, "half-utf8"), 1)
      })
    )
  )

  it.scoped("that comes byte by byte is delivered whole", () =>
    watched({}, (on, { watcher }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "slow", platform: "x", bytes: 20, millis: 2_000 })
        yield* on.post("cat 🐈 é€")
        yield* passInSteps(60, 2)
        assert.deepStrictEqual(watcher.texts(), ["cat 🐈 é€"])
        assert.strictEqual(yield* fired(on, "slow"), 1)
        assert.lengthOf(yield* attempts(on), 1)
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("that comes twice is delivered once", () =>
    watched({}, (on, { watcher, recorded }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "duplicate", platform: "x", count: 2 })
        yield* on.post("cat 1", "cat 2", "cat 3")
        yield* settle
        assert.deepStrictEqual(watcher.texts(), ["cat 1", "cat 2", "cat 3"])
        assert.lengthOf(recorded, 3)
        assert.strictEqual(yield* fired(on, "duplicate"), 2)
      })
    )
  )

  it.scoped("that repeats for a new rule is delivered again, and recorded once", () =>
    watched({}, (on, { watcher, platform, recorded }) =>
      Effect.gen(function* () {
        yield* Effect.orDie(on.control.publish([postOf("cat and dog", 1)]))
        yield* settle
        yield* platform.register(["dog"])
        yield* Effect.orDie(on.control.publish([postOf("cat and dog", 1), postOf("cat and dog", 1)]))
        yield* settle
        assert.deepStrictEqual(
          watcher.deliveries.map(({ platformRuleIds }) => platformRuleIds.length),
          [1, 2]
        )
        assert.lengthOf(recorded, 1)
      })
    )
  )
})

/** Faults of an open connection. */
const breaks: ReadonlyArray<{
  readonly fault: FaultRequest
  readonly settings?: Settings
  readonly reason: RegExp
  /** Seconds until the next connection. */
  readonly again: number
}> = [
  { fault: { kind: "close", platform: "x" }, reason: /^The platform closed the connection$/, again: 0 },
  { fault: { kind: "cut", platform: "x" }, reason: /^The connection failed: /, again: 0 },
  {
    fault: { kind: "disconnect", platform: "x", disconnect_type: "OperationalDisconnect" },
    reason:
      /^X ended the stream \(OperationalDisconnect: This stream has been disconnected for operational reasons\.\)$/,
    again: 0
  },
  {
    fault: { kind: "disconnect", platform: "x", disconnect_type: "SlowReader" },
    settings: { stream_errors: "bare" },
    reason: /^X ended the stream \(SlowReader: /,
    again: 0
  },
  {
    fault: { kind: "stall", platform: "x", keep_alives: false },
    reason: /^No data came for 30 s/,
    // 30 s of silence, and 6 s until X notices that we closed the connection.
    again: 36
  }
]

describe("a broken connection", () => {
  for (const { fault, settings = {}, reason, again } of breaks) {
    it.scoped(`is reopened with X's backoff after ${JSON.stringify(fault)}`, () =>
      watched(settings, (on, { watcher, platform }) =>
        Effect.gen(function* () {
          yield* pass(20)
          yield* on.post("cat 1")
          yield* settle
          yield* on.control.inject(fault)
          yield* on.post("cat 2")
          yield* passInSteps(again + 1, again === 0 ? 0.25 : 1)
          assert.deepStrictEqual(yield* attempts(on), [
            [0, 200],
            [20 + again, 200]
          ])
          assert.match(Option.getOrThrow((yield* platform.status).lastError).message, reason)
          assert.strictEqual(yield* fired(on, fault.kind), 1)
          assert.deepStrictEqual(watcher.texts(), ["cat 1", "cat 2"], "each post once")
          yield* assertRecovered(on, watcher)
        })
      )
    )
  }

  it.scoped("delivers posts from the same chunk as the disconnect message", () =>
    watched({ credits: 1 }, (on, adapter) =>
      Effect.gen(function* () {
        yield* on.post("cat 1", "cat 2")
        yield* settle
        assert.deepStrictEqual(adapter.watcher.texts(), ["cat 1"])
        const { state, detail } = yield* adapter.platform.status
        assert.strictEqual(state, "refused")
        assert.match(detail, /^X ended the stream \(UsageCapExceeded: Usage cap exceeded/)
        yield* on.control.patch({ x: { credits: null } })
        yield* passInSteps(60)
        yield* assertRecovered(on, adapter.watcher)
      })
    )
  )

  it.scoped("is cleared on X if it still counts it", () =>
    watched({}, (on, { watcher }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "hold-slot", platform: "x", hold_seconds: 150 })
        yield* on.control.inject({ kind: "stall", platform: "x", keep_alives: false })
        yield* passInSteps(240, 1)
        assert.deepStrictEqual(yield* attempts(on), [
          [0, 200],
          [36, 429],
          [36.1, 200]
        ])
        assert.deepStrictEqual([yield* fired(on, "hold-slot"), yield* fired(on, "stall")], [1, 1])
        yield* assertRecovered(on, watcher)
      })
    )
  )
})

describe("backfill", () => {
  it.scoped("delivers posts from a gap once, on a plan with backfill", () =>
    watched({}, (on, { watcher }) =>
      Effect.gen(function* () {
        yield* on.post("cat 1")
        yield* settle
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "stream", seconds: 100 })
        yield* on.control.inject({ kind: "close", platform: "x" })
        yield* passInSteps(20)
        yield* on.post("cat 2")
        yield* passInSteps(100)
        assert.deepStrictEqual(watcher.texts(), ["cat 1", "cat 2"])
        yield* on.control.inject({ kind: "cut", platform: "x" })
        yield* on.post("cat 3")
        yield* passInSteps(20)
        assert.deepStrictEqual(watcher.texts(), ["cat 1", "cat 2", "cat 3"], "the cut record is sent again")
        yield* assertRecovered(on, watcher)
      })
    )
  )

  it.scoped("starts at the cursor after a restart, at most five minutes back", () =>
    watched({}, (on, { watcher, watch }) =>
      Effect.gen(function* () {
        const restart = (cursor: string) =>
          Effect.gen(function* () {
            const later = yield* watch(cursor)
            assert.lengthOf((yield* on.control.state).x.connections, 1)
            yield* later.stop
            yield* pass(5)
            return later.texts()
          })
        yield* watcher.stop
        yield* on.post("too old, cat")
        yield* passInSteps(400, 50)
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

  it.scoped("is requested once on a plan without it, and never again", () =>
    watched({ tier: "pay-per-use" }, (on, { watcher }) =>
      Effect.gen(function* () {
        for (let turn = 0; turn < 3; turn++) {
          yield* passInSteps(100, 20)
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
        yield* assertRecovered(on, watcher)
      })
    )
  )
})
