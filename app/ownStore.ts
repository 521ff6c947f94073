/** Commands on the local store: they run the service in this process, without a server. */
import { Context, Data, Effect, Layer, Option, Redacted } from "effect"
import { Fetch } from "../adapters/http/Fetch.ts"
import * as Remote from "../adapters/remote/Remote.ts"
import * as Assets from "../adapters/runtimes/assets.ts"
import { FolderInUse } from "../adapters/sql/FolderLock.ts"
import * as Pglite from "../adapters/sql/pglite.ts"
import { StoreCannotOpen } from "../adapters/sql/StoreCannotOpen.ts"
import { findAccount } from "../cli/remote.ts"
import { DeadLetters } from "../core/ingest/DeadLetters.ts"
import { Keys } from "../core/keys/Keys.ts"
import { gateway } from "../gateway/gateway.ts"
import { service, serviceOptions } from "./service.ts"
import { DEFAULT_URL, MAX_RECENT_EVENTS, storeSettings } from "./settings.ts"
import { runtime, stores } from "./stores.ts"
import { VERSION } from "./version.ts"

/** The gateway on the configured store, in this process. Every request is authenticated as the account. */
export const connect = (account: string) =>
  Effect.gen(function* () {
    yield* checkExists
    const options = yield* serviceOptions
    // The maximum: a command must not delete events that a server with other settings keeps.
    const settings = { ...options.settings, recentEvents: MAX_RECENT_EVENTS }
    const layer = service({ ...options, settings })
    const context = yield* Effect.mapError(Layer.build(layer), asStoreInUse(USE_SERVER))
    const keys = Context.get(context, Keys)
    const accountId = yield* Effect.provideService(findAccount(account), Keys, keys)
    const send = yield* gateway({
      host: Option.none(),
      docsScript: Assets.docsScript,
      observeProcess: Effect.void,
      version: VERSION
    }).pipe(
      Effect.provide(
        Context.add(context, Keys, {
          ...keys,
          authenticate: () => Effect.succeed({ account: accountId, scope: "admin" })
        })
      )
    )
    const server = yield* Remote.clientFor({
      url: "http://localhost",
      key: Option.some(Redacted.make("anything"))
    }).pipe(Effect.provideService(Fetch, { send }))
    return { ...server, isLive: !options.isOnlyProcess }
  })

/** Creates a missing store only if `createsStore`. */
export const withKeys = <A, E>(effect: Effect.Effect<A, E, Keys>, { createsStore = false } = {}) =>
  Effect.provide(
    effect,
    Keys.layer.pipe(Layer.provide(createsStore ? storesAlone : existingStores), Layer.provide(runtime))
  )

export const withDeadLetters = <A, E>(effect: Effect.Effect<A, E, DeadLetters>) =>
  Effect.provide(effect, Layer.provide(DeadLetters.layer, existingStores))

export const USE_SERVER = `to use the server, set EARSHOT_API_KEY to one of its keys (and EARSHOT_URL, if it is not at ${DEFAULT_URL})`

/** Replaces the advice to choose another folder, for commands that need this store. */
export const asStoreInUse =
  (remedy: string) =>
  <E>(error: E): E | StoreInUse =>
    error instanceof StoreCannotOpen && error.cause instanceof FolderInUse
      ? new StoreInUse({ location: error.location, remedy })
      : error

// ---- helpers ----

class StoreInUse extends Data.TaggedError("StoreInUse")<{ readonly location: string; readonly remedy: string }> {
  override get message() {
    return `Another process, such as a server, uses the store in "${this.location}": ${this.remedy}`
  }
}

/** For commands that a server does not offer. */
const STOP_SERVER =
  "stop it first, because only one process at a time can use the embedded store; with Postgres (DATABASE_URL) this command works beside a server"

const storesAlone = Layer.mapError(stores, asStoreInUse(STOP_SERVER))

/** A Postgres database is never created here, so it needs no check. */
const checkExists = Effect.flatMap(storeSettings, ({ databaseUrl, dataDir }) =>
  Option.isSome(databaseUrl) ? Effect.void : Pglite.checkExists(dataDir)
)

const existingStores = Layer.unwrapEffect(
  Effect.as(checkExists, storesAlone).pipe(
    Effect.catchTag("StoreCannotOpen", ({ location, reason, cause }) =>
      Effect.fail(new StoreCannotOpen({ location, reason, cause, remedy: CREATE_STORE }))
    )
  )
)

/** Without the advice to use a server, which does not offer these commands. */
const CREATE_STORE =
  "Start the service once (earshot serve), create a key (earshot keys create), or set EARSHOT_DATA_DIR to the folder of a store"
