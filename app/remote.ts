/** The configured server, for client commands. */
import { Effect, Option } from "effect"
import * as Remote from "../adapters/remote/Remote.ts"
import { DEFAULT_URL, operatorKey, remoteSettings } from "./settings.ts"

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

/**
 * Where shared events go: to the server at a URL or with the operator's key, otherwise to the one that uses the data
 * folder.
 */
export const sharedRemote = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    const settings = yield* remoteSettings
    const key = yield* operatorKey
    const configured = Option.orElse(url, () => settings.url)
    if (Option.isNone(configured) && Option.isNone(key)) {
      const { connectAsOperator } = yield* Effect.promise(() => import("./ownStore.ts"))
      return yield* connectAsOperator
    }
    if (Option.isNone(key)) {
      return yield* new Remote.RemoteSettingsInvalid({
        message: "No operator key: set EARSHOT_OPERATOR_KEY to the one that the server has"
      })
    }
    const server = yield* Remote.clientFor({
      url: Option.getOrElse(configured, () => DEFAULT_URL),
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
    if (Option.isNone(key) && Option.isSome(yield* operatorKey)) return yield* sharedRemote(url)
    if (yield* isRemote(url)) return yield* remote(url)
    const { operatorOfServer } = yield* Effect.promise(() => import("./ownStore.ts"))
    const own = yield* operatorOfServer
    return Option.isSome(own) ? own.value : yield* remote(url)
  })

/** Whether a server is configured; otherwise commands use the local store. */
export const isRemote = (url: Option.Option<string>) =>
  Effect.map(
    remoteSettings,
    (settings) => Option.isSome(url) || Option.isSome(settings.url) || Option.isSome(settings.key)
  )
