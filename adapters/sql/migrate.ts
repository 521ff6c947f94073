/** Brings the schema up to date, with the migrations in `migrations.ts`. */
import * as Migrator from "@effect/sql/Migrator"
import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Option } from "effect"
import { migrations } from "./migrations.ts"
import { StoreCannotOpen } from "./StoreCannotOpen.ts"
import { driverDefectsAsErrors } from "./unavailable.ts"

/**
 * Runs the missing migrations. Idempotent and safe for concurrent processes: without the advisory lock the migrator
 * fails when two processes create its table. `location` is for messages.
 */
export const migrateAt = (location: string): Effect.Effect<void, StoreCannotOpen, SqlClient> =>
  Effect.gen(function* () {
    yield* driverDefectsAsErrors(migrate).pipe(
      Effect.catchSomeDefect((defect) =>
        defect instanceof Migrator.MigrationError ? Option.some(Effect.fail(defect)) : Option.none()
      ),
      Effect.mapError((error) => migrationFailed(location, error))
    )
    const isNewer = yield* Effect.mapError(isSchemaNewer, (error) => migrationFailed(location, error))
    if (isNewer) {
      return yield* new StoreCannotOpen({
        location,
        reason: "a newer version of the service has changed its schema",
        remedy: "Start that version or a later one",
        cause: undefined
      })
    }
  })

// ---- helpers ----

const TABLE = "earshot_migrations"

/** Key of the advisory lock: an arbitrary number that other applications are unlikely to use. */
const LOCK = 7_264_120_001

const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient
  const run = Effect.gen(function* () {
    yield* sql`select pg_advisory_xact_lock(${LOCK})`
    yield* sql`create table if not exists ${sql(TABLE)} (
      migration_id integer primary key,
      created_at timestamptz not null default now(),
      name text not null
    )`
    yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: TABLE })
  })
  yield* sql.withTransaction(run)
})

const isSchemaNewer = Effect.gen(function* () {
  const sql = yield* SqlClient
  const newest = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))
  const rows = yield* sql`select 1 from ${sql(TABLE)} where migration_id > ${newest}`
  return rows.length > 0
})

const migrationFailed = (location: string, error: SqlError | Migrator.MigrationError) => {
  const failed = error.cause instanceof SqlError ? error.cause.cause : error.cause
  return new StoreCannotOpen({
    location,
    reason: `its schema could not be brought up to date: ${failed instanceof Error ? failed.message : error.message}`,
    remedy: "Nothing was changed. Check that the user may create tables in this database, then start again",
    cause: error
  })
}
