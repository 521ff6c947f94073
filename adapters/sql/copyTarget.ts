/**
 * The target of a copy: from the check that it is empty to the complete copy. A mark (`copyMark.ts`) says meanwhile which
 * store is copied, and where each table has got to.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { CannotCopyStore } from "./copyErrors.ts"
import { isMarked, MARK } from "./copyMark.ts"
import { LOCK } from "./migrate.ts"
import { SEEDED } from "./migrations.ts"
import { driverDefectsAsErrors } from "./statements.ts"
import { type ForeignKey, foreignKeysIn, quoted, type Table, tablesIn } from "./tables.ts"

/** What is copied: places in it are valid as long as it has no later transaction. */
export interface Version {
  /** Its oldest account. Only stores that know a real platform have an id. */
  readonly store: string
  readonly transaction: string
}

/** `restarted`: the source has changed since the copy was begun. */
export type Begun = "new" | "resumed" | "restarted"

interface Target {
  readonly target: SqlClient
  readonly location: string
  /** Of the source. */
  readonly tables: ReadonlyArray<Table>
  readonly version: Version
}

export const versionOf = (source: SqlClient): Effect.Effect<Version, SqlError> =>
  Effect.map(
    source<Version>`select coalesce((select id from accounts order by id limit 1)::text, ${NO_ACCOUNT}) as store,
      pg_snapshot_xmax(pg_current_snapshot())::text as transaction`,
    ([found]) => found ?? { store: NO_ACCOUNT, transaction: "" }
  )

/** Fails if the target is in use. Changes nothing. */
export const checkUsable = (options: Target): Effect.Effect<void, CannotCopyStore> =>
  refusing(options.location, check(options))

/** Marks the target and empties its tables, unless a copy is to be resumed. Takes effect as a whole, or not at all. */
export const begin = (options: Target): Effect.Effect<Begun, CannotCopyStore> =>
  refusing(options.location, options.target.withTransaction(beginning(options)))

/** Where the copy of each table or partition has got to. */
export const placesIn = (target: SqlClient): Effect.Effect<Readonly<Record<string, string>>, SqlError> =>
  Effect.map(readMark(target), (mark) => mark?.places ?? {})

/** Makes the tables like those of other stores, and removes the mark. */
export const complete = ({ target, tables }: Pick<Target, "target" | "tables">) =>
  Effect.gen(function* () {
    // Keys of many rows take long to check.
    yield* target`set local statement_timeout = 0`
    const mark = yield* readMark(target, "for update")
    for (const { table, name, definition } of mark?.foreign_keys ?? []) {
      yield* target.unsafe(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`)
    }
    yield* setTriggers(target, tables, "enable")
    yield* target`drop table ${target(MARK)}`
  }).pipe(target.withTransaction)

// ---- helpers ----

const NO_ACCOUNT = "00000000-0000-0000-0000-000000000000"

interface Mark extends Version {
  readonly places: Readonly<Record<string, string>>
  readonly foreign_keys: ReadonlyArray<ForeignKey>
}

const check = ({ target, location, tables, version }: Target) =>
  Effect.gen(function* () {
    const refused = (reason: string, remedy: string) =>
      new CannotCopyStore({ location, reason, remedy: `Nothing was changed. ${remedy}` })
    const [server] = yield* target<{ readonly encoding: string }>`
      select current_setting('server_encoding') as encoding`
    if (server?.encoding !== "UTF8") {
      return yield* refused(`its encoding is ${server?.encoding}`, "Create a database with the encoding UTF8")
    }
    if (yield* isMarked(target)) {
      const mark = yield* readMark(target)
      return mark?.store === version.store
        ? undefined
        : yield* refused("it has an incomplete copy of another store", EMPTY_DATABASE)
    }
    const wanted = new Set(tables.map(({ name }) => name))
    const full: Array<string> = []
    for (const { name } of yield* tablesIn(target)) {
      if (!wanted.has(name) || SEEDED.has(name)) continue
      const [found] = yield* target`select 1 from ${target(name)} limit 1`
      if (found !== undefined) full.push(name)
    }
    if (full.length === 0) return
    const others = full.length > 3 ? ` and ${full.length - 3} more` : ""
    return yield* refused(
      `it is not empty: there are rows in ${full.slice(0, 3).join(", ")}${others}`,
      `If a copy of this store was completed there, start the server on it. Otherwise use an empty one (create database …)`
    )
  })

const refusing = <A>(location: string, effect: Effect.Effect<A, CannotCopyStore | SqlError>) =>
  driverDefectsAsErrors(effect).pipe(
    Effect.catchTag("SqlError", ({ cause }) => {
      const reason = `it cannot be prepared: ${cause instanceof Error ? cause.message : String(cause)}`
      const remedy = "Nothing was copied. Check that the user owns the database and its tables"
      return new CannotCopyStore({ location, reason, remedy })
    })
  )

const beginning = (options: Target) =>
  Effect.gen(function* () {
    const { target, tables, version } = options
    yield* target`set local lock_timeout = '10s'`
    yield* target`select pg_advisory_xact_lock(${LOCK})`
    yield* checkSameTables(options)
    const all = tables.map(({ name }) => quoted(name)).join(", ")
    const empty = target.unsafe(`truncate ${all}`)

    if (yield* isMarked(target)) {
      const mark = yield* readMark(target, "for update")
      yield* check(options)
      if (mark?.transaction === version.transaction) return "resumed"
      yield* empty
      yield* target`update ${target(MARK)} set transaction = ${version.transaction}, places = '{}'`
      return "restarted"
    }

    yield* target.unsafe(`lock table ${all} in access exclusive mode`)
    yield* check(options)
    const names = new Set(tables.map(({ name }) => name))
    const keys = (yield* foreignKeysIn(target)).filter(({ table }) => names.has(table))
    for (const { table, name } of keys) {
      yield* target`alter table ${target(table)} drop constraint ${target(name)}`
    }
    yield* setTriggers(target, tables, "disable")
    yield* empty
    yield* target`create table ${target(MARK)} (
      store uuid not null, transaction text not null, places jsonb not null default '{}', foreign_keys jsonb not null
    )`
    yield* target`insert into ${target(MARK)} (store, transaction, foreign_keys)
      values (${version.store}, ${version.transaction}, ${JSON.stringify(keys)}::jsonb)`
    return "new"
  })

const readMark = (target: SqlClient, lock: "" | "for update" = "") =>
  Effect.map(
    target<Mark>`select store::text, transaction, places, foreign_keys from ${target(MARK)} ${target.literal(lock)}`,
    ([mark]) => mark
  )

const checkSameTables = ({ target, location, tables }: Target) =>
  Effect.gen(function* () {
    const found = new Map((yield* tablesIn(target)).map(({ name, columns }) => [name, JSON.stringify(columns)]))
    const other = tables.find(({ name, columns }) => found.get(name) !== JSON.stringify(columns))
    if (other === undefined) return
    return yield* new CannotCopyStore({
      location,
      reason: `its table "${other.name}" is not the same as here, as of another version of the service`,
      remedy: `Nothing was copied. ${EMPTY_DATABASE}`
    })
  })

const setTriggers = (target: SqlClient, tables: ReadonlyArray<Table>, action: "enable" | "disable") =>
  Effect.forEach(
    tables.filter(({ hasTriggers }) => hasTriggers),
    ({ name }) => target.unsafe(`alter table ${quoted(name)} ${action} trigger user`)
  )

const EMPTY_DATABASE = "Use an empty database (create database …)"
