import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { type Migrations, migrateAt } from "../../../adapters/sql/migrate.ts"
import { isAdditive, migrations } from "../../../adapters/sql/migrations.ts"
import * as postgres from "../../../adapters/sql/postgres.ts"
import { emptyDatabase, postgresClient, temporaryDatabase } from "../../stores.ts"

/** The size of a stored `{}`, in bytes. */
const EMPTY_JSON = 5

describe("migrate", () => {
  it.scopedLive("migrateAt succeeds in six processes that start at once on an empty database", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 3; round++) {
        const { url } = yield* emptyDatabase
        // Each call creates its own pool, like a process.
        const open = Effect.suspend(() => Layer.build(postgres.layerWith({ url })))
        yield* Effect.all(
          Array.from({ length: 6 }, () => open),
          { concurrency: "unbounded" }
        )
      }
    })
  )

  it.scopedLive("migrateAt is idempotent", () =>
    Effect.gen(function* () {
      const { url } = yield* emptyDatabase
      const state = Effect.gen(function* () {
        const sql = yield* SqlClient
        const migrations = yield* sql`select migration_id, name, created_at::text from earshot_migrations order by 1`
        const objects = yield* sql`select oid, relname::text, xmin::text from pg_class
          where relnamespace = 'public'::regnamespace order by oid`
        return { migrations, objects }
      })
      const first = yield* Effect.provide(state, postgres.layerWith({ url }))
      const second = yield* Effect.provide(state, postgres.layerWith({ url }))
      assert.isAbove(first.migrations.length, 0)
      assert.isAbove(first.objects.length, 10)
      assert.deepStrictEqual(second, first)
    })
  )

  it.scopedLive("migrateAt does not wait for servers that read the migrations if there is nothing to do", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const reader = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const client = new pg.Client({ connectionString: Redacted.value(url) })
          await client.connect()
          return client
        }),
        (client) => Effect.promise(() => client.end())
      )
      yield* Effect.promise(() => reader.query("begin; select * from earshot_migrations"))
      yield* Effect.timeout(Effect.disconnect(Layer.build(postgres.layerWith({ url }))), "10 seconds")
    })
  )

  it.scopedLive("migrateAt upgrades an older database and keeps its data", () =>
    Effect.gen(function* () {
      const { url } = yield* emptyDatabase
      const downgrade = Effect.flatMap(SqlClient, (sql) =>
        sql.unsafe(`drop table event_segments, event_logs, deployment, streams, gaps, set_aside, retention, account_usage, account_floors, account_limits, account_counts, match_order, webhook_attempts, webhooks, rule_gaps, comparisons, redactions, lookup_rounds, post_counts, servers, owners, stream_reports, rule_versions, earshot_runners, earshot_locks, idempotency_keys, rule_changes, retired_rules, shadow_matches, match_counts, generations, grant_tokens, grants, grant_secret, stored_posts, account_feeds, feed_list, feed_records;
          drop function matches_changed cascade;
          drop function take_turn;
          drop aggregate minute_counts(integer);
          drop function count_minute, add_minutes, minute_of;
          drop function check_owner, check_batch;
          drop index registrations_unsettled;
          drop index registrations_hidden;
          drop index registrations_in_order;
          alter table registrations drop column reason, drop column watched_since, drop column paused_until, drop column paused_budget, drop column paused_cause, drop column outcome, drop column version;
          alter table rules drop column version, drop column candidate_of, drop column purpose;
          alter table matches drop column bytes, drop column redacted_at, drop column redacted_reason, drop column rule_version, drop column reapplied;
          alter table keys drop column scope, drop column expires_at, drop column previous_digest, drop column previous_secret_until;
          drop index keys_of_account;
          create index registrations_not_active on registrations (rule_id) where state <> 'active';
          delete from earshot_migrations where migration_id > 1;
          alter table earshot_migrations drop column additive;
          insert into accounts values (gen_random_uuid(), 'ann', now());
          insert into rules select id, id, 'n', 'i', now() from accounts;
          insert into matches select gen_random_uuid(), id, id, 'x', n, '{}', timestamptz '1970-01-01 01:00:30Z' + n * interval '1 minute'
          from rules, generate_series(1, 3) n`)
      )
      yield* Effect.provide(downgrade, postgres.layerWith({ url }))
      const counts = Effect.flatMap(
        SqlClient,
        (sql) => sql`select (select count(*)::int as accounts from accounts),
          (select count(*)::int as logs from event_logs), (select count(*)::int as names from deployment),
          (select json_build_object('matches', matches, 'part', part, 'bytes', bytes) as usage from account_usage),
          (select json_build_object('hour', hour, 'matches', matches, 'minutes', minutes::text) as counts from match_counts)`
      )
      const found = yield* Effect.provide(counts, postgres.layerWith({ url }))
      assert.deepStrictEqual(found, [
        {
          accounts: 1,
          logs: 0,
          names: 1,
          usage: { matches: 3, part: 0, bytes: 3 * EMPTY_JSON },
          counts: { hour: 1, matches: 3, minutes: "{1,1,1}" }
        }
      ])
    })
  )

  it.scopedLive("migrateAt fails on a database of a newer version", () =>
    Effect.gen(function* () {
      const { url } = yield* emptyDatabase
      const upgrade = Effect.flatMap(
        SqlClient,
        (sql) => sql`insert into earshot_migrations (migration_id, name) values (9999, 'from the future')`
      )
      yield* Effect.provide(upgrade, postgres.layerWith({ url }))
      const error = yield* Effect.flip(Layer.build(postgres.layerWith({ url })))
      assert.match(error.message, /: a newer version of the service has changed its schema\. Start that version/)
    })
  )

  it.scopedLive("migrateAt runs an additive migration beside live servers, and versions without it still start", () =>
    Effect.gen(function* () {
      yield* addServer("one/1", "0 seconds")
      yield* migrateAt("here", nextVersion({ isAdditive: true }))
      const sql = yield* SqlClient
      assert.deepStrictEqual(yield* sql`select * from added`, [])
      assert.deepStrictEqual(
        yield* sql`select name, additive from earshot_migrations order by migration_id desc limit 1`,
        [{ name: "added", additive: true }]
      )
      yield* migrateAt("here")
    }).pipe(Effect.provide(postgresClient))
  )

  it.scopedLive("migrateAt fails beside live servers when a migration is not additive, and names them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* addServer("one/1", "0 seconds")
      yield* addServer("two/2", "0 seconds")
      yield* addServer("dead/3", "20 seconds")
      const error = yield* Effect.flip(migrateAt("here", nextVersion({ isAdditive: false })))
      assert.match(
        error.message,
        /^Cannot open the store at "here": .*: "one\/1" \(1\.2\.3\), "two\/2" \(1\.2\.3\)\. Nothing/
      )
      assert.deepStrictEqual(yield* sql`select to_regclass('added') as added`, [{ added: null }])
      yield* migrateAt("here")

      yield* sql`delete from servers where name <> 'dead/3'`
      yield* migrateAt("here", nextVersion({ isAdditive: false }))
      assert.deepStrictEqual(yield* sql`select * from added`, [])
      assert.match((yield* Effect.flip(migrateAt("here"))).message, /: a newer version .* has changed its schema\./)
    }).pipe(Effect.provide(postgresClient))
  )

  it.scopedLive("migrateAt rolls back and fails with StoreCannotOpen when a migration fails", () =>
    Effect.gen(function* () {
      const { url } = yield* emptyDatabase
      const createConflict = Effect.flatMap(SqlClient, (sql) =>
        sql.unsafe("drop schema public cascade; create schema public; create table matches (id int)")
      )
      yield* Effect.provide(createConflict, postgres.layerWith({ url }))
      const error = yield* Effect.flip(Layer.build(postgres.layerWith({ url })))
      assert.strictEqual(error._tag, "StoreCannotOpen")
      assert.match(
        error.message,
        /: its schema could not be brought up to date: relation "matches" already exists\. Nothing was changed/
      )
      const again = yield* Effect.flip(Layer.build(postgres.layerWith({ url })))
      assert.strictEqual(again.message, error.message)
    })
  )
})

// ---- helpers ----

const nextVersion = (next: { readonly isAdditive: boolean }): Migrations => ({
  all: { ...migrations, "9000_added": Effect.flatMap(SqlClient, (sql) => Effect.asVoid(sql`create table added ()`)) },
  isAdditive: { ...isAdditive, "9000_added": next.isAdditive }
})

/** As a server does that is alive, or was until some time ago. */
const addServer = (name: string, lastSeen: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`with s as (
        insert into servers (id, name, version, started_at) values (gen_random_uuid(), ${name}, '1.2.3', now()) returning id
      )
      insert into earshot_runners (address, runner, last_heartbeat)
      select id::text || ':1', '', now() - ${lastSeen}::interval from s`
  })
