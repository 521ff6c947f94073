/** `earshot store copy`: opens the embedded store and the database, and copies. */
import { resolve } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import { Context, Effect, Either, Layer, Option } from "effect"
import { FolderInUse } from "../adapters/sql/FolderLock.ts"
import * as Pglite from "../adapters/sql/pglite.ts"
import * as Postgres from "../adapters/sql/postgres.ts"
import { StoreCannotOpen } from "../adapters/sql/StoreCannotOpen.ts"
import { copyStore, type Options } from "../adapters/sql/storeCopy.ts"
import { UsageError } from "../cli/failures.ts"
import { parseDatabaseUrl, storeSettings } from "./settings.ts"

/** `to`: the URL of the database; none for DATABASE_URL. */
export const copy = ({ to, report }: { readonly to: Option.Option<string> } & Pick<Options, "report">) =>
  Effect.gen(function* () {
    const { databaseUrl, dataDir } = yield* storeSettings
    const url = Option.isSome(to) ? yield* given(to.value) : yield* orUsage(databaseUrl)
    const setting = Option.isSome(to) ? "--to" : "DATABASE_URL"
    const location = yield* naming(setting, Postgres.locationOf(url))
    const source = yield* Effect.mapError(openSource(dataDir), forCopy)
    const target = yield* naming(setting, clientOf(Postgres.layerWith({ url, isCopyTarget: true })))
    return { from: resolve(dataDir), to: location, ...(yield* copyStore({ source, target, location, report })) }
  }).pipe(Effect.scoped)

// ---- helpers ----

const given = (text: string) =>
  Either.mapLeft(parseDatabaseUrl(text), (problem) => new UsageError({ message: `--to is not valid: ${problem}` }))

const orUsage = Effect.mapError(
  () => new UsageError({ message: "Name the database to copy to: --to postgres://…, or DATABASE_URL" })
)

const clientOf = <A, E>(layer: Layer.Layer<A | SqlClient, E>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, SqlClient))

/** Without an image: the store exists. */
const openSource = (dataDir: string) =>
  Effect.zipRight(Pglite.checkExists(dataDir), clientOf(Pglite.layerWith({ dataDir, isReadOnly: true })))

const forCopy = (error: StoreCannotOpen) => {
  const { location, reason, cause } = error
  if (cause instanceof FolderInUse) {
    const remedy = "Stop the server, then run the command again: a store can only be copied while nothing else uses it"
    return new StoreCannotOpen({ location, reason, remedy, cause })
  }
  const remedy = "Set EARSHOT_DATA_DIR to the folder of the store to copy"
  // The others are about a store that exists.
  return cause === undefined && /^(?:there is no store|it is a file)$/.test(reason)
    ? new StoreCannotOpen({ location, reason, remedy, cause })
    : error
}

/** The errors of a connection name DATABASE_URL. */
const naming = <A, R>(setting: string, effect: Effect.Effect<A, StoreCannotOpen, R>) =>
  Effect.mapError(
    effect,
    ({ location, reason, remedy, cause }) =>
      new StoreCannotOpen({
        location: location.replace("DATABASE_URL", setting),
        reason,
        remedy: remedy.replace("DATABASE_URL", setting),
        cause
      })
  )
