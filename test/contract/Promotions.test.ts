/** Every store must hand over what a shadow matched with the change: it becomes matches of the rule, also after a crash. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as RuntimeEntropy from "../../adapters/runtimes/entropy.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { StoreUnavailable } from "../../core/model/Errors.ts"
import { type AccountId, Ids } from "../../core/model/Ids.ts"
import { type NewRule, type RuleChange, RuleStore } from "../../core/rules/RuleStore.ts"
import { forgetReplaced } from "../../core/shadows/forgetReplaced.ts"
import { type Pair, ShadowStore } from "../../core/shadows/ShadowStore.ts"
import { storesOfDoors } from "../stores.ts"
import { at, newAccount, newMatch, newRule, noLimits, registeredOf, visibleRule } from "./samples.ts"

const ids = Layer.provide(Ids.layer, RuntimeEntropy.layer)

for (const [name, stores] of storesOfDoors) {
  withLayer(Layer.merge(stores, ids), { excludeTestServices: true, timeout: "240 seconds" })(
    `promotions on ${name}`,
    (it) => {
      it.effect("adds what was handed over with the change, once, when the shadow is gone", () =>
        Effect.gen(function* () {
          const rules = yield* RuleStore
          const shadows = yield* ShadowStore
          const { account, rule, pair } = yield* shadowedRule
          let added = 0
          const also = Effect.map(shadows.handOver(pair), (count) => {
            added += count
          })
          yield* rules.change(account, rule.id, { ...promotion(pair), also })
          assert.strictEqual(added, 2, "not the one before, nor the one that the rule has")
          // The next start removes what the change has replaced.
          yield* rules.remove(pair.shadow)

          assert.deepStrictEqual(yield* postsOf(account, rule), [["both", undefined, 1]])
          const finish = yield* forgetReplaced(0)
          yield* finish
          const expected: ReadonlyArray<unknown> = [
            ["second", true, 2],
            ["first", true, 2],
            ["both", undefined, 1]
          ]
          assert.deepStrictEqual<unknown>(yield* postsOf(account, rule), expected)
          yield* finish
          assert.deepStrictEqual<unknown>(yield* postsOf(account, rule), expected)
          assert.deepStrictEqual(yield* shadows.waiting(rule.id, 10), [])
        })
      )

      it.effect("leaves out of a comparison what earlier versions of the rule met", () =>
        Effect.gen(function* () {
          const shadows = yield* ShadowStore
          const { account, rule, pair } = yield* shadowedRule
          const { counts } = yield* shadows.compare({ ...pair, fromVersion: 1 }, 0)
          assert.deepStrictEqual(counts, { present_only: 0, candidate_only: 2, both: 1 })
          assert.lengthOf(yield* postsOf(account, rule), 1)
          const later = yield* shadows.compare({ ...pair, fromVersion: 2 }, 0)
          assert.deepStrictEqual(later.counts, { present_only: 0, candidate_only: 2, both: 0 })
        })
      )

      // Memory has no transactions.
      it.effect.skipIf(name === "memory")("hands over in the transaction of the change: both, or neither", () =>
        Effect.gen(function* () {
          const rules = yield* RuleStore
          const shadows = yield* ShadowStore
          const { account, rule, pair } = yield* shadowedRule
          const failure = new StoreUnavailable({ operation: "test", cause: "down" })
          const also = Effect.zipRight(shadows.handOver(pair), failure)
          const error = yield* Effect.flip(rules.change(account, rule.id, { ...promotion(pair), also }))
          assert.strictEqual(error._tag, "StoreUnavailable")
          assert.lengthOf(yield* rules.versions(account, rule.id), 1)
          assert.deepStrictEqual(yield* shadows.waiting(rule.id, 10), [])
          assert.strictEqual((yield* shadows.compare({ ...pair, fromVersion: 1 }, 0)).counts.candidate_only, 2)
        })
      )
    }
  )
}

// ---- helpers ----

/** The shadow alone has matched `first` and `second`, and `before` too early. */
const shadowedRule = Effect.gen(function* () {
  const rules = yield* RuleStore
  const account = yield* newAccount
  const rule = yield* visibleRule(account)
  const shadow = newRule(account, {
    candidate: { of: rule.id, purpose: "shadow" },
    filters: [{ platform: "x", text: "dog" }]
  })
  yield* rules.reserve(shadow, noLimits)
  yield* rules.activate(shadow.id, registeredOf(shadow), at(2))
  const match = (platform_post_id: string, minute: number) =>
    newMatch(shadow.id, { platform_post_id, created_at: at(minute) })
  const both = match("both", 6)
  yield* (yield* ShadowStore).insert([match("before", 3), match("first", 5), both, match("second", 7)])
  yield* (yield* MatchStore).insert([{ ...both, rule_id: rule.id }])
  const pair: Pair = { account, rule: rule.id, shadow: shadow.id, platforms: ["x"], since: at(4) }
  return { account, rule, pair }
})

const promotion = ({ shadow, platforms, since }: Pair): RuleChange => ({
  name: "Cats",
  intent: "Know about cats",
  at: at(8),
  by: Option.none(),
  expectedVersion: 1,
  ended: platforms,
  paused: [],
  candidate: shadow,
  added: platforms,
  promotedSince: since
})

const postsOf = (account: AccountId, { id }: NewRule) =>
  Effect.gen(function* () {
    const { items } = yield* (yield* MatchStore).list({
      account,
      rules: Option.some([id]),
      platforms: ["x"],
      before: Option.none(),
      limit: 10
    })
    return items.map(({ platform_post_id, reapplied, rule_version }) => [platform_post_id, reapplied, rule_version])
  })
