import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Fiber, Layer, Option, Redacted, Schedule } from "effect"
import pg from "pg"
import { inject } from "vitest"
import * as postgres from "../../../adapters/sql/postgres.ts"
import * as stores from "../../../adapters/sql/stores.ts"
import { runtime, storesFor } from "../../../app/stores.ts"
import { Disk } from "../../../core/disk/Disk.ts"
import { Keys } from "../../../core/keys/Keys.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { toUuid } from "../../../core/model/Ids.ts"
import { Ownership } from "../../../core/ownership/Ownership.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { startPostgres } from "../../../fixtures/postgres.ts"
import { FIRST_RULES, newAccount, newMatch, newRule, noLimits, visibleRule } from "../../contract/samples.ts"
import { eventually } from "../../eventually.ts"
import { startCommand } from "../../program.ts"
import { emptyDatabase, temporaryDatabase, temporaryFolder } from "../../stores.ts"
import { poolerBefore } from "./pooler.ts"

describe("postgres", () => {
  const changed = (change: (url: URL) => void) => {
    const url = new URL(inject("postgresUrl"))
    change(url)
    return url.href
  }
  const cases: ReadonlyArray<readonly [name: string, url: () => string, message: RegExp, isWaitedFor?: true]> = [
    [
      "the port is closed",
      () => "postgres://u:secret@127.0.0.1:1/db",
      /^Cannot open the store at "postgres:\/\/127\.0\.0\.1:1\/db": connection refused\. Check host and port/,
      true
    ],
    [
      "the host is unknown",
      () => "postgres://u:secret@no-such-host.invalid/db",
      /the host name (is unknown|could not)/,
      true
    ],
    [
      "the password is wrong",
      () =>
        changed((url) => {
          url.password = "secret"
        }),
      /: the password is wrong\. Check user and password in DATABASE_URL$/
    ],
    [
      "the database does not exist",
      () =>
        changed((url) => {
          url.pathname = "nowhere"
        }),
      /: there is no such database\. Create it/
    ],
    [
      "the URL is not valid",
      () => "postgres://u:secret@host:not-a-port/db",
      /^Cannot open the store at "DATABASE_URL": it is not a URL of a Postgres database\. Write it as postgres:\/\/user/
    ]
  ]
  for (const [name, url, message, isWaitedFor = false] of cases) {
    it.scopedLive(`layerWith fails fast and without the password in the message when ${name}`, () =>
      Effect.gen(function* () {
        const waitSeconds = isWaitedFor ? 0 : 60
        const open = Layer.build(postgres.layerWith({ url: Redacted.make(url()), waitSeconds }))
        const [elapsed, error] = yield* Effect.timed(Effect.flip(open))
        assert.strictEqual(error._tag, "StoreCannotOpen")
        assert.match(error.message, message)
        assert.notInclude(error.message, "secret")
        assert.isBelow(Duration.toMillis(elapsed), 30_000)
      })
    )
  }

  it.scopedLive("layerWith fails with the reason after waiting for a server that stays down", () =>
    Effect.gen(function* () {
      const url = Redacted.make("postgres://u:secret@127.0.0.1:1/db")
      const open = Layer.build(postgres.layerWith({ url, waitSeconds: 1 }))
      const [elapsed, error] = yield* Effect.timed(Effect.flip(open))
      assert.include(error.message, "connection refused")
      assert.isAtLeast(Duration.toMillis(elapsed), 900)
    })
  )

  it.scopedLive("a server whose connection ends while it starts goes on when the store answers again", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const connect = Effect.acquireRelease(
        Effect.promise(async () => {
          const client = new pg.Client({ connectionString: Redacted.value(url) })
          await client.connect()
          return client
        }),
        (client) => Effect.promise(() => client.end())
      )
      const [holder, watcher] = [yield* connect, yield* connect]
      yield* Effect.promise(() => holder.query("begin; lock table keys in access exclusive mode"))
      const started = startCommand("node", ["serve"], { PORT: "0", DATABASE_URL: Redacted.value(url) })
      yield* Effect.addFinalizer(() => Effect.sync(() => started.signal("SIGKILL")))
      yield* Effect.promise(() =>
        eventually(async () => {
          const { rowCount } = await watcher.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%from keys%order by%'`
          )
          assert.strictEqual(rowCount, 1)
        })
      )
      yield* Effect.promise(() => holder.query("rollback"))
      yield* Effect.promise(() => started.printed(/(Console: )/))
      started.signal("SIGTERM")
      assert.strictEqual((yield* Effect.promise(() => started.ended)).code, 0)
    })
  )

  it.scopedLive.skipIf(process.env["TEST_DATABASE_URL"])(
    "a server waits for Postgres at its start; when it is lost later, metrics and log say so (skipped with TEST_DATABASE_URL)",
    () =>
      Effect.gen(function* () {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => startPostgres()),
          ({ remove }) => Effect.promise(remove)
        )
        yield* Effect.promise(server.stop)
        const started = startCommand("node", ["serve"], { PORT: "0", DATABASE_URL: server.url })
        yield* Effect.addFinalizer(() => Effect.sync(() => started.signal("SIGKILL")))
        yield* Effect.promise(() =>
          started.printedError(
            /Waiting up to 60 seconds \(EARSHOT_STORE_WAIT\) for the store at [^\n]*connection refused/
          )
        )
        yield* Effect.promise(server.start)
        const url = yield* Effect.promise(() => started.printed(/Earshot listens on (\S+)/))
        const gauges = async () => {
          const text = await (await fetch(`${url}/metrics`)).text()
          return ["store_up 1", "store_up 0", "stream_state{", "queue_deliveries{", "servers "].filter((name) =>
            text.includes(`\nearshot_${name}`)
          )
        }
        const all = ["stream_state{", "queue_deliveries{", "servers "]
        yield* Effect.promise(() =>
          eventually(async () => assert.deepStrictEqual(await gauges(), ["store_up 1", ...all]))
        )
        yield* Effect.promise(server.stop)
        yield* Effect.promise(() => eventually(async () => assert.deepStrictEqual(await gauges(), ["store_up 0"])))
        yield* Effect.promise(() => started.printedError(/The store does not answer/))
        yield* Effect.promise(server.start)
        yield* Effect.promise(() => started.printedError(/The store answers again, after \d+ seconds/))
        yield* Effect.promise(() =>
          eventually(async () => assert.deepStrictEqual(await gauges(), ["store_up 1", ...all]))
        )
        started.signal("SIGTERM")
        const { code, stderr } = yield* Effect.promise(() => started.ended)
        assert.strictEqual(code, 0)
        assert.lengthOf(stderr.match(/The store does not answer/g) ?? [], 1)
        assert.lengthOf(stderr.match(/The store answers again/g) ?? [], 1)
      })
  )

  it.scopedLive("layerWith fails when the user may not create tables", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      yield* Layer.build(postgres.layerWith({ url }))
      const readOnly = new URL(Redacted.value(url))
      readOnly.searchParams.set("options", "-c default_transaction_read_only=on -c search_path=pg_catalog")
      const open = Layer.build(postgres.layerWith({ url: Redacted.make(readOnly.href) }))
      const error = yield* Effect.flip(open)
      assert.match(error.message, /: its schema could not be brought up to date: .*read-only transaction.* may create/)
    })
  )

  it.scopedLive("storesFor makes a command on Postgres one of several processes that owns nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      const folder = yield* temporaryFolder
      const ownershipOn = (name: string, value: string) =>
        Effect.map(Layer.build(storesFor({ isServer: false })), (context) => Context.get(context, Ownership)).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map([[name, value]])))
        )
      const shared = yield* ownershipOn("DATABASE_URL", Redacted.value(url))
      assert.isFalse(shared.isAlone)
      assert.isTrue(Option.isNone(yield* shared.ifOwner("stream/x", Effect.void)))
      const embedded = yield* ownershipOn("EARSHOT_DATA_DIR", folder)
      assert.isTrue(embedded.isAlone)
      assert.isTrue(Option.isSome(yield* embedded.ifOwner("stream/x", Effect.void)))
    })
  )

  it.scopedLive("storesFor fails for a server behind a pooler in transaction mode, and opens for a command", () =>
    Effect.gen(function* () {
      const direct = yield* emptyDatabase
      const pooled = yield* poolerBefore(direct.url)
      const open = (url: Redacted.Redacted, isServer: boolean) =>
        Layer.build(storesFor({ isServer })).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["DATABASE_URL", Redacted.value(url)]])))
        )
      const error = yield* Effect.flip(open(pooled.url, true))
      assert.match(
        error._tag === "StoreCannotOpen" ? error.message : error._tag,
        /: notifications \(LISTEN, NOTIFY\) do not arrive, as behind .* pooler in transaction mode\. Set DATABASE_URL/
      )
      yield* open(pooled.url, false)
      yield* open(direct.url, true)
    })
  )

  it.scopedLive("reserve fails with StoreUnavailable and stores nothing when its connection is lost", () =>
    Effect.gen(function* () {
      const { url } = yield* temporaryDatabase
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = newRule(account)
        // Another connection locks the account's row, so `reserve` waits within its transaction.
        yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const client = new pg.Client({ connectionString: Redacted.value(url) })
            await client.connect()
            await client.query("begin")
            await client.query("select 1 from accounts where id = $1 for update", [toUuid(account)])
            return client
          }),
          (client) => Effect.promise(() => client.end())
        )
        const fiber = yield* Effect.fork(Effect.flip(rules.reserve(rule, noLimits)))
        const ended = sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
        yield* Effect.repeat(ended, { until: (rows) => rows.length > 0 })
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error._tag, "StoreUnavailable")
        assert.deepStrictEqual(yield* rules.registrations(rule.id), [])
      }).pipe(Effect.provide(Layer.provideMerge(stores.layer, postgres.layerWith({ url }))))
    })
  )

  it.scopedLive("a write to a read-only database fails with the reason, and the disk has this problem", () =>
    Effect.gen(function* () {
      const { name, url } = yield* temporaryDatabase
      const context = yield* Layer.build(Layer.provideMerge(stores.layer, postgres.layerWith({ url })))
      yield* Effect.gen(function* () {
        const disk = yield* Disk
        const { account } = yield* Keys
        assert.deepStrictEqual(yield* disk.problem, Option.none())
        const sql = yield* SqlClient
        yield* sql`alter database ${sql(name)} set default_transaction_read_only = on`
        yield* sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = ${name} and pid <> pg_backend_pid()`
        yield* sql`set default_transaction_read_only = on`
        const failure = yield* Effect.flip(account("someone"))
        assert.strictEqual(failure.reason, "read_only")
        assert.deepStrictEqual(yield* disk.problem, Option.some("read_only"))
      }).pipe(Effect.provide(Layer.provideMerge(Keys.layer, runtime)), Effect.provide(context))
    })
  )

  it.scopedLive.skipIf(process.env["TEST_DATABASE_URL"])(
    "operations fail with StoreUnavailable while the server is down, and work again afterwards (skipped with TEST_DATABASE_URL)",
    () =>
      Effect.gen(function* () {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => startPostgres()),
          ({ remove }) => Effect.promise(remove)
        )
        const url = Redacted.make(server.url)
        yield* Effect.gen(function* () {
          const rules = yield* RuleStore
          const matches = yield* MatchStore
          const account = yield* newAccount
          const rule = yield* visibleRule(account)
          const page = { account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 10 }
          const operations: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
            Effect.suspend(() => matches.insert([newMatch(rule.id)])),
            matches.list(page),
            Effect.suspend(() => rules.reserve(newRule(account), noLimits)),
            rules.list(account, FIRST_RULES)
          ]
          const outcomes = new Set<string>()
          const outcome = (operation: Effect.Effect<unknown, { readonly _tag: string }>) =>
            Effect.match(operation, { onSuccess: () => "done", onFailure: ({ _tag }) => _tag }).pipe(
              Effect.tap((tag) => outcomes.add(tag))
            )
          // Run all the time, so that the stop interrupts statements and transactions.
          const busy = Effect.forEach(operations, (operation) => Effect.forever(outcome(operation)), {
            concurrency: "unbounded"
          })
          yield* Effect.forkScoped(busy)
          yield* Effect.sleep("300 millis")
          assert.deepStrictEqual([...outcomes], ["done"])

          yield* Effect.promise(server.stop)
          const whileDown = yield* Effect.forEach(operations, outcome)
          assert.deepStrictEqual(new Set(whileDown), new Set(["StoreUnavailable"]))

          yield* Effect.promise(server.start)
          yield* Effect.forEach(operations, (operation) =>
            Effect.retry(operation, Schedule.spaced("50 millis").pipe(Schedule.upTo("10 seconds")))
          )
          const afterRestart = yield* Effect.forEach(operations, outcome)
          assert.deepStrictEqual(new Set(afterRestart), new Set(["done"]))
          assert.deepStrictEqual(outcomes, new Set(["done", "StoreUnavailable"]))
        }).pipe(Effect.scoped, Effect.provide(Layer.provide(stores.layer, postgres.layerWith({ url }))))
      })
  )
})
