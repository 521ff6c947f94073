/** The configured server, for client commands. */
import { Effect, Option } from "effect"
import * as Remote from "../adapters/remote/Remote.ts"
import { DEFAULT_URL, operatorKey, remoteSettings, storeSettings } from "./settings.ts"

/** `url` overrides the setting. */
export const remote = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    const settings = yield* remoteSettings
    const configured = Option.orElse(url, () => settings.url)
    const server = yield* Remote.clientFor({
      url: Option.getOrElse(configured, () => DEFAULT_URL),
      key: settings.key
    })
    return { ...server, isLive: true }
  })

/** For the operator: the configured server with the operator's key, otherwise the one that uses the data folder. */
export const operatorRemote = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    const settings = yield* remoteSettings
    const key = yield* operatorKey
    if (Option.isNone(key) && !(yield* isRemote(url))) {
      const { connectAsOperator } = yield* Effect.promise(() => import("./ownStore.ts"))
      return yield* connectAsOperator("EARSHOT_OPERATOR_KEY")
    }
    if (Option.isNone(key)) {
      const { databaseUrl, dataDir } = yield* storeSettings
      const bySocket = `, or leave out --url, EARSHOT_URL and EARSHOT_API_KEY to use the socket of the server that uses the store in "${dataDir}"`
      return yield* new Remote.RemoteSettingsInvalid({
        message: `No operator key: set EARSHOT_OPERATOR_KEY to the one that the server has${Option.isSome(databaseUrl) ? "" : bySocket}`
      })
    }
    const server = yield* Remote.clientFor({
      url: Option.getOrElse(
        Option.orElse(url, () => settings.url),
        () => DEFAULT_URL
      ),
      key,
      keySetting: "EARSHOT_OPERATOR_KEY"
    })
    return { ...server, isLive: true }
  })

/**
 * The configured server. As its operator if only the operator's key is set; if no server is configured, the one that
 * uses the data folder, as its operator.
 */
export const remoteOrOperator = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    const { key } = yield* remoteSettings
    if (Option.isNone(key) && Option.isSome(yield* operatorKey)) return yield* operatorRemote(url)
    if (yield* isRemote(url)) return yield* remote(url)
    const { connectAsOperator } = yield* Effect.promise(() => import("./ownStore.ts"))
    return yield* connectAsOperator("EARSHOT_API_KEY or EARSHOT_OPERATOR_KEY")
  })

/** Whether a server is configured, for all commands alike; otherwise they use the local store. */
export const isRemote = (url: Option.Option<string>) =>
  Effect.map(
    remoteSettings,
    (settings) => Option.isSome(url) || Option.isSome(settings.url) || Option.isSome(settings.key)
  )
