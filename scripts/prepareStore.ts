/** Makes the image of a new embedded store: the newest schema, and nothing in it. The build runs this. */
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Logger, LogLevel } from "effect"
import * as Pglite from "../adapters/sql/pglite.ts"
import { pack } from "../adapters/sql/storeImage.ts"

/** `dataDir`: an empty folder to work in. */
export const prepareStore = (dataDir: string): Promise<Uint8Array> => {
  const fill = Effect.gen(function* () {
    const sql = yield* SqlClient
    // Each store gets an id of its own when it is first asked for one.
    yield* sql`delete from deployment`
    // Two of three databases of a new server are there to be copied, and this one never makes another.
    yield* sql`update pg_database set datistemplate = false`
    yield* sql`drop database template0`
    yield* sql`drop database template1`
  })
  const whole = Effect.scoped(Effect.provide(fill, Pglite.layerWith({ dataDir })))
  const image = Effect.map(whole, () => pack(join(dataDir, "pg")))
  return Effect.runPromise(Effect.provide(image, Logger.minimumLogLevel(LogLevel.Warning)))
}
