/** Commands on the local store: through the server that uses it, or in this process if there is none. */
import { Console, Context, Data, Effect, Layer, Option, Redacted, Schedule, type Scope } from "effect"
import { Fetch } from "../adapters/http/Fetch.ts"
import * as Remote from "../adapters/remote/Remote.ts"
import { FolderInUse } from "../adapters/sql/FolderLock.ts"
import * as Pglite from "../adapters/sql/pglite.ts"
import { StoreCannotOpen } from "../adapters/sql/StoreCannotOpen.ts"
import { RemoteUnreachable } from "../api/calls.ts"
import { findAccount } from "../cli/remote.ts"
import type { Accounts } from "../core/accounts/Accounts.ts"
import type { StreamStore } from "../core/coverage/StreamStore.ts"
import { DeadLetters } from "../core/ingest/DeadLetters.ts"
import type { KeyStore } from "../core/keys/KeyStore.ts"
import { Keys } from "../core/keys/Keys.ts"
import { Ownership } from "../core/ownership/Ownership.ts"
import { operatorGateway } from "../gateway/operator.ts"
import { operatorClient, operatorUseCases, runningServer } from "./operator.ts"
import { service, serviceOptions } from "./service.ts"
import { MAX_RECENT_EVENTS, storeSettings } from "./settings.ts"
import { runtime, storesFor } from "./stores.ts"
import { VERSION } from "./version.ts"

/** The gateway on the configured store. Every request acts as the account. */
export const connect = (account: string) =>
  inServerOrHere(
    (fetch) => Effect.map(clientOf(fetch, account), (client) => ({ ...client, isLive: true })),
    Effect.gen(function* () {
      const context = yield* serviceHere
      const send = yield* Effect.provide(
        operatorGateway({
          host: Option.none(),
          console: Option.none(),
          observeProcess: Effect.void,
          version: VERSION
        }),
        context
      )
      return { ...(yield* clientOf({ send }, account)), isLive: !Context.get(context, Ownership).isAlone }
    })
  )

/** The same, only if a server uses the store. */
export const connectToServer = (account: string) =>
  Effect.flatMap(runningServer, (server) =>
    Effect.transposeOption(Option.map(server, (fetch) => clientOf(fetch, account)))
  )

/** For requests of the operator, which need a server. `keys`: the settings with which another server can be used. */
export const connectAsOperator = (keys: string) =>
  Effect.gen(function* () {
    const server = yield* runningServer
    if (Option.isNone(server)) {
      const { databaseUrl, dataDir } = yield* storeSettings
      return yield* new NoServer({ dataDir, isOnPostgres: Option.isSome(databaseUrl), keys })
    }
    const client = yield* Effect.provideService(operatorClient, Fetch, server.value)
    return { ...client, isLive: true }
  })

/** Creates a missing store only if `createsStore`. */
export const withKeys = <A, E>(effect: Effect.Effect<A, E, Keys>, { createsStore = false } = {}) =>
  withUseCases(effect, createsStore ? anyStores : existingStores)

/** `Keys` finds the account by its name. */
export const withAccounts = <A, E>(effect: Effect.Effect<A, E, Accounts | Keys>) =>
  provided(effect, Effect.zipRight(checkExistsHere, serviceHere))

export const withDeadLetters = <A, E>(effect: Effect.Effect<A, E, DeadLetters>) => withUseCases(effect, existingStores)

/** Only a Postgres database can have several servers. */
export const withServers = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    if (Option.isNone((yield* storeSettings).databaseUrl)) return yield* new NoDatabase()
    return yield* Effect.provide(effect, stores)
  })

/** Replaces the advice to choose another folder, for commands that need this store. */
export const asStoreInUse = <E>(error: E): E | StoreInUse =>
  error instanceof StoreCannotOpen && error.cause instanceof FolderInUse
    ? new StoreInUse({ location: error.location })
    : error

/** Retries while another process uses the store and does not answer: a server that starts or stops, or a command. */
export const retryWhileBusy = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, {
    while: (error) => error instanceof StoreInUse || error instanceof RemoteUnreachable,
    schedule: Schedule.upTo(Schedule.spaced("200 millis"), "10 seconds")
  })

// ---- helpers ----

class StoreInUse extends Data.TaggedError("StoreInUse")<{ readonly location: string }> {
  override get message() {
    return `Another process uses the store in "${this.location}" and does not answer on its operator socket: if it is a server that starts or stops, try again shortly; otherwise stop it`
  }
}

class NoDatabase extends Data.TaggedError("NoDatabase") {
  override get message() {
    return "There are several servers only on Postgres: set DATABASE_URL to the database that they share (the embedded store has one server)"
  }
}

class NoServer extends Data.TaggedError("NoServer")<{
  readonly dataDir: string
  readonly isOnPostgres: boolean
  readonly keys: string
}> {
  override get message() {
    const other = `name a server with --url or EARSHOT_URL, and set ${this.keys}`
    return this.isOnPostgres
      ? `A server on Postgres (DATABASE_URL) has no operator socket: ${other}`
      : `No running server uses the store in "${this.dataDir}", and this command needs one: start it with earshot serve, set EARSHOT_DATA_DIR to the folder of one that runs, or ${other}`
  }
}

const inServerOrHere = <A, E, E2, R, R2>(
  inServer: (fetch: Fetch["Type"]) => Effect.Effect<A, E, R>,
  here: Effect.Effect<A, E2, R2>
) =>
  Effect.gen(function* () {
    const server = yield* runningServer
    return Option.isSome(server) ? yield* inServer(server.value) : yield* Effect.mapError(here, asStoreInUse)
  }).pipe(retryWhileBusy)

const withUseCases = <A, E, E2>(
  effect: Effect.Effect<A, E, Keys | DeadLetters>,
  stores: Layer.Layer<KeyStore | StreamStore, E2>
) =>
  provided(
    effect,
    Layer.build(Layer.merge(Keys.layer, DeadLetters.layer).pipe(Layer.provide(stores), Layer.provide(runtime)))
  )

type OperatorError = Layer.Layer.Error<typeof operatorUseCases>

/** Provides the use cases of the server that uses the store, or those built here. */
const provided = <A, E, E2, R extends Layer.Layer.Success<typeof operatorUseCases>>(
  effect: Effect.Effect<A, E, R>,
  here: Effect.Effect<Context.Context<R>, E2, Scope.Scope>
) =>
  inServerOrHere(
    (fetch): Effect.Effect<Context.Context<R>, OperatorError, Scope.Scope> =>
      Effect.provideService(Layer.build(operatorUseCases), Fetch, fetch),
    here
  ).pipe(
    Effect.flatMap((useCases) => Effect.provide(effect, useCases)),
    Effect.scoped
  )

const clientOf = (fetch: Fetch["Type"], account: string) =>
  Effect.gen(function* () {
    const accountId = yield* Effect.provide(findAccount(account), operatorUseCases)
    return yield* Remote.clientFor({ url: "http://localhost", key: Option.some(Redacted.make(accountId)) })
  }).pipe(Effect.provideService(Fetch, fetch))

/** The service on the configured store, without its background work. */
const serviceHere = Effect.gen(function* () {
  yield* checkExists
  const options = yield* serviceOptions
  // The maximum: a command must not delete events that a server with other settings keeps.
  const settings = { ...options.settings, recentEvents: MAX_RECENT_EVENTS }
  return yield* Layer.build(service({ ...options, settings }, stores))
})

const stores = storesFor({ isServer: false })

/** A Postgres database is never created here, so it needs no check. */
const checkExists = Effect.flatMap(storeSettings, ({ databaseUrl, dataDir }) =>
  Option.isSome(databaseUrl) ? Effect.void : Pglite.checkExists(dataDir)
)

/** Says so if they are created: the folder may be the wrong one. */
const anyStores = Layer.unwrapEffect(
  Effect.as(checkExists, stores).pipe(
    Effect.catchTag("StoreCannotOpen", ({ location }) =>
      Effect.succeed(Layer.tap(stores, () => Console.error(`Created a new store in "${location}", which had none`)))
    )
  )
)

/** For commands on the store: without the advice to use a server by its address, which does not offer them. */
const checkExistsHere = Effect.catchTag(checkExists, "StoreCannotOpen", ({ location, reason, cause }) =>
  Effect.fail(new StoreCannotOpen({ location, reason, cause, remedy: CREATE_STORE }))
)

const existingStores = Layer.unwrapEffect(Effect.as(checkExistsHere, stores))

const CREATE_STORE =
  "Start the service once (earshot serve), create a key (earshot keys create), or set EARSHOT_DATA_DIR to the folder of a store"
