/** The platforms of this program, one line each. */
import { Effect } from "effect"
import type { WebSockets } from "../adapters/http/WebSockets.ts"
import type { RecentEvents } from "../core/backtests/RecentEvents.ts"
import { bluesky } from "../core/languages/bluesky.ts"
import { firehose } from "../core/languages/firehose.ts"
import type { Language } from "../core/languages/Language.ts"
import { x } from "../core/languages/x.ts"
import type { Entropy } from "../core/model/Entropy.ts"
import type { Installed, Platforms } from "../core/platforms/Platform.ts"
import type { RuleStore } from "../core/rules/RuleStore.ts"
import { type ServiceSettings, type Switch, switches } from "./settings.ts"

/** A platform's adapter is loaded when a service starts; commands that only need the language do not load it. */
export interface KnownPlatform {
  readonly language: Language
  /** The setting that turns it on. Absent: it is always there. While it is off, only the help of the settings shows it. */
  readonly switch?: Switch
  readonly load: () => Promise<{ readonly install: (settings: ServiceSettings) => InstalledPlatform }>
}

export type InstalledPlatform = Installed<Platforms | RuleStore | RecentEvents | Entropy | WebSockets>

export const PLATFORMS: ReadonlyArray<KnownPlatform> = [
  { language: x, load: () => import("../adapters/x/X.ts") },
  { language: firehose, load: () => import("../adapters/firehose/Firehose.ts") },
  {
    language: bluesky,
    switch: "bluesky",
    load: () => import("../adapters/bluesky/Bluesky.ts")
  }
]

/** Of the platforms that are always there. */
export const builtIn: ReadonlyArray<Language> = PLATFORMS.flatMap((platform) =>
  platform.switch === undefined ? [platform.language] : []
)

/** For commands: with those that the environment turns on, as for a server. */
export const languages: Effect.Effect<ReadonlyArray<Language>> = switches.pipe(
  Effect.map((on) =>
    PLATFORMS.flatMap((platform) =>
      platform.switch === undefined || on[platform.switch] === "on" ? [platform.language] : []
    )
  ),
  // The server says what is wrong with a setting.
  Effect.orElseSucceed(() => builtIn)
)

export const installed = (settings: ServiceSettings): Effect.Effect<ReadonlyArray<InstalledPlatform>> =>
  Effect.forEach(
    PLATFORMS.filter((platform) => platform.switch === undefined || settings[platform.switch] === "on"),
    ({ load }) => Effect.map(Effect.promise(load), ({ install }) => install(settings))
  )
