import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Context, Effect, Layer } from "effect"
import * as postgres from "../../../adapters/sql/postgres.ts"
import * as SqlKeyStore from "../../../adapters/sql/SqlKeyStore.ts"
import { runtime } from "../../../app/stores.ts"
import { EVERY_ACCOUNT, Keys } from "../../../core/keys/Keys.ts"
import { emptyDatabase } from "../../stores.ts"

describe("SqlKeyStore", () => {
  it.scopedLive("insertFirst stores one key when several servers start at once on an empty database", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 3; round++) {
        const { url } = yield* emptyDatabase
        // Each with a pool of its own, like a process.
        const start = Effect.suspend(() => {
          const store = Layer.provide(SqlKeyStore.layer, postgres.layerWith({ url }))
          return Layer.build(Keys.layer.pipe(Layer.provide(store), Layer.provide(runtime)))
        })
        const servers = Arr.map(yield* Effect.replicateEffect(start, 4), Context.get(Keys))
        const first = yield* Effect.forEach(servers, ({ issueFirst }) => issueFirst, { concurrency: "unbounded" })
        const issued = Arr.getSomes(first)
        assert.lengthOf(issued, 1)
        for (const { list } of servers) {
          const stored = yield* list(EVERY_ACCOUNT)
          assert.deepStrictEqual(
            stored.map(({ id }) => id),
            issued.map(({ key }) => key.id)
          )
        }
      }
    })
  )
})
