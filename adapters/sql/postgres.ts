/** A Postgres server as the engine of the SQL stores. */
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Layer, Option, Redacted } from "effect"
import pg from "pg"
import { Announcements } from "./Announcements.ts"
import { migrateAt } from "./migrations.ts"
import { StoreCannotOpen } from "./StoreCannotOpen.ts"
import { codeOf } from "./unavailable.ts"

export interface Options {
  /** `postgres://user:password@host:port/database` */
  readonly url: Redacted.Redacted
}

const CONNECT_TIMEOUT_MILLIS = 5_000

/** Connected, and migrated to the newest schema. */
export const layerWith = (options: Options): Layer.Layer<SqlClient | Announcements, StoreCannotOpen> =>
  Layer.merge(client(options), Announcements.layerListening(options.url))

// ---- helpers ----

const client = (options: Options): Layer.Layer<SqlClient, StoreCannotOpen> =>
  Layer.scoped(
    SqlClient,
    Effect.gen(function* () {
      const place = yield* placeOf(options.url)
      const pool = Effect.acquireRelease(
        Effect.sync(() =>
          new pg.Pool({
            connectionString: Redacted.value(options.url),
            application_name: "earshot",
            connectionTimeoutMillis: CONNECT_TIMEOUT_MILLIS,
            keepAlive: true,
            keepAliveInitialDelayMillis: 10_000
          })
            // An idle connection that breaks leaves the pool by itself; without a listener it would end the process.
            .on("error", () => {})
        ),
        (pool) => Effect.promise(() => pool.end())
      )
      const client = yield* PgClient.fromPool({ acquire: Effect.tap(pool, ping) }).pipe(
        Effect.mapError(({ cause }) => cannotConnect(place, cause))
      )
      yield* Effect.provideService(migrateAt(place), SqlClient, client)
      return client
    })
  ).pipe(Layer.provide(Reactivity.layer))

const ping = (pool: pg.Pool) =>
  Effect.tryPromise({ try: () => pool.query("select 1"), catch: (cause) => new SqlError({ cause }) })

/** Where the URL leads, without its password. */
const placeOf = (url: Redacted.Redacted): Effect.Effect<string, StoreCannotOpen> =>
  Effect.try({
    try: () => {
      if (!/^postgres(ql)?:\/\//.test(Redacted.value(url))) throw new Error("Not a URL of Postgres")
      const { host, port, database } = new pg.Client({ connectionString: Redacted.value(url) })
      return `postgres://${host}:${port}/${database}`
    },
    // The cause quotes the URL with its password: it stays out.
    catch: () =>
      new StoreCannotOpen({
        place: "DATABASE_URL",
        reason: "it is not a URL of a Postgres database",
        remedy: "Write it as postgres://user:password@host:port/database, special characters as %xx",
        cause: undefined
      })
  })

const cannotConnect = (place: string, cause: unknown) => {
  const known = Option.flatMapNullable(codeOf(cause), (code) => EXPLANATIONS[code])
  const [reason, remedy] = Option.getOrElse(known, () => [
    cause instanceof Error && cause.message !== "" ? cause.message : "the connection failed",
    "Check DATABASE_URL and that the server accepts connections from here"
  ])
  return new StoreCannotOpen({ place, reason, remedy, cause })
}

const START_IT = "Check host and port in DATABASE_URL and that the server is running"
const EXPLANATIONS: Record<string, readonly [reason: string, remedy: string]> = {
  ECONNREFUSED: ["nothing answers there", START_IT],
  ENOTFOUND: ["the host name is unknown", "Check the host in DATABASE_URL"],
  EAI_AGAIN: ["the host name could not be looked up", "Check the host in DATABASE_URL and the name service"],
  EHOSTUNREACH: ["the host cannot be reached", START_IT],
  ENETUNREACH: ["the network cannot be reached", START_IT],
  ETIMEDOUT: ["the host does not answer", START_IT],
  ECONNRESET: ["the server closed the connection", "Check that it is a Postgres server, and whether it asks for TLS"],
  ENOENT: ["there is no such socket", START_IT],
  "28P01": ["the password is wrong", "Check user and password in DATABASE_URL"],
  "28000": ["the server does not let this user in", "Check the user in DATABASE_URL and the server's pg_hba.conf"],
  "3D000": ["there is no such database", "Create it (create database …) or check its name in DATABASE_URL"],
  "53300": ["the server has no connection left", "Raise its max_connections or stop what uses them"],
  "57P03": ["the server is starting or stopping", "Try again shortly"]
}
