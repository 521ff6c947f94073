/** Gaps on every door: a stream that breaks and recovers while clients are connected. */
import { assert, describe, it } from "@effect/vitest"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client"
import { Clock, Effect, Layer, Option, Queue, Stream, TestClock, TestServices } from "effect"
import { EventSource } from "eventsource"
import * as Local from "../../adapters/local/Local.ts"
import type { Coverage } from "../../core/coverage/Coverage.ts"
import { firehose } from "../../core/languages/firehose.ts"
import { firstMatchIdAt, type RuleId } from "../../core/model/Ids.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import { Platforms, type Signal } from "../../core/platforms/Platform.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { FakePlatform } from "../core/world.ts"
import { quotas } from "../quotas.ts"
import { call, draft, firehoseUpdate, type Target } from "./client.ts"
import { serve, serviceOn } from "./inProcess.ts"
import { connect } from "./mcp/session.ts"
import { type Block, type EventStream, openStream } from "./sse.ts"

describe("GET /matches/stream", () => {
  it.scoped("sends the coverage when a gap begins, ends and is recovered, to accounts with a rule there", () =>
    withX((signal) =>
      Effect.gen(function* () {
        const as = yield* serve
        const [ann, bob] = [yield* as("ann"), yield* as("bob")]
        yield* newRule(ann, ["x", "firehose"])
        yield* newRule(bob, ["firehose"])
        const [all, narrow, theirs] = [yield* listen(ann), yield* listen(ann, "?platform=firehose"), yield* listen(bob)]
        yield* pass(20)
        yield* signal({ _tag: "GapStarted", at: 18_000, cause: "outage", detail: "cut" })
        yield* pass(20)
        const begun = yield* nextCoverage(all)
        assert.deepStrictEqual(Object.keys(begun), ["event", "data"], "without an id, which would move the cursor")
        const gap = { from: Timestamp.fromMillis(18_000), cause: "outage" as const, detail: "cut", recovered: false }
        assert.deepStrictEqual(gapsIn(begun), [["x", gap]])

        yield* signal({ _tag: "Watching", at: 45_000, since: 45_000 })
        yield* pass(20)
        const ended = { ...gap, to: Timestamp.fromMillis(45_000) }
        assert.deepStrictEqual(gapsIn(yield* nextCoverage(all)), [["x", ended]])
        yield* signal({ _tag: "Replayed", from: 18_000, to: 45_000 })
        yield* pass(20)
        assert.deepStrictEqual(gapsIn(yield* nextCoverage(all)), [["x", { ...ended, recovered: true }]])
        yield* signal({ _tag: "Suspected", from: 60_000, to: 70_000, detail: "quiet" })
        yield* pass(20)
        const { platforms } = coverageIn(yield* nextCoverage(all))
        assert.deepStrictEqual(
          platforms.flatMap(({ suspected }) => suspected),
          [{ from: Timestamp.fromMillis(60_000), to: Timestamp.fromMillis(70_000), detail: "quiet" }]
        )
        for (const stream of [narrow, theirs]) yield* assertQuiet(stream, 5)
      })
    )
  )

  it.scoped("sends the coverage at the start if it has gaps since the cursor", () =>
    withX((signal) =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("ann")
        yield* newRule(ann, ["x"])
        yield* signal({ _tag: "GapStarted", at: 5_000, cause: "cap", detail: "" })
        yield* pass(10)
        const open = yield* listen(ann)
        const [, gap] = gapsIn(yield* nextCoverage(open))[0] ?? []
        assert.deepInclude(gap, { from: Timestamp.fromMillis(5_000), cause: "cap" })
        assert.notProperty(gap, "to")
        yield* signal({ _tag: "Watching", at: 20_000, since: 20_000 })
        yield* pass(30)
        const resumed = yield* listen(ann, "", firstMatchIdAt(10_000))
        assert.deepInclude(gapsIn(yield* nextCoverage(resumed))[0]?.[1], { to: Timestamp.fromMillis(20_000) })
        const later = yield* listen(ann, "", firstMatchIdAt(25_000))
        yield* pass(16)
        yield* assertQuiet(later, 1)
      })
    )
  )

  it.scoped("sends the coverage within seconds, even if the stream is never quiet", () =>
    withX((signal) =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("ann")
        yield* newRule(ann, ["x", "firehose"], "flood")
        const stream = yield* listen(ann)
        yield* signal({ _tag: "GapStarted", at: 0, cause: "outage", detail: "cut" })
        for (let second = 0; second < 5; second++) {
          yield* promise(() => call(ann, "/local/events", [firehoseUpdate(`https://a.org/${second}`, "flood")]))
          yield* pass(1)
        }
        const events = yield* promise(async () => {
          const received: Array<string | undefined> = []
          while (received.length < 6) received.push((await stream.next())?.event)
          return received
        })
        assert.deepStrictEqual(events.filter((event) => event === "match").length, 5)
        assert.include(events, "coverage")
      })
    )
  )

  it.scoped("sends the gap of a rule to the account of the rule only", () =>
    withX(() =>
      Effect.gen(function* () {
        const as = yield* serve
        const [ann, bob] = [yield* as("ann"), yield* as("bob")]
        const rule = yield* newRule(ann, ["x"])
        const other = yield* newRule(ann, ["x"])
        yield* newRule(bob, ["x"])
        const [mine, otherRule, theirs] = [
          yield* listen(ann, `?rule_id=${rule}`),
          yield* listen(ann, `?rule_id=${other}`),
          yield* listen(bob)
        ]
        yield* pass(5)
        const rules = yield* RuleStore
        const [lostSince, at] = [Timestamp.fromMillis(2_000), Timestamp.fromMillis(5_000)]
        yield* rules.fail(rule, "x", { reason: "full", lostSince, at })
        yield* pass(20)
        assert.deepInclude(gapsIn(yield* nextCoverage(mine))[0]?.[1], { rule_id: rule, cause: "rule_failed" })
        for (const stream of [otherRule, theirs]) yield* assertQuiet(stream, 1)
      })
    )
  )
})

describe("POST /matches/wait", () => {
  it.scopedLive("has the coverage since the cursor, and the tool describes it", () =>
    withX((signal) =>
      Effect.gen(function* () {
        const as = yield* serve
        const [ann, bob] = [yield* as("ann"), yield* as("bob")]
        const rule_id = yield* newRule(ann, ["x"])
        yield* newRule(bob, ["firehose"])
        const before = Date.now()
        const query = { rule_id, cursor: firstMatchIdAt(before), timeout_seconds: 1 }
        const watched = (yield* wait(ann, query)).platforms
        assert.deepStrictEqual(
          watched.map(({ platform, gaps }) => [platform, gaps]),
          [["x", []]]
        )
        yield* signal({ _tag: "Alive", at: before })
        yield* signal({ _tag: "GapStarted", at: before, cause: "outage", detail: "cut" })
        yield* Effect.sleep("1500 millis")
        const coverage = yield* wait(ann, query)
        assert.strictEqual(coverage.from, Timestamp.fromMillis(before))
        assert.deepInclude(coverage.platforms[0]?.gaps[0], { cause: "outage", detail: "cut" })
        assert.deepStrictEqual(
          (yield* wait(bob, { timeout_seconds: 1 })).platforms.flatMap(({ gaps }) => gaps),
          []
        )
        const requestInit = { headers: { authorization: `Bearer ${ann.key}` } }
        const agent = yield* promise(() =>
          connect(new StreamableHTTPClientTransport(new URL(`${ann.url}/mcp`), { requestInit }))
        )
        const { text, structured } = yield* promise(() => agent.call("wait_for_matches", query))
        assert.match(text, /Watched: x since \S+, except 1 gap, the last from \S+ until now \(outage\)/)
        assert.property(structured, "coverage")

        const paused = yield* newRule(ann, ["x"])
        yield* promise(() => agent.call("pause_rule", { rule_id: paused }))
        const all = yield* promise(() => agent.call("wait_for_matches", { ...query, rule_id: undefined }))
        assert.match(
          all.text,
          new RegExp(
            `except 1 gap, the last from \\S+ until now \\(outage\\), and 1 gap of single rules, the last from \\S+ until now \\(${paused}, paused\\)`
          )
        )
      })
    )
  )
})

describe("tRPC matches.events", () => {
  it.scopedLive("carries the coverage, which matches.watch leaves out", () =>
    withX((signal) =>
      Effect.gen(function* () {
        const ann = yield* (yield* serve)("ann")
        yield* newRule(ann, ["x"])
        yield* signal({ _tag: "GapStarted", at: Date.now(), cause: "outage", detail: "cut" })
        yield* Effect.sleep("1500 millis")
        const client = createTRPCClient<AppRouter>({
          links: [
            httpSubscriptionLink({
              url: `${ann.url}/trpc`,
              EventSource,
              connectionParams: { authorization: `Bearer ${ann.key}` }
            })
          ]
        })
        const matches: Array<unknown> = []
        const watch = client.matches.watch.subscribe({}, { onData: (item) => void matches.push(item) })
        const event = yield* promise(
          () =>
            new Promise<{ readonly id: string; readonly data: { readonly type: string } }>((resolve, reject) => {
              const events = client.matches.events.subscribe(
                {},
                {
                  onData: (item) => {
                    events.unsubscribe()
                    resolve(item)
                  },
                  onError: reject
                }
              )
            })
        )
        watch.unsubscribe()
        assert.match(event.id, /^match_/)
        assert.strictEqual(event.data.type, "coverage")
        assert.deepStrictEqual(matches, [])
      })
    )
  )
})

// ---- helpers ----

type Send = (signal: Signal) => Effect.Effect<unknown>

/** The stream of x consists of the signals that the test sends; firehose runs in process. */
const withX = <E, R>(body: (signal: Send) => Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const signals = yield* Queue.unbounded<Signal>()
    const now = yield* Clock.currentTimeMillis
    yield* signals.offer({ _tag: "Watching", at: now, since: now })
    const { platform } = new FakePlatform("x", Option.none())
    const x = Layer.scopedDiscard(
      Effect.flatMap(Platforms, (platforms) =>
        platforms.register({ ...platform, watch: () => Stream.fromQueue(signals) })
      )
    )
    const platforms = Local.feed.pipe(
      Layer.provideMerge(quotas({ webhooks: 20 })),
      Layer.provideMerge(Layer.merge(Local.platform(firehose, Option.none()), x)),
      Layer.provideMerge(Layer.merge(Platforms.layer, Local.Sinks.layer))
    )
    yield* Effect.provide(
      body((signal) => signals.offer(signal)),
      serviceOn(platforms)
    )
  })

const promise = <A>(make: () => Promise<A>) => Effect.promise(make)

const newRule = (target: Target, on: ReadonlyArray<"x" | "firehose">, words?: string) =>
  promise(async () => {
    const { status, body } = await call(target, "/api.CreateRule", draft(words, on))
    assert.strictEqual(status, 200, JSON.stringify(body))
    // An id from the server.
    return String(body["rule_id"]) as RuleId
  })

const wait = (target: Target, query: object) =>
  promise(async () => (await call(target, "/matches/wait", query)).body["coverage"] as unknown as Coverage)

/** Open, and disconnected when the scope closes. */
const listen = (target: Target, query = "", lastId?: string) =>
  Effect.acquireRelease(
    promise(async () => {
      const stream = await openStream(`${target.url}/matches/stream${query}`, { key: target.key, lastId })
      assert.strictEqual((await stream.next())?.comment, "open")
      return stream
    }),
    ({ leave }) => Effect.sync(leave)
  )

/** Advances the clock in steps of a second, with time for timers to run. */
const pass = (seconds: number) =>
  Effect.gen(function* () {
    for (let i = 0; i < seconds; i++) {
      yield* TestClock.adjust("1 second")
      yield* TestServices.provideLive(Effect.sleep(5))
    }
  })

/** Skips heartbeats. */
const nextCoverage = (stream: EventStream) =>
  promise(async () => {
    for (;;) {
      const block = await stream.next()
      assert(block !== undefined)
      if (block.event === undefined) continue
      assert.strictEqual(block.event, "coverage")
      return block
    }
  })

/** These heartbeats are due, and nothing else comes before them. */
const assertQuiet = (stream: EventStream, heartbeats: number) =>
  promise(async () => {
    for (let i = 0; i < heartbeats; i++) assert.strictEqual((await stream.next())?.comment, "still here")
  })

const coverageIn = (block: Block) => JSON.parse(block.data ?? "") as Coverage

const gapsIn = (block: Block) =>
  coverageIn(block).platforms.flatMap(({ platform, gaps }) => gaps.map((gap) => [platform, gap] as const))
