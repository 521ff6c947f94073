/** Counts on X: totals, operators that were left out, refusals and the call budgets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Platform } from "../../../core/platforms/Platform.ts"
import { NOW, pass } from "../../simulator/stage.ts"
import { withSimulator, withX } from "./platform.ts"

const WEEK = 7 * 24 * 3_600_000

const count = ({ countRecent }: Platform, text: string, period?: { readonly from: number; readonly to: number }) =>
  countRecent === undefined
    ? Effect.dieMessage("The platform does not count")
    : Effect.map(countRecent(text, period), ({ parts: _, ...counted }) => counted)

describe("countRecent", () => {
  it.scoped("counts the posts of seven days, which no rule needs to match", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        yield* on.post("A cat", "A dog", "Another cat")
        yield* pass(60)
        const counted = yield* count(platform, "cat -is:retweet")
        const now = NOW + 60_000
        assert.deepStrictEqual(counted, { total: 2, from: now - WEEK, to: now - 30_000, without: [] })
        assert.match((yield* count(platform, "cat")).note ?? "", /retweets/)
      })
    )
  )

  it.scoped("counts a period by minute", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        yield* on.post("A cat")
        yield* pass(600)
        yield* on.post("Another cat")
        yield* pass(60)
        const counted = yield* count(platform, "cat", { from: NOW + 300_000, to: NOW + 630_000 })
        assert.deepInclude(counted, { total: 1, from: NOW + 300_000, to: NOW + 630_000 })
      })
    )
  )

  it.scoped("leaves out operators that X's search refuses, and names them", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        yield* on.post("A cat", "Another cat")
        yield* pass(60)
        assert.deepInclude(yield* count(platform, "cat user_bio:teacher sample:10"), {
          total: 2,
          without: ["bio", "sample"]
        })
        const error = yield* Effect.flip(count(platform, "cat OR bio:teacher"))
        assert.strictEqual(error._tag, "PlatformRefused")
        assert.match(error.reason, /does not know bio:, and the filter cannot do without/)
        const state = yield* on.control.state
        assert.deepStrictEqual(state.calls["x.counts.recent"], { calls: 1, statuses: { 200: 1 } })
      })
    )
  )

  it.scoped("fails with X's own message for a query that X refuses", () =>
    withSimulator({ x: { max_query_length: 5 } }, (_, { platform }) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(count(platform, "elephant"))
        assert.strictEqual(error._tag, "PlatformRefused")
        assert.match(error.reason, /length \[8\] is not between 1 and 5/)
      })
    )
  )

  it.scoped("makes fewer calls than X allows, and keeps some for counts of a period", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        yield* pass(60)
        const period = { from: NOW, to: NOW + 20_000 }
        const checks = yield* Effect.forEach(Array.from({ length: 200 }), () => Effect.either(count(platform, "cat")))
        assert.isAbove(checks.filter(({ _tag }) => _tag === "Left").length, 0)
        yield* Effect.forEach(Array.from({ length: 50 }), () => count(platform, "cat", period))
        const rest = yield* Effect.forEach(Array.from({ length: 50 }), () =>
          Effect.either(count(platform, "cat", period))
        )
        assert.isAbove(rest.filter(({ _tag }) => _tag === "Left").length, 0)
        const { windows, violations } = yield* on.control.state
        assert.isBelow(windows["x.counts.recent"]?.most ?? 0, 300)
        assert.isEmpty(violations)
        yield* pass(15 * 60)
        yield* count(platform, "cat")
      })
    )
  )

  for (const body of ["{}", "[]", '{"meta":{"total_tweet_count":1}}', '{"data":[{}],"meta":{"total_tweet_count":1}}']) {
    it.scoped(`fails for the response ${body}`, () =>
      withX(
        async () => new Response(body),
        ({ platform }) =>
          Effect.gen(function* () {
            assert.strictEqual((yield* Effect.flip(count(platform, "cat")))._tag, "PlatformUnavailable")
          })
      )
    )
  }
})
