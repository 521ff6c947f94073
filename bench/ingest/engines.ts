/** The two SQL engines, each with a fresh store, both with fsync on every commit. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, type Layer, Redacted, type Scope } from "effect"
import pg from "pg"
import type { Announcements } from "../../adapters/sql/Announcements.ts"
import * as Pglite from "../../adapters/sql/pglite.ts"
import * as Postgres from "../../adapters/sql/postgres.ts"
import type { StoreCannotOpen } from "../../adapters/sql/StoreCannotOpen.ts"
import { startPostgres } from "../../fixtures/postgres.ts"
import { copyIn } from "./copy.ts"

export interface Engine {
  readonly name: "PGlite" | "Postgres"
  readonly client: Layer.Layer<SqlClient | Announcements, StoreCannotOpen>
  /** Prepares rows in COPY's text format and returns the statement to time. */
  readonly copy: (table: string, text: Buffer) => Effect.Effect<Effect.Effect<unknown, unknown>, never, SqlClient>
}

const image = Effect.promise(() => readFile("dist/assets/store.tar.gz"))

export const pglite: Effect.Effect<Engine, never, Scope.Scope> = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "earshot-bench-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  return {
    name: "PGlite",
    client: Pglite.layerWith({ dataDir, image }),
    // PGlite has no COPY over the wire, but reads files in its own folder.
    copy: (table, text) =>
      Effect.map(SqlClient, (sql) => {
        writeFileSync(join(dataDir, "pg", "bench.copy"), text)
        return sql.unsafe(`copy ${table} from 'bench.copy'`)
      })
  }
})

/** `settings` as in postgresql.conf. */
export const postgresServer = (settings: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(() => startPostgres(settings)),
    ({ remove }) => Effect.promise(remove)
  )

export const postgres: Effect.Effect<Engine, never, Scope.Scope> = Effect.gen(function* () {
  const { url } = yield* postgresServer(["fsync=on", "shared_buffers=512MB", "max_wal_size=4GB"])
  const connection = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )
  return {
    name: "Postgres",
    client: Postgres.layerWith({ url: Redacted.make(url) }),
    copy: (table, text) => Effect.succeed(Effect.tryPromise(() => copyIn(connection, table, text)))
  }
})
