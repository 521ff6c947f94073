/** Console and log, configured by the settings. */
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
    // The gateway logs failed requests; the runtime would log them again.
    Layer.setUnhandledErrorLogLevel(Option.none())
  )
