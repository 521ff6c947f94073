/** `POST /matches/histogram` and `matches.histogram`: results, arguments, scopes and the isolation of accounts. */
import { assert, describe, it } from "@effect/vitest"
import { createTRPCClient, httpLink } from "@trpc/client"
import { Effect } from "effect"
import type { AppRouter } from "../../gateway/trpc/router.ts"
import { assertError, call, draft, firehoseUpdate, type Target, xPost } from "./client.ts"
import { serve, service } from "./inProcess.ts"

describe("POST /matches/histogram", () => {
  it.scopedLive("counts the matches of the account, of a rule, by rule and by platform, as tRPC does", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* Effect.promise(async () => {
        const storms = await createRule(ann, "storm", ["x", "firehose"])
        const floods = await createRule(ann, "flood", ["firehose"])
        await createRule(ann, "never", ["firehose"])
        await createRule(bob, "storm", ["x"])
        const events = [
          xPost("1", "storm"),
          xPost("2", "storm"),
          firehoseUpdate("http://a", "storm"),
          firehoseUpdate("http://b", "flood")
        ]
        await call(ann, "/local/events", events)

        const [from, to] = [-5_400_000, 0].map((offset) => new Date(Date.now() + offset).toISOString()) as [
          string,
          string
        ]
        const seriesOf = async (request: object) => {
          const query = { from, to, unit: "minute" as const, ...request }
          const { coverage, ...body } = await histogram(ann, query)
          const { coverage: later, ...same } = await clientOf(ann).matches.histogram.query(query)
          assert.deepStrictEqual(same as unknown, body)
          assert.deepStrictEqual([coverage.from, later.from], [body.from, body.from])
          assert.strictEqual(body.unit, "minute")
          assert.strictEqual(body.from, `${from.slice(0, 17)}00.000Z`)
          const bars = (Date.parse(body.to) - Date.parse(body.from)) / 60_000
          assert.include([91, 92], bars)
          return body.series.map(({ counts, ...series }) => {
            assert.lengthOf(counts, bars)
            assert.deepStrictEqual(new Set(counts.slice(0, -2)), new Set([0]))
            assert.strictEqual(
              counts.reduce((sum, count) => sum + count, 0),
              series.total
            )
            return series
          })
        }
        assert.deepStrictEqual(await seriesOf({}), [{ total: 4 }])
        assert.lengthOf((await histogram(ann, {})).coverage.platforms, 2)
        assert.deepStrictEqual(await seriesOf({ by: "rule" }), [
          { rule_id: storms, total: 3 },
          { rule_id: floods, total: 1 }
        ])
        assert.deepStrictEqual(await seriesOf({ by: "platform" }), [
          { platform: "firehose", total: 2 },
          { platform: "x", total: 2 }
        ])
        assert.deepStrictEqual(await seriesOf({ by: "platform", rule_id: storms }), [
          { platform: "firehose", total: 1 },
          { platform: "x", total: 2 }
        ])
        assert.deepStrictEqual(await seriesOf({ platform: "x", rule_id: floods }), [{ total: 0 }])
        assert.deepStrictEqual(await seriesOf({ platform: "x", rule_id: floods, by: "rule" }), [])

        await call(ann, "/api.DeleteRule", { rule_id: storms })
        assert.deepStrictEqual(await seriesOf({ by: "rule" }), [{ rule_id: floods, total: 1 }])
      })
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("covers the last 24 hours by default, with a read key", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const reader = yield* as("ann", "read")
      yield* Effect.promise(async () => {
        const { unit, from, to, series } = await histogram(reader, {})
        assert.deepStrictEqual([unit, series[0]?.total], ["hour", 0])
        assert.strictEqual(Date.parse(to) - Date.parse(from), (series[0]?.counts.length ?? 0) * 3_600_000)
        assert.include([24, 25], series[0]?.counts.length)
        assert.isAtLeast(Date.parse(to), Date.now() - 1_000)
      })
    }).pipe(Effect.provide(service))
  )

  it.scopedLive("says what is wrong with a request, and what to do", () =>
    Effect.gen(function* () {
      const as = yield* serve
      const [ann, bob] = [yield* as("ann"), yield* as("bob")]
      yield* Effect.promise(async () => {
        for (const [request, message] of [
          [
            { from: "2020-01-01", to: "2020-01-31", unit: "minute" },
            /"unit": There would be 43200 bars, and at most 1500 are allowed: use the unit "hour", or ask for a shorter/
          ],
          [{ from: "2020-01-01", to: "2020-12-31" }, /"unit": .* use the unit "day"/],
          [{ from: "1970-01-01", unit: "day" }, /"unit": .* allowed: ask for a shorter time/],
          [{ from: "2020-01-02", to: "2020-01-01" }, /"from": Expected a time before `to` and before now/],
          [{ from: "2999-01-01" }, /"from": Expected a time before `to` and before now/],
          [{ to: "0000-01-01" }, /"from": Expected a time before/],
          [{ from: "yesterday" }, /"from": Expected a time such as/],
          [{ from: "2026-11-31" }, /"from": The day 2026-11-31 does not exist/],
          [{ unit: "week" }, /"unit"/],
          [{ by: "account" }, /"by"/],
          [{ rules: [] }, /"rules": Is not a known field/]
        ] as const) {
          assertError(await call(ann, "/matches/histogram", request), 400, "invalid_argument", message)
        }
        const rule_id = await createRule(ann, "storm", ["x"])
        assertError(await call(bob, "/matches/histogram", { rule_id }), 404, "not_found")
        assertError(await call(ann, "/matches/histogram", { rule_id: "other" }), 404, "not_found")
      })
    }).pipe(Effect.provide(service))
  )
})

// ---- helpers ----

const clientOf = (target: Target) =>
  createTRPCClient<AppRouter>({
    links: [httpLink({ url: `${target.url}/trpc`, headers: { authorization: `Bearer ${target.key}` } })]
  })

type Histogram = Awaited<ReturnType<ReturnType<typeof clientOf>["matches"]["histogram"]["query"]>>

const histogram = async (target: Target, request: object): Promise<Histogram> => {
  const { status, body } = await call(target, "/matches/histogram", request)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body as unknown as Histogram
}

const createRule = async (target: Target, words: string, platforms: ReadonlyArray<"x" | "firehose">) =>
  String((await call(target, "/api.CreateRule", draft(words, platforms))).body["rule_id"])
