/** The contract of `PostCounts`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { v7 } from "uuid"
import { hoursUpTo, monthOf, PostCounts, type Subject } from "../../core/budget/PostCounts.ts"
import { fromUuid } from "../../core/model/Ids.ts"

const NOON = Date.UTC(2026, 10, 15, 12, 30)
const HOUR = 3_600_000

export const postCountsContract = <E>(name: string, layer: Layer.Layer<PostCounts, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`PostCounts on ${name}`, (it) => {
    it.effect("add adds to each period, and forget deletes the older ones", () =>
      Effect.gen(function* () {
        const store = yield* PostCounts
        const [rule, account] = [fromUuid("rule", v7()), fromUuid("acct", v7())]
        const add = (at: number, counts: ReadonlyArray<readonly [Subject, number]>) =>
          store.add("x", [monthOf(at), ...hoursUpTo(at, 1)], new Map(counts))
        const sums = (periods: ReadonlyArray<string>) =>
          Effect.map(store.sums("x", periods), (found) => [...found].sort())

        assert.strictEqual(yield* store.count("x", "2026-11", "all"), 0)
        yield* add(NOON - HOUR, [["all", 2]])
        yield* add(NOON, [
          ["all", 3],
          [rule, 1]
        ])
        yield* add(NOON, [
          ["all", 1],
          [account, 9_007_199_254_740_000]
        ])
        assert.strictEqual(yield* store.count("x", "2026-11", "all"), 6)
        assert.strictEqual(yield* store.count("x", "2026-11", account), 9_007_199_254_740_000)
        assert.strictEqual(yield* store.count("x", "2026-10", "all"), 0)
        assert.strictEqual(yield* store.count("firehose", "2026-11", "all"), 0)
        assert.deepStrictEqual(hoursUpTo(NOON, 2), ["2026-11-15T12", "2026-11-15T11"])
        assert.deepStrictEqual(yield* sums(hoursUpTo(NOON - HOUR, 24)), [["all", 2]])
        assert.deepStrictEqual(yield* sums(hoursUpTo(NOON, 2)), [
          [account, 9_007_199_254_740_000],
          ["all", 6],
          [rule, 1]
        ])

        yield* store.forget({ month: "2026-11", hour: "2026-11-15T12" })
        assert.deepStrictEqual(yield* sums(["2026-11-15T11"]), [])
        assert.strictEqual(yield* store.count("x", "2026-11-15T12", "all"), 4)
        assert.strictEqual(yield* store.count("x", "2026-11", "all"), 6)
        yield* store.forget({ month: "2026-12", hour: "2026-11-15T12" })
        assert.strictEqual(yield* store.count("x", "2026-11", "all"), 0)
      })
    )
  })
