/** The configured stores, and the runtime services that all layers need. */
import { hostname } from "node:os"
import process from "node:process"
import { Effect, Layer, Option } from "effect"
import type { ConfigError } from "effect/ConfigError"
import * as Assets from "../adapters/runtimes/assets.ts"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import * as Pglite from "../adapters/sql/pglite.ts"
import * as Postgres from "../adapters/sql/postgres.ts"
import type { StoreCannotOpen } from "../adapters/sql/StoreCannotOpen.ts"
import * as SqlStores from "../adapters/sql/stores.ts"
import { Ids } from "../core/model/Ids.ts"
import { storeSettings } from "./settings.ts"
import { VERSION } from "./version.ts"

export const runtime = Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)

type Stores = Layer.Layer<Layer.Layer.Success<typeof SqlStores.layer>, StoreCannotOpen | ConfigError>

export const stores: Stores = Layer.unwrapEffect(
  Effect.map(storeSettings, ({ databaseUrl, ...folder }) =>
    Layer.provide(
      SqlStores.layer,
      Option.match(databaseUrl, {
        onNone: () => embedded(folder),
        onSome: (url) => Postgres.layerWith({ url })
      })
    )
  )
)

/** For the service. On Postgres a server shares the work with the others; a command only asks them. */
export const sharedStores = ({ isServer }: { readonly isServer: boolean }): Stores =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const { databaseUrl, storeWait, ...folder } = yield* storeSettings
      if (Option.isNone(databaseUrl)) return Layer.provide(SqlStores.layer, embedded(folder))
      // The cluster's library queues statements on one connection, which the driver will not allow in its next version.
      process.noDeprecation = true
      const cluster = yield* Effect.promise(() => import("../adapters/sql/severalServers.ts"))
      const ownership = isServer
        ? cluster.SqlOwnership.layerWith({
            name: `${hostname()}/${process.pid}`,
            version: VERSION,
            location: yield* Postgres.locationOf(databaseUrl.value)
          })
        : Layer.empty
      return Layer.mergeAll(SqlStores.layer, cluster.SqlRuleRequests.layer, ownership).pipe(
        Layer.provide(Postgres.layerWith({ url: databaseUrl.value, isServer, waitSeconds: isServer ? storeWait : 0 }))
      )
    })
  )

// ---- helpers ----

const embedded = (folder: Pick<Pglite.Options, "dataDir" | "diskFloor">) =>
  Pglite.layerWith({ ...folder, image: Assets.storeImage })
