/** GET /control/delivered: what went out on which connection, for which rules. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Deliveries } from "../../simulator/Deliveries.ts"
import { NOW, pass, STREAM, settle, stage, TAP, X } from "./stage.ts"

describe("/control/delivered", () => {
  it.scoped("lists the events of both platforms with connection and rules", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { tier: "enterprise" } })
      const [cat = "", dog = ""] = yield* sim.addX("cat", "dog")
      const [page = ""] = yield* sim.addFirehose("cat")
      yield* sim.post("cat before any connection")
      yield* sim.listen(STREAM, X)
      yield* sim.listen(STREAM, X)
      yield* sim.listen("/v1/stream?timeout=60", TAP)
      yield* pass(1)
      yield* sim.post("cat and dog", "bird")
      yield* sim.page("cat")
      yield* settle
      const { x, firehose } = yield* sim.control.state
      const { body } = yield* sim.call("/control/delivered")
      const sent = (platform: string) =>
        body.delivered.filter((delivery: { platform: string }) => delivery.platform === platform)
      const at = NOW + 1_000
      assert.deepStrictEqual(
        sent("x").map(({ number: _, ...delivery }: { number: number }) => delivery),
        x.connections.map(({ id }) => ({ at, platform: "x", connection: id, event: "1000002", rules: [cat, dog] }))
      )
      assert.deepStrictEqual(
        sent("firehose").map(({ number: _, ...delivery }: { number: number }) => delivery),
        [
          {
            at,
            platform: "firehose",
            connection: firehose.connections[0]?.id,
            event: "0-43000",
            url: "https://news.example.com/4",
            rules: [page]
          }
        ]
      )
      assert.deepStrictEqual([body.next, body.forgotten], [3, 0])
    })
  )

  it.scoped("marks damaged records, and lists a duplicate twice and a slow record at its end", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      yield* sim.listen(STREAM, X)
      for (const kind of ["torn-line", "half-utf8", "duplicate", "slow"] as const) {
        const fault = { kind, platform: "x" } as const
        yield* sim.control.inject(
          kind === "slow" ? { kind, platform: "x", bytes: 100, millis: 1_000 } : { ...fault, kind }
        )
        yield* sim.post(`cat ${kind}`)
        yield* settle
      }
      const damages = Effect.map(sim.control.delivered(0, 100), ({ delivered }) =>
        delivered.map(({ event, damaged_by }) => [event, damaged_by])
      )
      const before = [
        ["1000001", "torn-line"],
        ["1000002", "half-utf8"],
        ["1000003", undefined],
        ["1000003", undefined]
      ]
      assert.deepStrictEqual(yield* damages, before)
      for (let second = 0; second < 10; second++) yield* pass(1)
      assert.deepStrictEqual(yield* damages, [...before, ["1000004", undefined]])
      yield* sim.control.inject({ kind: "cut", platform: "x" })
      yield* sim.post("cat cut")
      yield* settle
      assert.deepStrictEqual((yield* damages).at(-1), ["1000005", "cut"])
    })
  )

  it.scoped("is read in pages", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("cat")
      yield* sim.listen(STREAM, X)
      yield* sim.post("cat 1", "cat 2", "cat 3")
      yield* settle
      const page = (query: string) =>
        Effect.map(sim.call(`/control/delivered?${query}`), ({ body }) => [
          body.delivered.map(({ number }: { number: number }) => number),
          body.next
        ])
      assert.deepStrictEqual(yield* page("limit=2"), [[1, 2], 2])
      assert.deepStrictEqual(yield* page("since=2&limit=2"), [[3], 3])
      assert.deepStrictEqual(yield* page("since=3"), [[], 3])
      assert.strictEqual((yield* sim.call("/control/delivered?since=-1")).status, 400)
    })
  )

  it("keeps a limited number, and says how many are forgotten", () => {
    const deliveries = new Deliveries()
    for (let number = 1; number <= 250_000; number++) {
      deliveries.record({ at: 0, platform: "x", connection: "c", event: String(number), rules: [] })
    }
    const { delivered, forgotten, next } = deliveries.page(0, 2)
    assert.isAbove(forgotten, 100_000)
    assert.deepStrictEqual(
      delivered.map(({ number, event }) => [number, event]),
      [1, 2].map((at) => [forgotten + at, String(forgotten + at)])
    )
    assert.strictEqual(next, forgotten + 2)
  })
})
