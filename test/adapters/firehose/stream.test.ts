/** Firehose's stream: no fault loses events, and the adapter stays within Firehose's limits. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Clock, Effect, Option, Stream } from "effect"
import type { FaultRequest } from "../../../simulator/faults.ts"
import * as Simulator from "../../../simulator/Simulator.ts"
import { serve } from "../../../simulator/server.ts"
import type { SettingsPatch } from "../../../simulator/settings.ts"
import { untilTrue } from "../../eventually.ts"
import { settle, stage } from "../../simulator/stage.ts"
import { deliveriesOf } from "../deliveries.ts"
import { BASE_URL, collect, intervals, makeAdapter, passInSteps, sharedRules, TOKEN, watched } from "./platform.ts"

const platform = "firehose"

describe("the stream", () => {
  it.scoped("is open only while there is a rule", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const { platform } = yield* makeAdapter(on.handler)
      yield* collect(platform)
      yield* passInSteps(60)
      assert.strictEqual((yield* platform.status).state, "idle")
      assert.deepStrictEqual((yield* on.control.state).connection_attempts, [])
      yield* platform.register(["cat"])
      yield* settle
      assert.strictEqual((yield* platform.status).state, "live")
      const { rules } = yield* platform.inventory
      yield* platform.unregister(rules.map(({ platformRuleId }) => platformRuleId))
      yield* passInSteps(55)
      assert.strictEqual((yield* platform.status).state, "live", "a new rule may come")
      yield* passInSteps(10)
      assert.strictEqual((yield* platform.status).state, "idle")
      assert.deepStrictEqual((yield* on.control.state).firehose.connections, [])
    })
  )

  it.scoped("opens for our own rule in the inventory, not for a foreign one", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const rules = yield* sharedRules
      const first = yield* makeAdapter(on.handler, TOKEN, BASE_URL, rules)
      yield* on.addFirehose("dog")
      yield* collect(first.platform)
      yield* first.platform.inventory
      yield* passInSteps(10)
      assert.strictEqual((yield* first.platform.status).state, "idle")
      yield* first.platform.register(["cat"])

      const second = yield* makeAdapter(on.handler, TOKEN, BASE_URL, rules)
      yield* collect(second.platform)
      yield* second.platform.inventory
      yield* settle
      assert.strictEqual((yield* second.platform.status).state, "live")
    })
  )

  it.scoped("delivers a page with its rules and cursor, without the tap id, and keeps it for backtests", () =>
    Effect.gen(function* () {
      const on = yield* watched({ texts: ["cat", "dog"] })
      yield* on.page("a cat and a dog", "cat only")
      yield* settle
      const [both, one] = on.deliveries
      const { rules } = yield* on.platform.inventory
      const ids = rules.map(({ platformRuleId }) => platformRuleId)
      assert.deepStrictEqual(both?.platformRuleIds, ids)
      assert.deepStrictEqual(one?.platformRuleIds, ids.slice(0, 1))
      assert.strictEqual(Option.getOrNull(both?.cursor ?? Option.none()), "0-43000")
      assert.deepStrictEqual(Object.keys(both?.payload ?? {}).toSorted(), ["document", "matched_at"])
      assert.match(both?.platformPostId ?? "", /^[0-9a-f]{64}$/)
      assert.notStrictEqual(both?.platformPostId, one?.platformPostId)
      assert.isTrue(Option.isSome((yield* on.platform.status).lastEventAt))
      const kept = yield* Stream.runCollect(on.recent.newest(["firehose"], 10))
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(kept).flatMap(({ events }) => events.map(({ json }) => JSON.parse(json))),
        on.deliveries.map(({ payload }) => payload)
      )
    })
  )

  it.scoped("delivers the old format once per rule, with the same event id", () =>
    Effect.gen(function* () {
      const on = yield* watched({
        texts: ["cat", "dog"],
        settings: { firehose: { rule_ids: "query_id", empty_data: "[]", markdown: "always" } }
      })
      yield* on.page("a cat and a dog")
      yield* settle
      const { rules } = yield* on.platform.inventory
      assert.deepStrictEqual(
        on.deliveries.map(({ platformRuleIds }) => platformRuleIds),
        rules.map(({ platformRuleId }) => [platformRuleId])
      )
      assert.lengthOf(new Set(on.deliveries.map(({ platformPostId }) => platformPostId)), 1)
      assert.deepStrictEqual(Object.keys(on.deliveries[0]?.payload ?? {}).toSorted(), ["document", "matched_at"])
      yield* passInSteps(301)
      yield* on.page("another cat")
      yield* settle
      assert.strictEqual(on.titles().at(-1), "another cat")
    })
  )

  for (const keep_alive_seconds of [0, 15]) {
    it.scoped(`loses no event in an hour of reconnects, with keep-alives every ${keep_alive_seconds} s`, () =>
      Effect.gen(function* () {
        const on = yield* watched({ settings: { firehose: { keep_alive_seconds } } })
        const sent: Array<string> = []
        for (let second = 0; second < 3_600; second += 20) {
          yield* on.page(`cat ${second}`)
          sent.push(`cat ${second}`)
          yield* passInSteps(20)
        }
        assert.deepStrictEqual(on.titles(), sent)
        const { connection_attempts, violations, most_connections } = yield* on.control.state
        assert.deepStrictEqual(yield* intervals(on), Array(connection_attempts.length - 1).fill(300))
        assert.lengthOf(connection_attempts, 13)
        assert.deepStrictEqual(violations, [])
        assert.strictEqual(most_connections["firehose"], 1)
        assert.isTrue(Option.isNone((yield* on.platform.status).lastError))
      })
    )
  }

  it.scoped("counts as open until the end of a connection, not while it is silent", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const adapter = yield* makeAdapter(on.handler)
      yield* adapter.platform.register(["cat"])
      const start = yield* Clock.currentTimeMillis
      const seconds: Array<number> = []
      yield* adapter.platform.watch(Option.none()).pipe(
        Stream.runForEach((signal) =>
          Effect.sync(() => {
            if (signal._tag === "Alive") seconds.push((signal.at - start) / 1_000)
          })
        ),
        Effect.forkScoped
      )
      yield* passInSteps(650)
      assert.deepStrictEqual(seconds, [300, 600])
      yield* on.control.inject({ kind: "stall", platform, keep_alives: false })
      yield* passInSteps(650)
      assert.deepStrictEqual(seconds, [300, 600, 991, 1_291], "a stalled connection does not end by itself")
    })
  )

  it.scoped("has caught up at the first new page, or at the end of a connection that was silent at last", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const adapter = yield* makeAdapter(on.handler)
      yield* adapter.platform.register(["cat"])
      const start = yield* Clock.currentTimeMillis
      const seen: Array<string> = []
      yield* adapter.platform.watch(Option.none()).pipe(
        Stream.runForEach((signal) =>
          Effect.sync(() => {
            if (signal._tag === "CaughtUp") seen.push(`caught up at ${(signal.at - start) / 1_000} s`)
            if (signal._tag === "Event") seen.push("event")
          })
        ),
        Effect.forkScoped
      )
      yield* on.page("cat")
      yield* settle
      yield* passInSteps(10)
      const breakWith = (title: string) =>
        Effect.zipRight(on.control.inject({ kind: "close", platform }), Effect.zipRight(settle, on.page(title)))
      yield* breakWith("a cat that is replayed")
      yield* passInSteps(5)
      assert.deepStrictEqual(seen, ["event", "event"], "more may come")
      yield* on.page("a new cat")
      yield* settle
      assert.deepStrictEqual(seen.splice(0), ["event", "event", "event", "caught up at 15 s"])

      yield* breakWith("another cat that is replayed")
      yield* passInSteps(29)
      assert.deepStrictEqual(seen, ["event"])
      yield* passInSteps(3)
      assert.deepStrictEqual(seen.splice(0), ["event", "caught up at 47 s"])
      yield* passInSteps(400)
      assert.deepStrictEqual(seen, [])
    })
  )

  it.scoped("loses no event of a break before the first event, without an event id to resume from", () =>
    Effect.gen(function* () {
      const on = yield* watched()
      yield* passInSteps(120)
      yield* on.control.inject({ kind: "close", platform })
      yield* settle
      yield* on.page("cat in the break")
      yield* passInSteps(2)
      assert.deepStrictEqual(on.titles(), ["cat in the break"])
    })
  )

  it.scoped("loses no event while the first connection fails", () =>
    Effect.gen(function* () {
      const on = yield* watched({
        before: ({ control }) =>
          control.inject({ kind: "server-error", platform, status: 503, endpoint: "stream", seconds: 5_000 })
      })
      yield* on.page("cat while it was down")
      yield* passInSteps(5_100)
      assert.deepStrictEqual(on.titles(), ["cat while it was down"])
    })
  )

  it.scoped("starts live without a cursor", () =>
    Effect.gen(function* () {
      const on = yield* watched({ before: (stage) => stage.page("cat before") })
      yield* on.page("cat after")
      yield* settle
      assert.deepStrictEqual(on.titles(), ["cat after"])
    })
  )

  it.scoped("resumes at the cursor after a restart", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const rules = yield* sharedRules
      const cursor = yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* makeAdapter(on.handler, TOKEN, BASE_URL, rules)
          yield* first.platform.register(["cat"])
          const { deliveries } = yield* collect(first.platform)
          yield* on.page("cat 1", "cat 2")
          yield* settle
          return deliveries[0]?.cursor ?? Option.none()
        })
      )
      yield* on.page("cat 3")
      const second = yield* makeAdapter(on.handler, TOKEN, BASE_URL, rules)
      yield* second.platform.inventory
      const { titles } = yield* collect(second.platform, Option.getOrThrow(cursor))
      assert.deepStrictEqual(titles(), ["cat 2", "cat 3"])
      assert.strictEqual((yield* on.control.state).most_connections["firehose"], 1)
    })
  )

  for (const bad_parameter_status of [422, 400] as const) {
    it.scoped(`drops a position that is refused with ${bad_parameter_status}, and requests all retained events`, () =>
      Effect.gen(function* () {
        const settings = { firehose: { too_old: "error", bad_parameter_status, retention_hours: 30 } } as const
        const on = yield* watched({ settings, from: "7-1", before: (stage) => stage.page("cat 1") })
        assert.deepStrictEqual(on.titles(), [])
        yield* on.page("cat 2")
        yield* passInSteps(2)
        assert.deepStrictEqual(on.titles(), ["cat 1", "cat 2"])
        assert.lengthOf(
          on.logs.filter((line) => /events of the last 24 hours may repeat/.test(line)),
          1
        )
        assert.deepStrictEqual(yield* intervals(on), [1])
        yield* passInSteps(400)
        yield* on.page("cat 3")
        yield* settle
        assert.deepStrictEqual(on.titles(), ["cat 1", "cat 2", "cat 3"])
        const { calls } = yield* on.control.state
        assert.deepStrictEqual(calls["firehose.stream"]?.statuses, { 200: 3, [bad_parameter_status]: 1 })
      })
    )
  }

  it.scoped("drops a position that expired while there were no rules", () =>
    Effect.gen(function* () {
      const on = yield* watched({ settings: { firehose: { too_old: "error" } } })
      yield* on.page("cat 1")
      yield* settle
      yield* on.platform.unregister((yield* on.platform.inventory).rules.map(({ platformRuleId }) => platformRuleId))
      yield* passInSteps(65)
      yield* on.addFirehose("cat")
      yield* on.page("cat 2")
      yield* passInSteps(90_000)
      yield* on.page("cat 3")
      yield* on.platform.register(["cat"])
      yield* passInSteps(3)
      assert.deepStrictEqual(on.titles(), ["cat 1", "cat 3"])
      assert.strictEqual((yield* on.control.state).calls["firehose.stream"]?.statuses[422], 1)
    })
  )

  it.scoped("backs off when every position is refused", () =>
    Effect.gen(function* () {
      // Without a position: one event, then the end.
      const attempts: Array<string> = []
      const send = async (request: Request) => {
        if (!request.url.includes("/v1/stream")) return Response.json({ data: [rule], meta: { count: 1 } })
        const lastEventId = request.headers.get("last-event-id")
        attempts.push(lastEventId ?? new URL(request.url).searchParams.get("since") ?? "live")
        return lastEventId === null ? new Response(`id: ${attempts.length}\n\n`) : new Response("", { status: 422 })
      }
      const { platform } = yield* makeAdapter(send)
      yield* platform.inventory
      yield* collect(platform)
      yield* passInSteps(3_600)
      assert.deepStrictEqual(attempts.slice(0, 5), ["live", "1", "24h", "3", "24h"])
      assert.isBelow(attempts.length, 50)
    })
  )
})

interface FaultCase {
  readonly title: string
  readonly faults: ReadonlyArray<FaultRequest>
  readonly settings?: SettingsPatch
  /** Delivered titles after "cat 0"; by default all four pages, each once. */
  readonly titles?: ReadonlyArray<string>
  /** Seconds between connection attempts; by default there is one connection. */
  readonly intervals?: ReadonlyArray<number>
  readonly log?: RegExp
  readonly state?: string
}

/** The faults hit an open connection, before the pages. */
const faultCases: ReadonlyArray<FaultCase> = [
  { title: "a cut", faults: [{ kind: "cut", platform }], intervals: [1], log: /The connection failed/ },
  {
    title: "four cuts in a row",
    faults: [{ kind: "cut", platform, count: 4 }],
    intervals: [1, 2, 4, 8]
  },
  {
    title: "a silent close",
    faults: [{ kind: "close", platform }],
    intervals: [1],
    log: /The platform closed the connection/
  },
  {
    title: "an error event",
    faults: [{ kind: "stream-error", platform, message: "Kafka is away" }],
    intervals: [1],
    log: /with an error: Kafka is away/
  },
  {
    title: "a torn update, which is skipped",
    faults: [{ kind: "torn-line", platform }],
    titles: ["cat 2", "cat 3 é", "cat 4"],
    log: /Skipped 1 unreadable updates/
  },
  {
    title: "half a character",
    faults: [{ kind: "half-utf8", platform }],
    titles: ["cat 1", "cat 2", "cat 3 é", "cat 4"]
  },
  {
    title: "a duplicate, which is delivered twice",
    faults: [{ kind: "duplicate", platform }],
    titles: ["cat 1", "cat 1", "cat 2", "cat 3 é", "cat 4"]
  },
  { title: "slow bytes", faults: [{ kind: "slow", platform, bytes: 7, millis: 300 }] },
  {
    title: "a stall with keep-alives",
    faults: [{ kind: "stall", platform, keep_alives: true }],
    settings: { firehose: { keep_alive_seconds: 15 } },
    intervals: [361],
    log: /The platform did not end the connection within 360 s/
  },
  {
    title: "a silent stall",
    faults: [{ kind: "stall", platform, keep_alives: false }],
    intervals: [361]
  },
  { title: "a stall that ends", faults: [{ kind: "stall", platform, keep_alives: true, stall_seconds: 100 }] },
  { title: "a wrong clock", faults: [{ kind: "clock-skew", platform, skew_seconds: -90_000 }] },
  {
    title: "refused connections",
    faults: [
      { kind: "refuse", platform, endpoint: "stream", count: 7 },
      { kind: "close", platform }
    ],
    intervals: [1, 2, 4, 8, 16, 30, 30, 30]
  },
  {
    title: "server errors",
    faults: [
      { kind: "server-error", platform, status: 502, endpoint: "stream", count: 3 },
      { kind: "close", platform }
    ],
    intervals: [1, 1, 2, 4],
    log: /status 502; it says \\?"Bad Gateway/
  },
  {
    title: "429 with Retry-After",
    faults: [
      { kind: "rate-limit", platform, endpoint: "stream", headers: true, reset_seconds: 90 },
      { kind: "close", platform }
    ],
    intervals: [1, 90]
  },
  {
    title: "429 with a Retry-After of years",
    faults: [
      { kind: "rate-limit", platform, endpoint: "stream", headers: true, reset_seconds: 100_000_000 },
      { kind: "close", platform }
    ],
    intervals: [1, 900]
  },
  {
    title: "429 without Retry-After",
    faults: [
      { kind: "rate-limit", platform, endpoint: "stream", headers: false, reset_seconds: 1, count: 2 },
      { kind: "close", platform }
    ],
    intervals: [1, 60, 60]
  },
  {
    title: "no credit",
    faults: [
      { kind: "payment-required", platform, endpoint: "stream", count: 5 },
      { kind: "close", platform }
    ],
    intervals: [1, 30, 60, 120, 240, 300],
    log: /credit is used up/
  },
  {
    title: "a lowered connection cap",
    faults: [
      { kind: "lower-caps", platform, connections: 0, seconds: 100 },
      { kind: "close", platform }
    ],
    intervals: [1, 60, 60]
  }
]

describe("after", () => {
  for (const faultCase of faultCases) {
    it.scoped(`${faultCase.title}, the stream resumes at its position with backoff`, () =>
      Effect.gen(function* () {
        const on = yield* watched(faultCase.settings === undefined ? {} : { settings: faultCase.settings })
        yield* on.page("cat 0")
        yield* settle
        for (const fault of faultCase.faults) yield* on.control.inject(fault)
        yield* settle
        yield* on.page("cat 1", "cat 2", "cat 3 é")
        yield* passInSteps(faultCase.intervals?.reduce((sum, seconds) => sum + seconds, 2) ?? 200)
        yield* on.page("cat 4")
        yield* settle

        const { faults_fired, violations, most_connections } = yield* on.control.state
        for (const { kind, count = 1 } of faultCase.faults) {
          assert.isAtLeast(faults_fired[`firehose.${kind}`] ?? 0, count, kind)
        }
        assert.deepStrictEqual(
          on.titles().map((title) => String(title).replaceAll("\uFFFD", "")),
          ["cat 0", ...(faultCase.titles ?? ["cat 1", "cat 2", "cat 3 é", "cat 4"])]
        )
        assert.deepStrictEqual(yield* intervals(on), faultCase.intervals ?? [])
        assert.deepStrictEqual(violations, [])
        assert.strictEqual(most_connections["firehose"], 1)
        if (faultCase.log !== undefined) assert.match(on.logs.join("\n"), faultCase.log)
        assert.strictEqual((yield* on.platform.status).state, "live")
      })
    )
  }

  it.scoped("a torn update, the position is after it", () =>
    Effect.gen(function* () {
      const on = yield* watched()
      yield* on.control.inject({ kind: "torn-line", platform })
      yield* on.page("cat 1")
      yield* settle
      yield* on.control.inject({ kind: "close", platform })
      yield* passInSteps(2)
      yield* on.page("cat 2")
      yield* settle
      assert.deepStrictEqual(on.titles(), ["cat 2"])
      assert.lengthOf(yield* intervals(on), 1)
    })
  )

  it.scoped("a good connection, the backoff starts over", () =>
    Effect.gen(function* () {
      const on = yield* watched()
      const close = on.control.inject({ kind: "close", platform })
      yield* close
      yield* passInSteps(2)
      yield* close
      yield* passInSteps(3)
      yield* passInSteps(10)
      yield* close
      yield* passInSteps(2)
      const found = yield* intervals(on)
      assert.deepStrictEqual([found[0], found[1]], [1, 3])
      assert.strictEqual((yield* on.platform.status).state, "live")
      assert.lengthOf(found, 3)
    })
  )
})

describe("a slow store", () => {
  it.scoped("costs connections, but no event", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const { platform } = yield* makeAdapter(on.handler)
      yield* platform.register(["cat"])
      const stored: Array<Option.Option<string>> = []
      yield* Stream.runForEachChunk(deliveriesOf(platform), (batch) =>
        Effect.sync(() => stored.push(...Chunk.map(batch, ({ cursor }) => cursor))).pipe(Effect.delay("400 seconds"))
      ).pipe(Effect.forkScoped)
      yield* settle
      for (let number = 0; number < 10; number++) {
        yield* on.page(`cat ${number}`)
        yield* passInSteps(40)
      }
      yield* passInSteps(6_000)
      assert.deepStrictEqual(
        stored,
        Array.from({ length: 10 }, (_, at) => Option.some(`0-${43_000 + at}`))
      )
      const { most_connections, violations } = yield* on.control.state
      assert.strictEqual(most_connections["firehose"], 1)
      assert.deepStrictEqual(violations, [])
    })
  )
})

describe("over real sockets", () => {
  it.scopedLive("the stream resumes after a cut, and closes its connection at the end", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.make({ seed: 1 })
      const port = yield* serve(simulator, { host: "127.0.0.1", port: 0 })
      const { control } = simulator
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { platform } = yield* makeAdapter((request) => fetch(request), TOKEN, `http://127.0.0.1:${port}`)
          yield* platform.register(["cat"])
          const { titles } = yield* collect(platform)
          yield* untilTrue(
            "it is live",
            Effect.map(platform.status, ({ state }) => state === "live")
          )
          yield* control.publish([pageNow("cat 1")])
          yield* untilTrue(
            "a page arrives",
            Effect.sync(() => titles().length === 1)
          )
          yield* control.inject({ kind: "cut", platform: "firehose" })
          yield* control.publish([pageNow("cat 2")])
          yield* untilTrue(
            "the next page arrives",
            Effect.sync(() => titles().length === 2)
          )
          assert.deepStrictEqual(titles(), ["cat 1", "cat 2"])
          assert.strictEqual((yield* control.state).faults_fired["firehose.cut"], 1)
          const { lastError } = yield* platform.status
          assert.include(Option.getOrThrow(lastError).message, "the connection was cut")
        })
      )
      yield* untilTrue(
        "the stream is closed",
        Effect.map(control.state, ({ firehose }) => firehose.connections.length === 0)
      )
    })
  )

  it.scopedLive("the error is readable when no server listens", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(
        Effect.flatMap(Simulator.make({ seed: 1 }), (simulator) => serve(simulator, { host: "127.0.0.1", port: 0 }))
      )
      const { platform } = yield* makeAdapter((request) => fetch(request), TOKEN, `http://127.0.0.1:${port}`)
      const error = yield* Effect.flip(platform.inventory)
      assert.strictEqual(error.message, 'Platform "firehose" is not available: connection refused')
    })
  )
})

describe("while Firehose denies access", () => {
  for (const [name, settings, detail] of [
    ["an unknown token", { tap_token: `fh_${"x".repeat(40)}` }, /FIREHOSE_TAP_TOKEN.*management key/],
    ["used up credit", { credits: 0 }, /credit/]
  ] as const) {
    it.scoped(`the state is refused and the stream retries with backoff, for ${name}`, () =>
      Effect.gen(function* () {
        const on = yield* watched({ before: ({ control }) => control.patch({ firehose: settings }) })
        const status = yield* on.platform.status
        assert.strictEqual(status.state, "refused")
        assert.match(status.detail, detail)
        assert.isTrue(Option.isSome(status.lastError))
        yield* passInSteps(3_600)
        const found = yield* intervals(on)
        assert.deepStrictEqual(found.slice(0, 6), [30, 60, 120, 240, 300, 300])
        assert.isBelow(found.length, 20)
        yield* on.control.patch({ firehose: { tap_token: TOKEN, credits: null } })
        yield* passInSteps(300)
        assert.strictEqual((yield* on.platform.status).state, "live")
      })
    )
  }

  it.scoped("credit that runs out ends the stream, and a top-up delivers the missed events", () =>
    Effect.gen(function* () {
      const on = yield* watched({ settings: { firehose: { credits: 1, no_credits: "close" } } })
      yield* on.page("cat 1")
      yield* passInSteps(2)
      yield* on.page("cat 2")
      yield* passInSteps(10)
      assert.strictEqual((yield* on.platform.status).state, "refused")
      yield* on.control.patch({ firehose: { credits: null } })
      yield* passInSteps(60)
      assert.deepStrictEqual(on.titles(), ["cat 1", "cat 2"])
    })
  )
})

describe("a tap without rules", () => {
  it.scoped("is not contacted until there is a rule", () =>
    Effect.gen(function* () {
      const on = yield* watched({ before: ({ control }) => control.inject({ kind: "drop-rules", platform }) })
      yield* settle
      assert.match(on.logs.join("\n"), /The platform holds no rules: No rules configured/)
      yield* passInSteps(3_600)
      const { connection_attempts, faults_fired } = yield* on.control.state
      assert.lengthOf(connection_attempts, 1)
      assert.strictEqual(faults_fired["firehose.drop-rules"], 1)
      assert.strictEqual((yield* on.platform.status).state, "idle")
      yield* on.platform.register(["cat"])
      yield* settle
      yield* on.page("cat 1")
      yield* settle
      assert.deepStrictEqual(on.titles(), ["cat 1"])
    })
  )

  it.scoped("is contacted with backoff when its stream and its list disagree", () =>
    Effect.gen(function* () {
      const on = yield* watched({ before: ({ control }) => control.inject({ kind: "drop-rules", platform }) })
      const loseRules = Effect.gen(function* () {
        yield* on.platform.register(["cat"])
        yield* on.control.inject({ kind: "drop-rules", platform })
        yield* passInSteps(5)
      })
      yield* Effect.repeatN(loseRules, 120)
      const found = yield* intervals(on)
      assert.deepStrictEqual(
        found.map((seconds) => seconds - (seconds % 5)),
        [5, 10, 20, 40, 80, 160]
      )
    })
  )

  it.scoped("ends an open stream", () =>
    Effect.gen(function* () {
      const on = yield* watched({ settings: { firehose: { rules_gone: "error" } } })
      yield* on.control.inject({ kind: "drop-rules", platform })
      yield* passInSteps(10)
      assert.strictEqual((yield* on.platform.status).state, "idle")
      assert.match(on.logs.join("\n"), /The platform holds no rules/)
    })
  )
})

// ---- helpers ----

const rule = { id: "1", value: "cat", tag: "earshot:memory" }

const pageNow = (title: string) => ({
  document: {
    url: "https://news.example.com/1",
    title,
    publish_time: new Date().toISOString().slice(0, 19),
    diff: { chunks: [{ typ: "ins", text: title }] }
  }
})
