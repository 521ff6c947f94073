/** X's counts of recent posts: buckets, periods, refused queries and the rate limit. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NOW, pass, type Stage, stage, X } from "./stage.ts"

const COUNTS = "/2/tweets/counts/recent"
const HOUR = 3_600

const count = (sim: Stage, query: Readonly<Record<string, string>>) =>
  sim.call(`${COUNTS}?${new URLSearchParams(query)}`, { headers: X })

const iso = (millis: number) => new Date(millis).toISOString()

describe("GET counts/recent", () => {
  it.scoped("counts published posts per hour, whether a rule matches them or not", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.addX("dog")
      yield* sim.post("A cat", "A dog")
      yield* pass(HOUR)
      yield* sim.post("Another cat", "One more cat", "A bird")
      yield* pass(60)
      const { status, body, headers } = yield* count(sim, { query: "cat" })
      assert.deepStrictEqual([status, body.meta], [200, { total_tweet_count: 3 }])
      assert.deepStrictEqual(body.data.slice(-2), [
        { start: iso(NOW), end: iso(NOW + HOUR * 1_000), tweet_count: 1 },
        { start: iso(NOW + HOUR * 1_000), end: iso(NOW + (HOUR + 30) * 1_000), tweet_count: 2 }
      ])
      assert.lengthOf(body.data, 7 * 24 + 1, "the first and the last hour are cut")
      assert.strictEqual(headers.get("x-rate-limit-limit"), "300")
    })
  )

  it.scoped("counts from start_time until before end_time, by minute and by day", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      for (const _ of [1, 2, 3]) {
        yield* sim.post("A cat")
        yield* pass(60)
      }
      const minutes = yield* count(sim, {
        query: "cat",
        granularity: "minute",
        start_time: iso(NOW + 60_000),
        end_time: iso(NOW + 120_000)
      })
      assert.deepStrictEqual(minutes.body, {
        data: [{ start: iso(NOW + 60_000), end: iso(NOW + 120_000), tweet_count: 1 }],
        meta: { total_tweet_count: 1 }
      })
      const days = yield* count(sim, { query: "cat", granularity: "day" })
      assert.deepStrictEqual([days.body.data.length, days.body.meta.total_tweet_count], [8, 3])
    })
  )

  it.scoped("leaves out the last seconds and posts older than seven days", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      yield* sim.post("A cat")
      yield* pass(29)
      assert.strictEqual((yield* count(sim, { query: "cat" })).body.meta.total_tweet_count, 0)
      yield* sim.control.patch({ x: { recent_counts_delay_seconds: 0 } })
      assert.strictEqual((yield* count(sim, { query: "cat" })).body.meta.total_tweet_count, 1)
      yield* sim.control.advance(7 * 24 * HOUR)
      assert.strictEqual((yield* count(sim, { query: "cat" })).body.meta.total_tweet_count, 0)
    })
  )

  it.scoped("refuses invalid parameters, queries and operators of the stream only", () =>
    Effect.gen(function* () {
      const sim = yield* stage()
      for (const [query, message] of [
        [{}, /query/],
        [{ query: "cat", granularity: "week" }, /\[week\] is not one of \[minute,hour,day\]/],
        [{ query: "cat", start_time: "yesterday" }, /start_time/],
        [{ query: "cat", start_time: iso(NOW - 8 * 24 * HOUR * 1_000) }, /start_time/],
        [{ query: "cat", start_time: iso(NOW - 10_000) }, /end_time/],
        [{ query: "cat", max_results: "10" }, /\[max_results\] is not one of/],
        [{ query: "(cat" }, /^There were errors processing your request: mismatched input/],
        [{ query: "cat bio:teacher" }, /Reference to invalid operator 'bio'/],
        [{ query: "cat sample:10" }, /Reference to invalid operator 'sample'/],
        [{ query: "c".repeat(513) }, /length \[513\] is not between 1 and 512/]
      ] as const) {
        const { status, body } = yield* count(sim, query)
        assert.deepStrictEqual([status, body.title], [400, "Invalid Request"], JSON.stringify(query))
        assert.match(body.errors[0].message, message)
      }
      yield* sim.control.patch({ x: { tier: "pro" } })
      assert.strictEqual((yield* count(sim, { query: "c".repeat(513) })).status, 200)
      yield* sim.control.patch({ x: { tier: "free" } })
      assert.strictEqual((yield* count(sim, { query: "cat" })).status, 403)
    })
  )

  it.scoped("has a rate limit of its own", () =>
    Effect.gen(function* () {
      const sim = yield* stage({ x: { recent_counts_limit: 2 } })
      const statuses = yield* Effect.forEach([1, 2, 3], () => count(sim, { query: "cat" }))
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        [200, 200, 429]
      )
      assert.strictEqual((yield* sim.call("/2/usage/tweets", { headers: X })).status, 200)
    })
  )
})
