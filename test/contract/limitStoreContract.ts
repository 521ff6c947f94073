/** The contract of `LimitStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { v7 } from "uuid"
import type { KeyStore } from "../../core/keys/KeyStore.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import { type Count, LimitStore } from "../../core/quotas/LimitStore.ts"
import { newAccount } from "./samples.ts"

export const limitStoreContract = <E>(name: string, layer: Layer.Layer<LimitStore | KeyStore, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`LimitStore on ${name}`, (it) => {
    it.effect("setLimit stores, replaces and removes limits of one account", () =>
      Effect.gen(function* () {
        const store = yield* LimitStore
        const [ann, bob] = [yield* newAccount, yield* newAccount]
        yield* store.setLimit(ann, "requests", Option.some(5))
        yield* store.setLimit(ann, "bytes", Option.some(9_007_199_254_740_991))
        yield* store.setLimit(ann, "rules.x", Option.some(0))
        yield* store.setLimit(ann, "requests", Option.some(6))
        yield* store.setLimit(bob, "requests", Option.some(7))
        assert.deepStrictEqual([...(yield* store.limitsOf(ann))].sort(), [
          ["bytes", 9_007_199_254_740_991],
          ["requests", 6],
          ["rules.x", 0]
        ])
        yield* store.setLimit(ann, "requests", Option.none())
        yield* store.setLimit(ann, "requests", Option.none())
        assert.isFalse((yield* store.limitsOf(ann)).has("requests"))
        assert.deepStrictEqual([...(yield* store.limitsOf(bob))], [["requests", 7]])
      })
    )

    it.effect("shareCounts returns what the other servers counted in the same minute", () =>
      Effect.gen(function* () {
        const store = yield* LimitStore
        const [ann, bob] = [yield* newAccount, yield* newAccount]
        const [one, two, three] = [v7(), v7(), v7()]
        const count = (account: AccountId, used: number, window = 100): Count => ({
          account,
          limit: "checks",
          window,
          used
        })
        const none = yield* store.shareCounts(one, [count(ann, 1.5), count(bob, 4)])
        assert.sameDeepMembers([...none], [count(ann, 0), count(bob, 0)])
        assert.deepStrictEqual(yield* store.shareCounts(two, [count(ann, 2)]), [count(ann, 1.5)])
        assert.deepStrictEqual(yield* store.shareCounts(one, [count(ann, 3)]), [count(ann, 2)])
        assert.deepStrictEqual(yield* store.shareCounts(three, [count(ann, 1)]), [count(ann, 5)])
        assert.deepStrictEqual(yield* store.shareCounts(two, [count(ann, 1, 101)]), [count(ann, 0, 101)])
        assert.deepStrictEqual(yield* store.shareCounts(one, [count(ann, 1, 101)]), [count(ann, 1, 101)])
      })
    )
  })
