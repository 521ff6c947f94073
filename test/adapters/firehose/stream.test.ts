/** The stream of Firehose: whatever goes wrong, nothing is lost, and Firehose is never asked more than it allows. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Option, Stream } from "effect"
import type { FaultRequest } from "../../../adapters/simulator/faults.ts"
import * as Simulator from "../../../adapters/simulator/Simulator.ts"
import { serve } from "../../../adapters/simulator/server.ts"
import type { SettingsPatch } from "../../../adapters/simulator/settings.ts"
import { deliveriesOf } from "../deliveries.ts"
import { settle, stage } from "../simulator/stage.ts"
import { gaps, listened, passing, scene, TOKEN, watched } from "./stage.ts"

const platform = "firehose"

describe("the stream", () => {
  it.scoped("waits for a rule, opens with the first and closes with the last", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const { platform } = yield* scene(on.handler)
      yield* listened(platform)
      yield* passing(60)
      assert.strictEqual((yield* platform.status).state, "idle")
      assert.deepStrictEqual((yield* on.control.state).connection_attempts, [])
      yield* platform.register(["cat"])
      yield* settle
      assert.strictEqual((yield* platform.status).state, "live")
      const { rules } = yield* platform.inventory
      yield* platform.unregister(rules.map(({ platformRuleId }) => platformRuleId))
      yield* passing(5)
      assert.strictEqual((yield* platform.status).state, "idle")
      assert.deepStrictEqual((yield* on.control.state).firehose.connections, [])
    })
  )

  it.scoped("opens for a rule of ours that the inventory finds, and not for a foreign one", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const first = yield* scene(on.handler)
      yield* on.addFirehose("dog")
      yield* listened(first.platform)
      yield* first.platform.inventory
      yield* passing(10)
      assert.strictEqual((yield* first.platform.status).state, "idle")
      yield* first.platform.register(["cat"])

      const second = yield* scene(on.handler)
      yield* listened(second.platform)
      yield* second.platform.inventory
      yield* settle
      assert.strictEqual((yield* second.platform.status).state, "live")
    })
  )

  it.scoped("delivers a page with its rules, its place and without the tap, and keeps it for backtests", () =>
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
      const kept = yield* Stream.runCollect(on.recent.newest("firehose", 10))
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(kept).flatMap(({ events }) => events.map(({ json }) => JSON.parse(json))),
        on.deliveries.map(({ payload }) => payload)
      )
    })
  )

  it.scoped("delivers the older form once for each rule, under the same name", () =>
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
      yield* passing(301)
      yield* on.page("another cat")
      yield* settle
      assert.strictEqual(on.titles().at(-1), "another cat")
    })
  )

  for (const keep_alive_seconds of [0, 15]) {
    it.scoped(`loses nothing in an hour of connections that end, with keep-alives of ${keep_alive_seconds} s`, () =>
      Effect.gen(function* () {
        const on = yield* watched({ settings: { firehose: { keep_alive_seconds } } })
        const sent: Array<string> = []
        for (let second = 0; second < 3_600; second += 20) {
          yield* on.page(`cat ${second}`)
          sent.push(`cat ${second}`)
          yield* passing(20)
        }
        assert.deepStrictEqual(on.titles(), sent)
        const { connection_attempts, violations, most_connections } = yield* on.control.state
        assert.deepStrictEqual(yield* gaps(on), Array(connection_attempts.length - 1).fill(300))
        assert.lengthOf(connection_attempts, 13)
        assert.deepStrictEqual(violations, [])
        assert.strictEqual(most_connections["firehose"], 1)
        assert.isTrue(Option.isNone((yield* on.platform.status).lastError))
      })
    )
  }

  it.scoped("misses nothing of a pause before the first event, for which there is no place to go on from", () =>
    Effect.gen(function* () {
      const on = yield* watched()
      yield* passing(120)
      yield* on.control.inject({ kind: "close", platform })
      yield* settle
      yield* on.page("cat in the pause")
      yield* passing(2)
      assert.deepStrictEqual(on.titles(), ["cat in the pause"])
    })
  )

  it.scoped("misses nothing while the first connection cannot be made", () =>
    Effect.gen(function* () {
      const on = yield* watched({
        before: ({ control }) =>
          control.inject({ kind: "server-error", platform, status: 503, endpoint: "stream", seconds: 5_000 })
      })
      yield* on.page("cat while it was down")
      yield* passing(5_100)
      assert.deepStrictEqual(on.titles(), ["cat while it was down"])
    })
  )

  it.scoped("begins with what happens from then on when there is no cursor", () =>
    Effect.gen(function* () {
      const on = yield* watched({ before: (stage) => stage.page("cat before") })
      yield* on.page("cat after")
      yield* settle
      assert.deepStrictEqual(on.titles(), ["cat after"])
    })
  )

  it.scoped("goes on from the cursor in a second run", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const cursor = yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* scene(on.handler)
          yield* first.platform.register(["cat"])
          const { deliveries } = yield* listened(first.platform)
          yield* on.page("cat 1", "cat 2")
          yield* settle
          return deliveries[0]?.cursor ?? Option.none()
        })
      )
      yield* on.page("cat 3")
      const second = yield* scene(on.handler)
      yield* second.platform.inventory
      const { titles } = yield* listened(second.platform, Option.getOrThrow(cursor))
      assert.deepStrictEqual(titles(), ["cat 2", "cat 3"])
      assert.strictEqual((yield* on.control.state).most_connections["firehose"], 1)
    })
  )

  for (const bad_parameter_status of [422, 400] as const) {
    it.scoped(`gives up a place that is refused with ${bad_parameter_status}, and asks for all that is kept`, () =>
      Effect.gen(function* () {
        const settings = { firehose: { too_old: "error", bad_parameter_status, retention_hours: 30 } } as const
        const on = yield* watched({ settings, from: "7-1", before: (stage) => stage.page("cat 1") })
        assert.deepStrictEqual(on.titles(), [])
        yield* on.page("cat 2")
        yield* passing(2)
        assert.deepStrictEqual(on.titles(), ["cat 1", "cat 2"])
        assert.lengthOf(
          on.lines.filter((line) => /events of the last 24 hours may come again/.test(line)),
          1
        )
        assert.deepStrictEqual(yield* gaps(on), [1])
        yield* passing(400)
        yield* on.page("cat 3")
        yield* settle
        assert.deepStrictEqual(on.titles(), ["cat 1", "cat 2", "cat 3"])
        const { calls } = yield* on.control.state
        assert.deepStrictEqual(calls["firehose.stream"]?.statuses, { 200: 2, [bad_parameter_status]: 1 })
      })
    )
  }

  it.scoped("gives up a place that has become too old while there were no rules", () =>
    Effect.gen(function* () {
      const on = yield* watched({ settings: { firehose: { too_old: "error" } } })
      yield* on.page("cat 1")
      yield* settle
      yield* on.platform.unregister((yield* on.platform.inventory).rules.map(({ platformRuleId }) => platformRuleId))
      yield* on.addFirehose("cat")
      yield* on.page("cat 2")
      yield* passing(90_000)
      yield* on.page("cat 3")
      yield* on.platform.register(["cat"])
      yield* passing(3)
      assert.deepStrictEqual(on.titles(), ["cat 1", "cat 3"])
      assert.strictEqual((yield* on.control.state).calls["firehose.stream"]?.statuses[422], 1)
    })
  )

  it.scoped("asks ever less often when every place is refused", () =>
    Effect.gen(function* () {
      // One event and the end, but only for those who name no place.
      const attempts: Array<string> = []
      const send = async (request: Request) => {
        if (!request.url.includes("/v1/stream")) return Response.json({ data: [RULE], meta: { count: 1 } })
        const place = request.headers.get("last-event-id")
        attempts.push(place ?? new URL(request.url).searchParams.get("since") ?? "live")
        return place === null ? new Response(`id: ${attempts.length}\n\n`) : new Response("", { status: 422 })
      }
      const { platform } = yield* scene(send)
      yield* platform.inventory
      yield* listened(platform)
      yield* passing(3_600)
      assert.deepStrictEqual(attempts.slice(0, 5), ["live", "1", "24h", "3", "24h"])
      assert.isBelow(attempts.length, 50)
    })
  )
})

interface Course {
  readonly title: string
  readonly faults: ReadonlyArray<FaultRequest>
  readonly settings?: SettingsPatch
  /** What has come in the end; without it all four pages, each once. */
  readonly titles?: ReadonlyArray<string>
  /** Seconds between attempts, as far as they are told; without it there is one connection only. */
  readonly gaps?: ReadonlyArray<number>
  readonly log?: RegExp
  readonly state?: string
}

/** The faults are there when the connection is; then come the pages. */
const COURSES: ReadonlyArray<Course> = [
  { title: "a cut", faults: [{ kind: "cut", platform }], gaps: [1], log: /The connection failed/ },
  {
    title: "four cuts in a row",
    faults: [{ kind: "cut", platform, count: 4 }],
    gaps: [1, 2, 4, 8]
  },
  { title: "a close without a word", faults: [{ kind: "close", platform }], gaps: [1], log: /It closed the stream/ },
  {
    title: "an error event",
    faults: [{ kind: "stream-error", platform, message: "Kafka is away" }],
    gaps: [1],
    log: /with an error: Kafka is away/
  },
  {
    title: "a torn update, which is lost with its place moved on",
    faults: [{ kind: "torn-line", platform }],
    titles: ["cat 2", "cat 3 é", "cat 4"],
    log: /Skipped 1 updates/
  },
  {
    title: "half a character",
    faults: [{ kind: "half-utf8", platform }],
    titles: ["cat 1", "cat 2", "cat 3 é", "cat 4"]
  },
  {
    title: "a duplicate, which is delivered as it comes",
    faults: [{ kind: "duplicate", platform }],
    titles: ["cat 1", "cat 1", "cat 2", "cat 3 é", "cat 4"]
  },
  { title: "slow bytes", faults: [{ kind: "slow", platform, bytes: 7, millis: 300 }] },
  {
    title: "a stall with keep-alives",
    faults: [{ kind: "stall", platform, keep_alives: true }],
    settings: { firehose: { keep_alive_seconds: 15 } },
    gaps: [361],
    log: /It did not end the connection in 360 s/
  },
  {
    title: "a silent stall",
    faults: [{ kind: "stall", platform, keep_alives: false }],
    gaps: [361]
  },
  { title: "a stall that ends", faults: [{ kind: "stall", platform, keep_alives: true, stall_seconds: 100 }] },
  { title: "a wrong clock", faults: [{ kind: "clock-skew", platform, skew_seconds: -90_000 }] },
  {
    title: "refused connections",
    faults: [
      { kind: "refuse", platform, endpoint: "stream", count: 7 },
      { kind: "close", platform }
    ],
    gaps: [1, 2, 4, 8, 16, 30, 30, 30]
  },
  {
    title: "server errors",
    faults: [
      { kind: "server-error", platform, status: 502, endpoint: "stream", count: 3 },
      { kind: "close", platform }
    ],
    gaps: [1, 1, 2, 4],
    log: /status 502; it says \\?"Bad Gateway/
  },
  {
    title: "429 that tells how long",
    faults: [
      { kind: "rate-limit", platform, endpoint: "stream", headers: true, reset_seconds: 90 },
      { kind: "close", platform }
    ],
    gaps: [1, 90]
  },
  {
    title: "429 that asks for years",
    faults: [
      { kind: "rate-limit", platform, endpoint: "stream", headers: true, reset_seconds: 100_000_000 },
      { kind: "close", platform }
    ],
    gaps: [1, 900]
  },
  {
    title: "429 without a word",
    faults: [
      { kind: "rate-limit", platform, endpoint: "stream", headers: false, reset_seconds: 1, count: 2 },
      { kind: "close", platform }
    ],
    gaps: [1, 60, 60]
  },
  {
    title: "no credit",
    faults: [
      { kind: "payment-required", platform, endpoint: "stream", count: 5 },
      { kind: "close", platform }
    ],
    gaps: [1, 30, 60, 120, 240, 300],
    log: /credit is used up/
  },
  {
    title: "fewer connections than there are",
    faults: [
      { kind: "lower-caps", platform, connections: 0, seconds: 100 },
      { kind: "close", platform }
    ],
    gaps: [1, 60, 60]
  }
]

describe("after", () => {
  for (const course of COURSES) {
    it.scoped(`${course.title}, the stream goes on where it was and in its manners`, () =>
      Effect.gen(function* () {
        const on = yield* watched(course.settings === undefined ? {} : { settings: course.settings })
        yield* on.page("cat 0")
        yield* settle
        for (const fault of course.faults) yield* on.control.inject(fault)
        yield* settle
        yield* on.page("cat 1", "cat 2", "cat 3 é")
        yield* passing(course.gaps?.reduce((sum, gap) => sum + gap, 2) ?? 200)
        yield* on.page("cat 4")
        yield* settle

        const { faults_fired, violations, most_connections } = yield* on.control.state
        for (const { kind, count = 1 } of course.faults) {
          assert.isAtLeast(faults_fired[`firehose.${kind}`] ?? 0, count, kind)
        }
        assert.deepStrictEqual(
          on.titles().map((title) => String(title).replaceAll("\uFFFD", "")),
          ["cat 0", ...(course.titles ?? ["cat 1", "cat 2", "cat 3 é", "cat 4"])]
        )
        assert.deepStrictEqual(yield* gaps(on), course.gaps ?? [])
        assert.deepStrictEqual(violations, [])
        assert.strictEqual(most_connections["firehose"], 1)
        if (course.log !== undefined) assert.match(on.lines.join("\n"), course.log)
        assert.strictEqual((yield* on.platform.status).state, "live")
      })
    )
  }

  it.scoped("a torn update, its place is not asked for again", () =>
    Effect.gen(function* () {
      const on = yield* watched()
      yield* on.control.inject({ kind: "torn-line", platform })
      yield* on.page("cat 1")
      yield* settle
      yield* on.control.inject({ kind: "close", platform })
      yield* passing(2)
      yield* on.page("cat 2")
      yield* settle
      assert.deepStrictEqual(on.titles(), ["cat 2"])
      assert.lengthOf(yield* gaps(on), 1)
    })
  )

  it.scoped("a good connection, what went wrong before it is forgotten", () =>
    Effect.gen(function* () {
      const on = yield* watched()
      const close = on.control.inject({ kind: "close", platform })
      yield* close
      yield* passing(2)
      yield* close
      yield* passing(3)
      yield* passing(10)
      yield* close
      yield* passing(2)
      const found = yield* gaps(on)
      assert.deepStrictEqual([found[0], found[1]], [1, 3])
      assert.strictEqual((yield* on.platform.status).state, "live")
      assert.lengthOf(found, 3)
    })
  )
})

describe("a store that is slow", () => {
  it.scoped("costs connections, and no event", () =>
    Effect.gen(function* () {
      const on = yield* stage()
      const { platform } = yield* scene(on.handler)
      yield* platform.register(["cat"])
      const stored: Array<Option.Option<string>> = []
      yield* Stream.runForEachChunk(deliveriesOf(platform), (batch) =>
        Effect.sync(() => stored.push(...Chunk.map(batch, ({ cursor }) => cursor))).pipe(Effect.delay("400 seconds"))
      ).pipe(Effect.forkScoped)
      yield* settle
      for (let number = 0; number < 10; number++) {
        yield* on.page(`cat ${number}`)
        yield* passing(40)
      }
      yield* passing(6_000)
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
  it.scopedLive("the stream goes on after a cut, and its connection is closed with it", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.make({ seed: 1 })
      const port = yield* serve(simulator, { host: "127.0.0.1", port: 0 })
      const { control } = simulator
      const until = <E>(isSo: Effect.Effect<boolean, E>) =>
        Effect.repeat(Effect.delay(isSo, "20 millis"), { until: (is) => is })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { platform } = yield* scene((request) => fetch(request), TOKEN, `http://127.0.0.1:${port}`)
          yield* platform.register(["cat"])
          const { titles } = yield* listened(platform)
          yield* until(Effect.map(platform.status, ({ state }) => state === "live"))
          yield* control.publish([pageNow("cat 1")])
          yield* until(Effect.sync(() => titles().length === 1))
          yield* control.inject({ kind: "cut", platform: "firehose" })
          yield* control.publish([pageNow("cat 2")])
          yield* until(Effect.sync(() => titles().length === 2))
          assert.deepStrictEqual(titles(), ["cat 1", "cat 2"])
          assert.strictEqual((yield* control.state).faults_fired["firehose.cut"], 1)
          const { lastError } = yield* platform.status
          assert.include(Option.getOrThrow(lastError).message, "the connection was cut")
        })
      )
      yield* until(Effect.map(control.state, ({ firehose }) => firehose.connections.length === 0))
    })
  )

  it.scopedLive("nobody there is told in words", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(
        Effect.flatMap(Simulator.make({ seed: 1 }), (simulator) => serve(simulator, { host: "127.0.0.1", port: 0 }))
      )
      const { platform } = yield* scene((request) => fetch(request), TOKEN, `http://127.0.0.1:${port}`)
      const error = yield* Effect.flip(platform.inventory)
      assert.strictEqual(error.message, 'Platform "firehose" is not available: connection refused')
    })
  )
})

describe("while Firehose does not let us in", () => {
  for (const [name, settings, words] of [
    ["an unknown token", { tap_token: `fh_${"x".repeat(40)}` }, /FIREHOSE_TAP_TOKEN.*fhm_/],
    ["credit that is used up", { credits: 0 }, /credit/]
  ] as const) {
    it.scoped(`the status says so and it is asked again now and then, for ${name}`, () =>
      Effect.gen(function* () {
        const on = yield* watched({ before: ({ control }) => control.patch({ firehose: settings }) })
        const status = yield* on.platform.status
        assert.strictEqual(status.state, "refused")
        assert.match(status.detail, words)
        assert.isTrue(Option.isSome(status.lastError))
        yield* passing(3_600)
        const found = yield* gaps(on)
        assert.deepStrictEqual(found.slice(0, 6), [30, 60, 120, 240, 300, 300])
        assert.isBelow(found.length, 20)
        yield* on.control.patch({ firehose: { tap_token: TOKEN, credits: null } })
        yield* passing(300)
        assert.strictEqual((yield* on.platform.status).state, "live")
      })
    )
  }

  it.scoped("credit that runs out in the middle ends the stream, and a top-up brings what was missed", () =>
    Effect.gen(function* () {
      const on = yield* watched({ settings: { firehose: { credits: 1, no_credits: "close" } } })
      yield* on.page("cat 1")
      yield* passing(2)
      yield* on.page("cat 2")
      yield* passing(10)
      assert.strictEqual((yield* on.platform.status).state, "refused")
      yield* on.control.patch({ firehose: { credits: null } })
      yield* passing(60)
      assert.deepStrictEqual(on.titles(), ["cat 1", "cat 2"])
    })
  )
})

describe("a tap that has no rules", () => {
  it.scoped("is not asked again until there is one", () =>
    Effect.gen(function* () {
      const on = yield* watched({ before: ({ control }) => control.inject({ kind: "drop-rules", platform }) })
      yield* settle
      assert.match(on.lines.join("\n"), /It holds no rules: No rules configured/)
      yield* passing(3_600)
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

  it.scoped("is asked ever less often when it says so against what its list says", () =>
    Effect.gen(function* () {
      const on = yield* watched({ before: ({ control }) => control.inject({ kind: "drop-rules", platform }) })
      const foreverUnruled = Effect.gen(function* () {
        yield* on.platform.register(["cat"])
        yield* on.control.inject({ kind: "drop-rules", platform })
        yield* passing(5)
      })
      yield* Effect.repeatN(foreverUnruled, 120)
      const found = yield* gaps(on)
      assert.deepStrictEqual(
        found.map((gap) => gap - (gap % 5)),
        [5, 10, 20, 40, 80, 160]
      )
    })
  )

  it.scoped("is left when it says so in the middle", () =>
    Effect.gen(function* () {
      const on = yield* watched({ settings: { firehose: { rules_gone: "error" } } })
      yield* on.control.inject({ kind: "drop-rules", platform })
      yield* passing(10)
      assert.strictEqual((yield* on.platform.status).state, "idle")
      assert.match(on.lines.join("\n"), /It holds no rules/)
    })
  )
})

// ---- helpers ----

const RULE = { id: "1", value: "cat", tag: "earshot:memory" }

const pageNow = (title: string) => ({
  document: {
    url: "https://news.example.com/1",
    title,
    publish_time: new Date().toISOString().slice(0, 19),
    diff: { chunks: [{ typ: "ins", text: title }] }
  }
})
