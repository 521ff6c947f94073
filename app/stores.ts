/** The configured stores, and the runtime services that all layers need. */
import { Effect, Layer, Option } from "effect"
import * as Assets from "../adapters/runtimes/assets.ts"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import * as Pglite from "../adapters/sql/pglite.ts"
import * as Postgres from "../adapters/sql/postgres.ts"
import * as SqlStores from "../adapters/sql/stores.ts"
import { Ids } from "../core/model/Ids.ts"
import { storeSettings } from "./settings.ts"

export const runtime = Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)

export const stores = Layer.unwrapEffect(
  Effect.map(storeSettings, ({ databaseUrl, dataDir }) =>
    Layer.provide(
      SqlStores.layer,
      Option.match(databaseUrl, {
        onNone: () => Pglite.layerWith({ dataDir, image: Assets.storeImage }),
        onSome: (url) => Postgres.layerWith({ url })
      })
    )
  )
)
