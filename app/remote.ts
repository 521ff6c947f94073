/** The server that the settings name, for commands. */
import { Effect, Option } from "effect"
import * as Remote from "../adapters/remote/Remote.ts"
import { DEFAULT_URL, remoteSettings } from "./settings.ts"

/** The address here goes before that of the settings. */
export const remote = (url: Option.Option<string>) =>
  Effect.gen(function* () {
    const settings = yield* remoteSettings
    const named = Option.orElse(url, () => settings.url)
    const server = yield* Remote.connect({
      url: Option.getOrElse(named, () => DEFAULT_URL),
      key: settings.key
    })
    return { ...server, isLive: true }
  })

/** Whether a server is named at all. */
export const isRemote = (url: Option.Option<string>) =>
  Effect.map(
    remoteSettings,
    (settings) => Option.isSome(url) || Option.isSome(settings.url) || Option.isSome(settings.key)
  )
