/** Creates the image of an empty embedded store with the newest schema, for the build. */
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Logger, LogLevel } from "effect"
import * as Pglite from "../adapters/sql/pglite.ts"
import { pack } from "../adapters/sql/storeImage.ts"

/** `dataDir`: an empty working folder. */
export const prepareStore = (dataDir: string): Promise<Uint8Array> => {
  const fill = Effect.gen(function* () {
    const sql = yield* SqlClient
    // Each store creates its own id on first use.
    yield* sql`delete from deployment`
    // Template databases are only needed to create databases.
    yield* sql`update pg_database set datistemplate = false`
    yield* sql`drop database template0`
    yield* sql`drop database template1`
  })
  const whole = Effect.scoped(Effect.provide(fill, Pglite.layerWith({ dataDir })))
  const image = Effect.map(whole, () => pack(join(dataDir, "pg")))
  return Effect.runPromise(Effect.provide(image, Logger.minimumLogLevel(LogLevel.Warning)))
}
