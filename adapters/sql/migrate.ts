/** Brings the schema up to date, with the migrations in `migrations.ts`. */
import * as Migrator from "@effect/sql/Migrator"
import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Option } from "effect"
import { checkNotMarked } from "./copyMark.ts"
import { isLive } from "./liveServers.ts"
import { isAdditive, migrations } from "./migrations.ts"
import { StoreCannotOpen } from "./StoreCannotOpen.ts"
import { driverDefectsAsErrors } from "./statements.ts"

export interface Migrations {
  /** By name, which begins with the number. */
  readonly all: Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient>>>
  readonly isAdditive: Readonly<Record<string, boolean>>
}

export const TABLE = "earshot_migrations"

/** Key of the advisory lock: an arbitrary number that other applications are unlikely to use. */
export const LOCK = 7_264_120_001

/**
 * Runs the missing migrations. Idempotent and safe for concurrent processes: without the advisory lock the migrator
 * fails when two processes create its table. `location` is for messages.
 */
export const migrateAt = (
  location: string,
  known: Migrations = { all: migrations, isAdditive }
): Effect.Effect<void, StoreCannotOpen, SqlClient> =>
  driverDefectsAsErrors(migrate(location, known)).pipe(
    Effect.catchSomeDefect((defect) =>
      defect instanceof Migrator.MigrationError ? Option.some(Effect.fail(defect)) : Option.none()
    ),
    Effect.mapError((error) => (error._tag === "StoreCannotOpen" ? error : migrationFailed(location, error)))
  )

/** Fails if, since this server started, a newer version has changed the schema, or a copy to this database was begun. */
export const checkSchema = (location: string): Effect.Effect<void, StoreCannotOpen | SqlError, SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const [found] = yield* sql<{ readonly isNewer: boolean }>`select exists (
      select 1 from ${sql(TABLE)} where migration_id > ${newestOf(migrations)} and not additive
    ) as "isNewer"`
    if (found?.isNewer === true) return yield* schemaIsNewer(location)
    yield* checkNotMarked(location)
  })

// ---- helpers ----

const idOf = (name: string): number => Number.parseInt(name, 10)

const newestOf = (all: Migrations["all"]): number => Math.max(...Object.keys(all).map(idOf))

const migrate = (location: string, { all, isAdditive }: Migrations) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const steps = Object.keys(all).map((name) => ({ id: idOf(name), additive: isAdditive[name] === true }))
    const newest = newestOf(all)

    const run = Effect.gen(function* () {
      yield* sql`select pg_advisory_xact_lock(${LOCK})`
      yield* sql`create table if not exists ${sql(TABLE)} (
        migration_id integer primary key,
        created_at timestamptz not null default now(),
        name text not null
      )`
      // Only if it is missing: the lock would stop the running servers, which read this table all the time.
      const [column] = yield* sql`
        select 1 from pg_attribute where attrelid = ${TABLE}::regclass and attname = 'additive'`
      // Tells versions that do not know the migration whether they can work with it.
      if (column === undefined) {
        yield* sql`alter table ${sql(TABLE)} add column additive boolean not null default false`
      }

      const done = yield* sql<{ readonly id: number; readonly additive: boolean }>`
        select migration_id as id, additive from ${sql(TABLE)} order by migration_id`
      if (done.some(({ id, additive }) => id > newest && !additive)) return yield* schemaIsNewer(location)

      const present = done.at(-1)?.id ?? 0
      const missing = steps.filter(({ id }) => id > present)
      if (missing.length === 0) return
      if (missing.some(({ additive }) => !additive)) yield* checkNoServer(location)
      yield* Migrator.make({})({ loader: Migrator.fromRecord(all), table: TABLE })
      const additive = missing.filter(({ additive }) => additive).map(({ id }) => id)
      yield* sql`update ${sql(TABLE)} set additive = true where migration_id = any(${additive})`
    })
    yield* sql.withTransaction(run)
  })

const schemaIsNewer = (location: string) =>
  new StoreCannotOpen({
    location,
    reason: "a newer version of the service has changed its schema",
    remedy: "Start that version or a later one",
    cause: undefined
  })

/** Fails if a server is alive. */
const checkNoServer = (location: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const [tables] = yield* sql<{ readonly exist: boolean }>`
      select to_regclass('servers') is not null and to_regclass('earshot_runners') is not null as exist`
    if (tables?.exist !== true) return
    const servers = yield* sql<{ readonly name: string; readonly version: string }>`
      select s.name, s.version from servers s where ${isLive(sql, "s.id")} order by s.started_at`
    if (servers.length === 0) return
    const names = servers.map(({ name, version }) => `"${name}" (${version})`).join(", ")
    return yield* new StoreCannotOpen({
      location,
      reason: `this version changes the schema, and the servers that run now cannot work with the new one: ${names}`,
      remedy: "Nothing was changed. Stop them first, then start this version",
      cause: undefined
    })
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
