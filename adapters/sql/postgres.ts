/** SQL client for a Postgres server. */
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"
import pg from "pg"
import type { Disk } from "../../core/disk/Disk.ts"
import { Announcements, canListen } from "./Announcements.ts"
import { checkNotMarked } from "./copyMark.ts"
import * as ServerDisk from "./disk.ts"
import { FairPool } from "./FairPool.ts"
import { migrateAt } from "./migrate.ts"
import { StoreCannotOpen } from "./StoreCannotOpen.ts"
import { codeOf } from "./statements.ts"

export interface Options {
  /** `postgres://user:password@host:port/database` */
  readonly url: Redacted.Redacted
  /** A server must hear of changes by other processes: without LISTEN and NOTIFY it does not open. */
  readonly isServer?: boolean
  /** How long to wait for a server that is down or starts. 0, the default: fail at once. */
  readonly waitSeconds?: number
  /** Only connects: the database may have an incomplete copy of a store, and `copyStore` migrates it. */
  readonly isCopyTarget?: boolean
}

const MAX_CONNECTIONS = 10
const CONNECT_TIMEOUT_MILLIS = 5_000
const IDLE_TIMEOUT_MILLIS = 5_000

/** Connected, and migrated to the newest schema, unless it is the target of a copy. */
export const layerWith = (options: Options): Layer.Layer<SqlClient | Announcements | Disk, StoreCannotOpen> =>
  Layer.mergeAll(client(options), Announcements.layerListening(options.url), ServerDisk.unseen)

/** Host, port and database of the URL, without the password. */
export const locationOf = (url: Redacted.Redacted): Effect.Effect<string, StoreCannotOpen> =>
  Effect.try({
    try: () => {
      const { host, port, database } = new pg.Client({ connectionString: Redacted.value(url) })
      return `postgres://${host}:${port}/${database}`
    },
    // The cause is dropped: it quotes the URL with its password.
    catch: () =>
      new StoreCannotOpen({
        location: "DATABASE_URL",
        reason: "it is not a URL of a Postgres database",
        remedy: "Write it as postgres://user:password@host:port/database, special characters as %xx",
        cause: undefined
      })
  })

// ---- helpers ----

const client = (options: Options): Layer.Layer<SqlClient, StoreCannotOpen> =>
  Layer.scoped(
    SqlClient,
    Effect.gen(function* () {
      const location = yield* locationOf(options.url)
      const pool = Effect.acquireRelease(
        Effect.sync(() =>
          new FairPool({
            connectionString: Redacted.value(options.url),
            max: MAX_CONNECTIONS,
            application_name: "earshot",
            connectionTimeoutMillis: CONNECT_TIMEOUT_MILLIS,
            // A frozen server must not keep others waiting for its locks.
            idle_in_transaction_session_timeout: IDLE_TIMEOUT_MILLIS,
            keepAlive: true,
            keepAliveInitialDelayMillis: 10_000
          })
            // The pool drops a broken idle connection. Without this listener its error would end the process.
            .on("error", () => {})
        ),
        (pool) => Effect.promise(() => pool.end())
      )
      const client = yield* PgClient.fromPool({
        acquire: Effect.tap(pool, (pool) => waitFor(location, ping(pool), options.waitSeconds ?? 0))
      }).pipe(Effect.mapError(({ cause }) => cannotConnect(location, cause)))
      if (options.isCopyTarget === true) return client
      if (options.isServer === true) yield* checkListening(location, options.url, client)
      yield* checkNotMarked(location).pipe(
        Effect.catchTag("SqlError", ({ cause }) => cannotConnect(location, cause)),
        Effect.zipRight(migrateAt(location)),
        Effect.provideService(SqlClient, client)
      )
      return client
    })
  ).pipe(Layer.provide(Reactivity.layer))

const ping = (pool: pg.Pool) =>
  Effect.tryPromise({ try: () => pool.query("select 1"), catch: (cause) => new SqlError({ cause }) })

/** Retries while the server may still come up, and says so once. */
const waitFor = (location: string, connect: Effect.Effect<unknown, SqlError>, seconds: number) =>
  seconds === 0
    ? connect
    : Effect.gen(function* () {
        let isTold = false
        yield* connect.pipe(
          Effect.tapError(({ cause }) => {
            if (isTold || !mayComeUp(cause)) return Effect.void
            isTold = true
            return Effect.logWarning(
              `Waiting up to ${seconds} seconds (EARSHOT_STORE_WAIT) for the store at "${location}": ${cannotConnect(location, cause).reason}`
            )
          }),
          Effect.retry({
            while: ({ cause }) => mayComeUp(cause),
            schedule: Schedule.upTo(Schedule.spaced(RETRY_INTERVAL), Duration.seconds(seconds))
          })
        )
        if (isTold) yield* Effect.logInfo(`The store at "${location}" answers`)
      })
const RETRY_INTERVAL = "500 millis"

/** Errors of a server that is down, starts or is full. Without a code: the connection ended or timed out. */
const mayComeUp = (cause: unknown): boolean =>
  Option.match(codeOf(cause), {
    onNone: () => cause instanceof Error && /terminated|timeout/i.test(cause.message),
    onSome: (code) => COMES_UP.has(code)
  })
const COMES_UP = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOENT"],
  // A container's name is unknown until the container runs.
  ...["ENOTFOUND", "EAI_AGAIN"],
  ...["53300", "57P01", "57P02", "57P03"]
])

const checkListening = (location: string, url: Redacted.Redacted, client: SqlClient) =>
  canListen(url, client).pipe(
    Effect.mapError((cause) => cannotConnect(location, cause)),
    Effect.filterOrFail(
      (isHeard) => isHeard,
      () =>
        new StoreCannotOpen({
          location,
          reason: "notifications (LISTEN, NOTIFY) do not arrive, as behind a connection pooler in transaction mode",
          remedy: "Set DATABASE_URL to the Postgres server itself, or use the pooler in session mode",
          cause: undefined
        })
    )
  )

const cannotConnect = (location: string, cause: unknown) => {
  const known = Option.flatMapNullable(codeOf(cause), (code) => explanations[code])
  const [reason, remedy] = Option.getOrElse(known, () => [
    cause instanceof Error && cause.message !== "" ? cause.message : "the connection failed",
    "Check DATABASE_URL and that the server accepts connections from here"
  ])
  return new StoreCannotOpen({ location, reason, remedy, cause })
}

const CHECK_SERVER = "Check host and port in DATABASE_URL and that the server is running"
const explanations: Record<string, readonly [reason: string, remedy: string]> = {
  ECONNREFUSED: ["connection refused", CHECK_SERVER],
  ENOTFOUND: ["the host name is unknown", "Check the host in DATABASE_URL"],
  EAI_AGAIN: ["the host name could not be looked up", "Check the host in DATABASE_URL and the name service"],
  EHOSTUNREACH: ["the host cannot be reached", CHECK_SERVER],
  ENETUNREACH: ["the network cannot be reached", CHECK_SERVER],
  ETIMEDOUT: ["the host does not answer", CHECK_SERVER],
  ECONNRESET: ["the server closed the connection", "Check that it is a Postgres server, and whether it asks for TLS"],
  ENOENT: ["there is no such socket", CHECK_SERVER],
  "28P01": ["the password is wrong", "Check user and password in DATABASE_URL"],
  "28000": ["the server rejects this user", "Check the user in DATABASE_URL and the server's pg_hba.conf"],
  "3D000": ["there is no such database", "Create it (create database …) or check its name in DATABASE_URL"],
  "53300": ["the server has no connection left", "Raise its max_connections or stop what uses them"],
  "57P03": ["the server is starting or stopping", "Try again shortly"]
}
