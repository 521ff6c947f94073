/** Stores on every engine, each in a temporary folder or database. */

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Redacted } from "effect"
import { inject } from "vitest"
import { storeImage } from "../adapters/runtimes/assets.ts"
import type { Announcements } from "../adapters/sql/Announcements.ts"
import * as pglite from "../adapters/sql/pglite.ts"
import * as postgres from "../adapters/sql/postgres.ts"
import type { StoreCannotOpen } from "../adapters/sql/StoreCannotOpen.ts"
import * as stores from "../adapters/sql/stores.ts"
import { asSuperuser, TEMPLATE } from "../fixtures/postgres.ts"
import { sized } from "./long.ts"
import { memoryStores, type Stores } from "./stores/memoryStores.ts"

/** Deleted when the scope closes. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "earshot-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** A copy of the migrated template database. Dropped when the scope closes. */
export const temporaryDatabase = database(`template ${TEMPLATE}`)

/** For tests of the migrations themselves. */
export const emptyDatabase = database("")

export const pgliteClient: Layer.Layer<SqlClient | Announcements, StoreCannotOpen> = Layer.unwrapScoped(
  Effect.map(temporaryFolder, (dataDir) => pglite.layerWith({ dataDir, image: storeImage }))
)

export const postgresClient: Layer.Layer<SqlClient | Announcements, StoreCannotOpen> = Layer.unwrapScoped(
  Effect.map(temporaryDatabase, ({ url }) => postgres.layerWith({ url }))
)

/** The stores that every contract suite runs on. */
export const everyStore: ReadonlyArray<readonly [name: string, layer: Layer.Layer<Stores, StoreCannotOpen>]> = [
  ["memory", memoryStores],
  ["PGlite", Layer.provide(stores.layer, pgliteClient)],
  ["Postgres", Layer.provide(stores.layer, postgresClient)]
]

/** For suites about something else than the store: the short form leaves out PGlite, which runs the SQL of Postgres. */
export const storesOfDoors = sized(
  everyStore.filter(([name]) => name !== "PGlite"),
  everyStore
)

/** Fewest on PGlite in the short form: it runs the SQL of Postgres, one statement after the other. */
export const rounds = (store: string, all: number): number => sized(Math.ceil(all / (store === "PGlite" ? 8 : 2)), all)

// ---- helpers ----

function database(options: string) {
  return Effect.acquireRelease(
    Effect.promise(async () => {
      const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`
      const url = new URL(inject("postgresUrl"))
      await asSuperuser(url.href, `create database ${name} ${options}`)
      url.pathname = name
      return { name, url: Redacted.make(url.href) }
    }),
    ({ name }) => Effect.promise(() => asSuperuser(inject("postgresUrl"), `drop database ${name} with (force)`))
  )
}
