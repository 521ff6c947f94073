/** Registrations as earlier versions have stored them. */
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as postgres from "../../../adapters/sql/postgres.ts"
import * as SqlKeyStore from "../../../adapters/sql/SqlKeyStore.ts"
import * as SqlRuleStore from "../../../adapters/sql/SqlRuleStore.ts"
import { toUuid } from "../../../core/model/Ids.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { at, newAccount, visibleRule } from "../../contract/samples.ts"
import { emptyDatabase } from "../../stores.ts"

describe("SqlRuleStore", () => {
  it.scopedLive("reads a pause of an earlier version as one by the budget, and ends it", () =>
    Effect.gen(function* () {
      const { url } = yield* emptyDatabase
      const stores = Layer.provideMerge(Layer.merge(SqlRuleStore.layer, SqlKeyStore.layer), postgres.layerWith({ url }))
      const check = Effect.gen(function* () {
        const [rules, sql] = [yield* RuleStore, yield* SqlClient]
        const account = yield* newAccount
        const { id } = yield* visibleRule(account)
        const store = (state: string, reason: string | null, until: string | null) =>
          sql`update registrations set state = ${state}, reason = ${reason}, since = ${at(3)}, paused_until = ${until},
              paused_budget = ${until === null ? null : 10}
            where rule_id = ${toUuid(id)} and platform = 'x'`
        const shown = Effect.map(rules.find(account, id), (rule) => Option.getOrUndefined(rule)?.platforms["x"])
        const held = Effect.map(rules.registrations(id), (all) => all.find(({ platform }) => platform === "x"))

        yield* store("failed", "paused: the budget", at(9))
        assert.deepInclude(yield* shown, {
          state: "paused",
          paused_by: "budget",
          reason: "paused: the budget",
          failed_since: at(3)
        })
        const pause = { by: "budget", reason: "paused: the budget", until: at(9), limit: 10 } as const
        assert.deepInclude(yield* held, { state: "paused", pause: Option.some(pause) })
        assert.strictEqual(yield* rules.endPauses("x", { by: "budget", limit: 10, at: at(9) }), 1)
        assert.deepInclude(yield* held, { state: "paused", pause: Option.none() })
        assert.deepInclude(yield* shown, { state: "paused", paused_by: "budget" })
        const registered = { platformRuleId: "new", translatedValue: "cat" }
        yield* rules.restore(id, "x", { registered, lostSince: at(9), at: at(10) })
        assert.deepStrictEqual(yield* shown, { platform_rule_id: "new", translated_value: "cat", state: "active" })

        yield* store("failed", "no room", null)
        assert.deepInclude(yield* shown, { state: "failed", reason: "no room", failed_since: at(3) })
        assert.notProperty(yield* shown, "paused_by")
        yield* store("paused", null, null)
        assert.deepInclude(yield* shown, { state: "paused", paused_by: "account" })
      })
      yield* Effect.provide(check, stores)
    })
  )
})
