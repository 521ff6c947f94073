/** The configured stores, and the runtime services that all layers need. */
import { hostname } from "node:os"
import process from "node:process"
import { Effect, Layer, Option, type Redacted } from "effect"
import type { ConfigError } from "effect/ConfigError"
import * as Assets from "../adapters/runtimes/assets.ts"
import * as RuntimeEntropy from "../adapters/runtimes/entropy.ts"
import * as WebSockets from "../adapters/runtimes/webSockets.ts"
import * as Pglite from "../adapters/sql/pglite.ts"
import * as Postgres from "../adapters/sql/postgres.ts"
import * as SqlRuleRequests from "../adapters/sql/SqlRuleRequests.ts"
import type { StoreCannotOpen } from "../adapters/sql/StoreCannotOpen.ts"
import * as SqlStores from "../adapters/sql/stores.ts"
import { Ids } from "../core/model/Ids.ts"
import { storeSettings } from "./settings.ts"
import { VERSION } from "./version.ts"

export const runtime = Layer.mergeAll(Layer.provideMerge(Ids.layer, RuntimeEntropy.layer), WebSockets.layer)

type Stores = Layer.Layer<Layer.Layer.Success<typeof SqlStores.layer>, StoreCannotOpen | ConfigError>

/** With their `Ownership`. On Postgres a server shares the work with the others; a command only asks them. */
export const storesFor = ({ isServer }: { readonly isServer: boolean }): Stores =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const { databaseUrl, storeWait, ...folder } = yield* storeSettings
      // This process is alone: the folder has a lock.
      if (Option.isNone(databaseUrl)) return Layer.provide(SqlStores.layer, embedded(folder))
      const url = databaseUrl.value
      const ownership = isServer ? yield* serverOn(url) : SqlRuleRequests.layer
      return Layer.merge(SqlStores.layer, ownership).pipe(
        Layer.provide(Postgres.layerWith({ url, isServer, waitSeconds: isServer ? storeWait : 0 }))
      )
    })
  )

// ---- helpers ----

const embedded = (folder: Pick<Pglite.Options, "dataDir" | "diskFloor">) =>
  Pglite.layerWith({ ...folder, image: Assets.storeImage })

const serverOn = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    // The cluster's library queues statements on one connection, which the driver will not allow in its next version.
    process.noDeprecation = true
    const SqlOwnership = yield* Effect.promise(() => import("../adapters/sql/SqlOwnership.ts"))
    const name = `${hostname()}/${process.pid}`
    return SqlOwnership.layerWith({ name, version: VERSION, location: yield* Postgres.locationOf(url) })
  })
