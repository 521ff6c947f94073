/** The control endpoints, the settings, the generated feed and the seed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { settingLines } from "../../simulator/settings.ts"
import { eventsOf, NOW, pageOf, pass, postOf, recordsOf, STREAM, settle, stage, TAP, X } from "./stage.ts"

describe("/control/settings", () => {
  it.scoped("lists settings with defaults and descriptions, and changes single ones", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const { body } = yield* sim.call("/control/settings")
      assert.deepStrictEqual(body.settings, sim.control.settings)
      const names = body.switches.map(({ name }: { name: string }) => name)
      assert.includeMembers(names, [
        "x.atomic_invalid",
        "x.keep_alive_seconds",
        "firehose.rule_ids",
        "feed.posts_per_second"
      ])
      for (const { name, about, fallback } of settingLines()) {
        assert.match(about, /^[A-Z0-9{/]|^rules|^document/, name)
        assert.isDefined(fallback, name)
      }
      const changed = yield* sim.call("/control/settings", { method: "PATCH", body: { x: { keep_alive_seconds: 1 } } })
      assert.deepStrictEqual([changed.status, changed.body.settings.x.keep_alive_seconds], [200, 1])
      assert.strictEqual(changed.body.settings.x.tier, "pay-per-use")
    })
  )

  const wrong: ReadonlyArray<readonly [body: unknown, message: RegExp]> = [
    [{ x: { tier: "gold" } }, /x\.tier/],
    [{ x: { no_such: 1 } }, /x\.no_such/],
    [{ y: {} }, /"y"/],
    [{ feed: { posts_per_second: -1 } }, /feed\.posts_per_second/],
    ["{", /not valid JSON/]
  ]
  for (const [body, message] of wrong) {
    it.scoped(`refuses ${JSON.stringify(body)} and changes nothing`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const before = sim.control.settings
        const answer = yield* sim.call("/control/settings", { method: "PATCH", body })
        assert.strictEqual(answer.status, 400)
        assert.match(answer.body.message, message)
        assert.deepStrictEqual(sim.control.settings, before)
      })
    )
  }
})

describe("POST /control/events", () => {
  it.scoped("publishes one event or one per line, for both platforms, all or none", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      yield* sim.addFirehose("cat")
      const send = (body: unknown) => sim.call("/control/events", { method: "POST", body })
      const one = yield* send(postOf("a cat", 1))
      assert.deepStrictEqual(one.body, { accepted: { x: 1, firehose: 0 }, matches: 1 })
      const lines = [postOf("a cat", 2), pageOf("a cat", 3), pageOf("a dog", 4)].map((event) => JSON.stringify(event))
      assert.deepStrictEqual((yield* send(`${lines.join("\n")}\n`)).body, {
        accepted: { x: 1, firehose: 2 },
        matches: 2
      })
      for (const body of [{ text: "cat" }, "", `${lines[0]}\n{`, `${lines[0]}\n{}`]) {
        const { status, body: reply } = yield* send(body)
        assert.strictEqual(status, 400, JSON.stringify(body))
        assert.isString(reply.message)
      }
      const { x, firehose } = yield* sim.control.state
      assert.deepStrictEqual([x.published, firehose.published], [2, 2])
    })
  )
})

describe("/control/faults", () => {
  it.scoped("injects, lists, counts and clears faults", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      const inject = (body: unknown) => sim.call("/control/faults", { method: "POST", body })
      const { status, body: fault } = yield* inject({ kind: "server-error", platform: "x", count: 2 })
      assert.deepStrictEqual([status, fault.left, fault.fired, fault.request.status], [201, 2, 0, 503])
      assert.strictEqual((yield* sim.call(STREAM, { headers: X })).status, 503)
      const listed = yield* sim.call("/control/faults")
      assert.deepStrictEqual([listed.body.active[0].left, listed.body.fired], [1, { "x.server-error": 1 }])
      assert.include(Object.keys(listed.body.kinds), "hold-slot")
      assert.strictEqual((yield* sim.call(`/control/faults/${fault.id}`, { method: "DELETE" })).status, 200)
      assert.strictEqual((yield* sim.call(`/control/faults/${fault.id}`, { method: "DELETE" })).status, 404)
      yield* inject({ kind: "refuse", platform: "x" })
      yield* sim.call("/control/faults", { method: "DELETE" })
      assert.deepStrictEqual((yield* sim.call("/control/faults")).body.active, [])
    })
  )

  const wrong: ReadonlyArray<readonly [body: unknown, message: RegExp]> = [
    [{ kind: "explode", platform: "x" }, /kind|Expected/],
    [{ kind: "refuse" }, /platform/],
    [{ kind: "refuse", platform: "x", endpoint: "taps" }, /no endpoint "taps"/],
    [{ kind: "disconnect", platform: "firehose" }, /for platform "x" only/],
    [{ kind: "refuse", platform: "x", count: 0 }, /count/],
    [{ kind: "refuse", platform: "x", odd: 1 }, /odd/]
  ]
  for (const [body, message] of wrong) {
    it.scoped(`refuses ${JSON.stringify(body)}`, () =>
      Effect.gen(function* () {
        const sim = yield* stage()
        const answer = yield* sim.call("/control/faults", { method: "POST", body })
        assert.strictEqual(answer.status, 400)
        assert.match(answer.body.message, message)
      })
    )
  }
})

describe("/control/clock", () => {
  it.scoped("advances the clock, which ends streams with a timeout", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addFirehose("cat")
      const stream = yield* sim.listen("/v1/stream", TAP)
      const { body } = yield* sim.call("/control/clock", { method: "POST", body: { advance_seconds: 300 } })
      assert.strictEqual(body.now, new Date(NOW + 300_000).toISOString())
      yield* settle
      assert.strictEqual(stream.ended(), "end")
      assert.strictEqual(
        (yield* sim.call("/control/clock", { method: "POST", body: { advance_seconds: -1 } })).status,
        400
      )
    })
  )
})

describe("unknown paths", () => {
  it.scoped("answer 404, below /control with the list of endpoints", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      assert.strictEqual((yield* sim.call("/")).status, 404)
      const { status, body } = yield* sim.call("/control/nothing")
      assert.strictEqual(status, 404)
      assert.include(body.message, "POST /faults")
      assert.include((yield* sim.call("/control")).body.endpoints, "GET /control/state")
    })
  )
})

describe("the feed", () => {
  it.scoped("publishes posts and pages at the set rates, which can change at any time", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ feed: { posts_per_second: 3 } })
      const counts = Effect.map(sim.control.state, ({ x, firehose }) => [x.published, firehose.published])
      yield* pass(10)
      assert.deepStrictEqual(yield* counts, [30, 0])
      yield* sim.control.patch({ feed: { posts_per_second: 0, pages_per_second: 200 } })
      yield* pass(2)
      assert.deepStrictEqual(yield* counts, [30, 400])
      yield* sim.control.patch({ feed: { pages_per_second: 0 } })
      yield* pass(10)
      assert.deepStrictEqual(yield* counts, [30, 400])
    })
  )
})

describe("the seed", () => {
  const run = (seed: number) =>
    Effect.gen(function* () {
      const sim = yield* stage({ feed: { posts_per_second: 5, pages_per_second: 5 } }, seed)
      const rules = yield* sim.addX("nasa OR bitcoin OR climate", "(space OR market OR nasa) sample:50")
      yield* sim.addFirehose("title:* OR the OR new")
      const x = yield* sim.listen(STREAM, X)
      const firehose = yield* sim.listen("/v1/stream", TAP)
      yield* sim.control.inject({ kind: "torn-line", platform: "x", count: 3 })
      yield* pass(10)
      return { rules, x: x.text(), firehose: firehose.text() }
    }).pipe(Effect.scoped)

  it.effect("determines the bytes: the same seed gives the same, another seed gives others", () =>
    Effect.gen(function* () {
      const [first, again, other] = [yield* run(1), yield* run(1), yield* run(2)]
      assert.isAbove(eventsOf(first.firehose).length, 10)
      assert.deepStrictEqual(first, again)
      assert.notStrictEqual(first.firehose, other.firehose)
      assert.isAbove(recordsOf(other.x.split("\r\n").slice(3).join("\r\n")).length, 0)
    })
  )
})
