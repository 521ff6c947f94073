/** The configured server, for client commands. */
import { Effect, Option } from "effect"
import * as Remote from "../adapters/remote/Remote.ts"
import { DEFAULT_URL, remoteSettings } from "./settings.ts"

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

/** Whether a server is configured; otherwise commands use the local store. */
export const isRemote = (url: Option.Option<string>) =>
  Effect.map(
    remoteSettings,
    (settings) => Option.isSome(url) || Option.isSome(settings.url) || Option.isSome(settings.key)
  )
