/** Our service on a real store. */
import { readFile } from "node:fs/promises"
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Redacted, Scope } from "effect"
import * as Pglite from "../../adapters/sql/pglite.ts"
import * as Postgres from "../../adapters/sql/postgres.ts"
import * as SqlStores from "../../adapters/sql/stores.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { Payload } from "../../core/matches/Payload.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { layerWith, listen, log } from "../service.ts"
import { KEY, matches, rules } from "./data.ts"

export const serve = (location: string): Promise<number> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const client = location.startsWith("postgres:")
        ? Postgres.layerWith({ url: Redacted.make(location) })
        : Pglite.layerWith({ dataDir: location, image: Effect.promise(() => readFile("dist/assets/store.tar.gz")) })
      const layer = layerWith(Layer.provide(SqlStores.layer, client))
      const context = yield* Layer.buildWithScope(Layer.provideMerge(Layer.merge(layer, client), log), scope)
      return yield* fill.pipe(Effect.zipRight(listen), Scope.extend(scope), Effect.provide(context))
    })
  )

// ---- helpers ----

const fill = Effect.gen(function* () {
  const store = yield* RuleStore
  const { account_id: accountId } = yield* (yield* Keys).adopt(Redacted.make(KEY))
  for (const { id, name, intent, created_at: createdAt, platforms } of rules) {
    const { platform_rule_id: platformRuleId, translated_value: translatedValue } = platforms.x
    const filters = [{ platform: "x" as const, text: translatedValue }]
    yield* store.reserve({ id, accountId, name, intent, createdAt, filters }, new Map())
    yield* store.activate(id, new Map([["x", { platformRuleId, translatedValue }]]), createdAt)
  }
  yield* (yield* MatchStore).insert(matches.map((match) => ({ ...match, payload: Payload.of(match.payload) })))
  yield* (yield* SqlClient)`analyze`
})
