/** The copy of a store to Postgres: it is complete, unchanged and resumable, and only an empty database is accepted. */
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted } from "effect"
import { inject } from "vitest"
import { checkSchema, TABLE as MIGRATIONS } from "../../../adapters/sql/migrate.ts"
import { SEEDED } from "../../../adapters/sql/migrations.ts"
import * as postgres from "../../../adapters/sql/postgres.ts"
import { type CopyProgress, copyStore } from "../../../adapters/sql/storeCopy.ts"
import { quoted, tablesIn } from "../../../adapters/sql/tables.ts"
import { asSuperuser } from "../../../fixtures/postgres.ts"
import { emptyDatabase, pgliteClient, temporaryDatabase } from "../../stores.ts"

/** In all columns of its type, so that all rows refer to each other. */
const ID = "01990000-0000-7000-8000-000000000001"

/** One row of each table has these. */
const sampleOf: Readonly<Record<string, string>> = {
  uuid: ID,
  text: String.raw`{NULL,"a\b",'c'} NULL \u0000 \ud800`.concat("\n\r\t\u0001\u007f\ufeff\u2028 ünïcödé 🚀 \u{10ffff}"),
  "character varying(50)": "",
  "character varying(255)": "NULL",
  jsonb: String.raw`{"z": 1e400, "a": [12345678901234567890.123450, -0.0, null, ""], "\\ud800": "\"\\ \u0001 🚀 {,}"}`,
  boolean: "true",
  smallint: "-32768",
  integer: "-2147483648",
  bigint: "9223372036854775807",
  "double precision": "0.30000000000000004",
  "timestamp(3) with time zone": "2026-11-19 17:00:00.123+00",
  "timestamp with time zone": "0044-03-15 12:00:00.123456+00 BC",
  "timestamp without time zone": "infinity",
  "uuid[]": `{${ID},NULL}`,
  "text[]": String.raw`{"{\"a\\,b\"}",NULL,"NULL",""}`,
  "integer[]": "[5:7]={1,NULL,-3}",
  // Of a table that only this test has.
  bytea: String.raw`\x00ff5c27`
}

/** Values that a check of their table asks for. */
const checked: Readonly<Record<string, string>> = { state: "active", scope: "write" }

/** Of 32 characters, in a large payload. */
const hashesEach = 1_000

const fillSource = Effect.gen(function* () {
  const sql = yield* SqlClient
  // In partitions, as a later version may have them.
  yield* sql`create table parts (id integer, at timestamptz, content bytea) partition by range (at)`
  yield* sql`create table parts_2026 partition of parts for values from ('2026-01-01') to ('2027-01-01')`
  yield* sql`create table parts_rest partition of parts default`
  yield* sql`set session_replication_role = replica`
  for (const { name, columns } of yield* tablesIn(sql)) {
    const numbered = yield* sql<{ readonly name: string }>`select attname as name from pg_attribute
      where attrelid = ${name}::regclass and pg_get_serial_sequence(${name}, attname) is not null`
    const given = columns.filter((column) => !numbered.some((one) => one.name === column.name))
    const values = given.map(({ name: column, type }) => {
      const value = checked[column] ?? sampleOf[type]
      if (value === undefined) throw new Error(`Add a value of the type ${type}, of ${name}.${column}`)
      return value
    })
    const places = given.map(({ type }, index) => `$${index + 1}::${type}`)
    const list = given.map((column) => quoted(column.name))
    yield* sql`delete from ${sql(name)}`
    yield* sql.unsafe(`insert into ${quoted(name)} (${list.join(", ")}) values (${places.join(", ")})`, values)
  }
  yield* sql`set session_replication_role = origin`
  // Several batches, and rows whose places have gaps.
  yield* sql`insert into matches (id, rule_id, account_id, platform, platform_post_id, payload, created_at, bytes)
    select gen_random_uuid(), ${ID}, ${ID}, 'x', n::text,
      jsonb_build_object('n', n, 'text', case when n % 13 = 0 then
        (select string_agg(md5(n::text || i), '') from generate_series(1, ${hashesEach}) i) end), now(), 10
    from generate_series(1, 1000) n`
  yield* sql`delete from matches where platform_post_id::int % 7 = 0 and platform = 'x' and id <> ${ID}`
})

const contentOf = (sql: SqlClient) =>
  Effect.gen(function* () {
    const tables = yield* tablesIn(sql)
    const rows = yield* Effect.forEach(tables, ({ name }) =>
      sql<{ readonly text: string }>`select t::text as text from ${sql(name)} t`.pipe(
        Effect.map((found): [string, ReadonlyArray<string>] => [name, found.map(({ text }) => text).sort()])
      )
    )
    return Object.fromEntries(rows)
  })

/** Constraints, triggers, indexes and tables, without what this test adds. */
const schemaOf = (sql: SqlClient) => sql`
  select conrelid::regclass::text as on, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where connamespace = 'public'::regnamespace and conrelid::regclass::text not like 'parts%'
  union all select tgrelid::regclass::text, tgname, tgenabled::text from pg_trigger where not tgisinternal
  union all select tablename, indexname, indexdef from pg_indexes where schemaname = 'public'
  union all select relname, relkind::text, '' from pg_class
    where relnamespace = 'public'::regnamespace and relname not like 'parts%'
  order by 1, 2, 3`

const clientOf = (url: Redacted.Redacted, isCopyTarget = true) =>
  Effect.map(Layer.build(postgres.layerWith({ url, isCopyTarget })), (context) => Context.get(context, SqlClient))

const target = Effect.flatMap(emptyDatabase, ({ url }) =>
  Effect.gen(function* () {
    const client = yield* clientOf(url)
    // Its settings must not matter.
    yield* client.unsafe(`alter database ${new URL(Redacted.value(url)).pathname.slice(1)}
      set timezone = 'Asia/Tokyo'`)
    return { url, sql: yield* clientOf(url) }
  })
)

const copyTo = (sql: SqlClient, report: (progress: CopyProgress) => Effect.Effect<void> = () => Effect.void) =>
  Effect.flatMap(SqlClient, (source) => copyStore({ source, target: sql, location: "there", report }))

const filled = Layer.tap(pgliteClient, (context) =>
  Effect.provideService(fillSource, SqlClient, Context.get(context, SqlClient))
)

describe("copyStore", () => {
  layer(filled, { excludeTestServices: true })((it) => {
    it.scoped("copies every table of the migrated schema, and its rows are the same", () =>
      Effect.gen(function* () {
        const source = yield* SqlClient
        const { sql, url } = yield* target
        yield* sql`create table parts (id integer, at timestamptz, content bytea) partition by range (at)`
        const seen: Array<CopyProgress> = []
        const { tables, begun } = yield* copyTo(sql, (progress) => Effect.sync(() => void seen.push(progress)))
        assert.strictEqual(begun, "new")

        const wanted = yield* contentOf(source)
        assert.deepStrictEqual(
          Object.keys(wanted).filter((name) => wanted[name]?.length === 0),
          [],
          "the source has rows in every table"
        )
        assert.sameMembers(Object.keys(wanted), [...tables.map(({ name }) => name)])
        yield* source`set timezone = 'Asia/Tokyo'`
        assert.deepStrictEqual(yield* contentOf(sql), yield* contentOf(source))
        assert.deepStrictEqual(
          tables.map(({ name, rows }) => [name, rows]),
          Object.entries(wanted).map(([name, rows]) => [name, rows.length])
        )
        assert.deepStrictEqual(yield* sql`select relname from pg_class where relispartition order by 1`, [
          { relname: "parts_2026" },
          { relname: "parts_rest" }
        ])

        const whole = seen.filter(({ doneBytes, totalBytes }) => doneBytes === totalBytes)
        assert.deepStrictEqual([...new Set(whole.map(({ phase }) => phase))], ["copying", "verifying"])

        const { url: fresh } = yield* temporaryDatabase
        assert.deepStrictEqual(yield* schemaOf(sql), yield* schemaOf(yield* clientOf(fresh)))
        yield* sql`insert into set_aside (platform, platform_post_id, at, reason, payload) values ('x', '1', now(), '', '')`
        assert.deepStrictEqual(yield* sql`select max(id)::int from set_aside`, [{ max: 2 }])
        yield* clientOf(url, false)
      })
    )

    it.scoped("resumes a copy that was stopped anywhere, and a server refuses to use it until then", () =>
      Effect.gen(function* () {
        const { sql, url } = yield* target
        yield* sql`create table parts (id integer, at timestamptz, content bytea) partition by range (at)`
        const rows: Array<number> = []
        let stopAfter = 0
        const stopped = copyTo(sql, ({ phase, rows: copied }) => {
          if (phase === "copying") rows.push(copied)
          return stopAfter-- === 0 ? Effect.interrupt : Effect.void
        })
        for (const reports of [0, 3, 12, 30, 31, 32, 40]) {
          stopAfter = reports
          assert.isTrue(Exit.isInterrupted(yield* Effect.exit(stopped)), `${reports}`)
        }
        const refused = yield* Effect.flip(clientOf(url, false))
        assert.match(refused.message, /is being copied to it, and the copy is not complete\. Run earshot store copy/)
        const running = yield* Effect.flip(Effect.provideService(checkSchema("there"), SqlClient, sql))
        assert.strictEqual(running.message, refused.message.replace(/"postgres:[^"]*"/, '"there"'))

        rows.length = 0
        const { begun, tables } = yield* copyTo(sql, ({ phase, rows: copied }) =>
          Effect.sync(() => void (phase === "copying" && rows.push(copied)))
        )
        assert.strictEqual(begun, "resumed")
        const all = tables.reduce((sum, table) => sum + table.rows, 0)
        assert.isBelow(rows.at(-1) ?? all, all - 400, "goes on where it was")
        const source = yield* SqlClient
        yield* source`set timezone = 'Asia/Tokyo'`
        assert.deepStrictEqual(yield* contentOf(sql), yield* contentOf(source))
      })
    )

    it.scoped("starts again if the store has changed meanwhile, and fails if the copy was changed", () =>
      Effect.gen(function* () {
        const source = yield* SqlClient
        const { sql } = yield* target
        yield* sql`create table parts (id integer, at timestamptz, content bytea) partition by range (at)`
        yield* Effect.exit(copyTo(sql, ({ phase }) => (phase === "verifying" ? Effect.interrupt : Effect.void)))
        yield* source`update accounts set name = 'other'`
        yield* sql`update rules set name = 'changed'`
        let wasChanged = false
        const error = yield* Effect.flip(
          copyTo(sql, ({ phase, begun }) => {
            assert.strictEqual(begun, "restarted")
            if (phase === "copying" || wasChanged) return Effect.void
            wasChanged = true
            return Effect.orDie(sql`update rules set name = 'changed'`)
          })
        )
        assert.match(error.message, /^Cannot copy the store to "there": the table "rules" has 1 rows with the digest /)
        assert.deepStrictEqual(yield* sql`select name from accounts`, [{ name: "other" }])
      })
    )

    it.scoped("refuses a database that is in use, and changes nothing in it", () =>
      Effect.gen(function* () {
        const { sql } = yield* target
        yield* sql`create table accounts (id uuid)`
        yield* copyTo(sql).pipe(
          Effect.flip,
          Effect.map(({ message }) => assert.match(message, /relation "accounts" already exists\. Nothing was changed/))
        )
        yield* sql`insert into accounts values (gen_random_uuid())`
        const { message } = yield* Effect.flip(copyTo(sql))
        assert.match(message, /it is not empty: there are rows in accounts\. Nothing was changed\. If a copy of this/)
        assert.deepStrictEqual(yield* sql`select relname from pg_class where relnamespace = 'public'::regnamespace`, [
          { relname: "accounts" }
        ])
      })
    )

    it.scoped("refuses tables of another version, a second process, and an incomplete copy of another store", () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const sql = yield* clientOf(url)
        const other = yield* Effect.flip(copyTo(sql))
        assert.match(other.message, /its table "parts" is not the same as here, as of another version/)
        yield* sql`create table parts (id integer, at timestamptz, content bytea) partition by range (at)`
        const moveOn = Effect.orDie(sql`update earshot_copy set places = places || '{"accounts": "(9,9)"}'`)
        const both = yield* Effect.flip(copyTo(sql, ({ rows }) => (rows === 1 ? moveOn : Effect.void)))
        assert.match(both.message, /another process copies to it, too\. Stop one of them/)
        yield* sql`update earshot_copy set store = gen_random_uuid()`
        const { message } = yield* Effect.flip(copyTo(sql))
        assert.match(message, /it has an incomplete copy of another store\. Nothing was changed\. Use an empty/)
      })
    )

    it.scoped("refuses another encoding, and a user without rights", () =>
      Effect.gen(function* () {
        const { url, name } = yield* emptyDatabase
        const latin = `${name}_latin`
        yield* Effect.acquireRelease(
          Effect.promise(() =>
            asSuperuser(
              inject("postgresUrl"),
              `create database ${latin} template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`,
              `create role ${latin} login password 'test'`
            )
          ),
          () =>
            Effect.promise(() =>
              asSuperuser(inject("postgresUrl"), `drop database ${latin} with (force)`, `drop role ${latin}`)
            )
        )
        const at = new URL(Redacted.value(url))
        at.pathname = latin
        const encoding = yield* Effect.flip(Effect.flatMap(clientOf(Redacted.make(at.href)), copyTo))
        assert.match(encoding.message, /its encoding is LATIN1\. Nothing was changed/)
        at.pathname = name
        at.username = latin
        at.password = "test"
        const rights = yield* Effect.flip(Effect.flatMap(clientOf(Redacted.make(at.href)), copyTo))
        assert.match(rights.message, /permission denied for schema public\. Nothing was changed/)
      })
    )

    it.scoped("finds in a new store only the rows that migrations insert", () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const content = yield* contentOf(yield* clientOf(url))
        assert.notProperty(content, MIGRATIONS)
        assert.sameMembers(
          Object.keys(content).filter((name) => content[name]?.length !== 0),
          [...SEEDED]
        )
      })
    )
  })
})
