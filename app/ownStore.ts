/** What commands do on the store of this machine, with no server in between: an Earshot inside this process. */
import { Context, Data, Effect, Layer, Option, Redacted } from "effect"
import { Fetch } from "../adapters/http/Fetch.ts"
import * as Remote from "../adapters/remote/Remote.ts"
import * as Assets from "../adapters/runtimes/assets.ts"
import { FolderInUse } from "../adapters/sql/FolderLock.ts"
import * as Pglite from "../adapters/sql/pglite.ts"
import { StoreCannotOpen } from "../adapters/sql/StoreCannotOpen.ts"
import { accountNamed } from "../cli/remote.ts"
import type { StreamStore } from "../core/coverage/StreamStore.ts"
import { Keys } from "../core/keys/Keys.ts"
import { gateway } from "../gateway/gateway.ts"
import { service, serviceOptions } from "./service.ts"
import { DEFAULT_URL, MOST_RECENT_EVENTS, storeSettings } from "./settings.ts"
import { runtime, stores } from "./stores.ts"
import { VERSION } from "./version.ts"

/** An Earshot on the store that the settings name, to which every caller is the account. */
export const connect = (account: string) =>
  Effect.gen(function* () {
    const options = yield* serviceOptions
    const { isOnlyProcess } = options
    if (isOnlyProcess) yield* Pglite.checkExists((yield* storeSettings).dataDir)
    // As many events as there can be: a command must not delete what the server keeps by other settings.
    const settings = { ...options.settings, recentEvents: MOST_RECENT_EVENTS }
    const layer = service({ ...options, settings })
    const context = yield* Effect.mapError(Layer.build(layer), orServerOnStore(GO_THROUGH_SERVER))
    const keys = Context.get(context, Keys)
    const accountId = yield* Effect.provideService(accountNamed(account), Keys, keys)
    const send = yield* gateway({ docsScript: Assets.docsScript, observeProcess: Effect.void, version: VERSION }).pipe(
      Effect.provide(Context.add(context, Keys, { ...keys, authenticate: () => Effect.succeed(accountId) }))
    )
    const server = yield* Remote.connect({ url: "http://localhost", key: Option.some(Redacted.make("anything")) }).pipe(
      Effect.provideService(Fetch, { send })
    )
    return { ...server, isLive: !isOnlyProcess }
  })

export const withKeys = <A, E>(effect: Effect.Effect<A, E, Keys>) =>
  Effect.provide(effect, Keys.layer.pipe(Layer.provide(storesAlone), Layer.provide(runtime)))

export const withStreams = <A, E>(effect: Effect.Effect<A, E, StreamStore>) => Effect.provide(effect, storesAlone)

export const GO_THROUGH_SERVER = `to go through the server, set EARSHOT_API_KEY to one of its keys (and EARSHOT_URL, if it is not at ${DEFAULT_URL})`

/** A store that another process has open: "choose another folder" would be no help to someone who wants this one. */
export const orServerOnStore =
  (remedy: string) =>
  <E>(error: E): E | ServerOnStore =>
    error instanceof StoreCannotOpen && error.cause instanceof FolderInUse
      ? new ServerOnStore({ place: error.location, remedy })
      : error

// ---- helpers ----

class ServerOnStore extends Data.TaggedError("ServerOnStore")<{ readonly place: string; readonly remedy: string }> {
  override get message() {
    return `A server, or another Earshot, is running on the store in "${this.place}": ${this.remedy}`
  }
}

/** For what no server offers. */
const STOP_SERVER =
  "stop it first, for the embedded store belongs to one process at a time; on Postgres (DATABASE_URL) this command works beside a server"

const storesAlone = Layer.mapError(stores, orServerOnStore(STOP_SERVER))
