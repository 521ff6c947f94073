/** What a program prints and logs, by the settings. */
import type { Config } from "effect"
import { Layer, Logger, Option } from "effect"
import * as PlainConsole from "../adapters/runtimes/console.ts"
import * as Log from "../adapters/runtimes/log.ts"
import type { outputSettings } from "./settings.ts"

export const output = (settings: Config.Config.Success<typeof outputSettings>): Layer.Layer<never> =>
  Layer.mergeAll(
    PlainConsole.layerWith(settings),
    Log.layerWith(settings.logFormat),
    Logger.minimumLogLevel(settings.logLevel),
    // A failed request is answered and logged by the gateway; the runtime need not log it again.
    Layer.setUnhandledErrorLogLevel(Option.none())
  )
