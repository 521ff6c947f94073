/** The platforms of this program, one line each. */
import { type Config, Effect } from "effect"
import type { WebSockets } from "../adapters/http/WebSockets.ts"
import type { RecentEvents } from "../core/backtests/RecentEvents.ts"
import type { FeedStore } from "../core/feeds/FeedStore.ts"
import { bluesky } from "../core/languages/bluesky.ts"
import { feeds } from "../core/languages/feeds.ts"
import { firehose } from "../core/languages/firehose.ts"
import type { Language } from "../core/languages/Language.ts"
import { wikimedia } from "../core/languages/wikimedia.ts"
import { x } from "../core/languages/x.ts"
import type { Entropy } from "../core/model/Entropy.ts"
import type { Installed, Platforms } from "../core/platforms/Platform.ts"
import type { Quotas } from "../core/quotas/Quotas.ts"
import type { RuleStore } from "../core/rules/RuleStore.ts"
import { type ServiceSettings, switches } from "./settings.ts"

/** A platform's adapter is loaded when a service starts; commands that only need the language do not load it. */
export interface KnownPlatform {
  readonly language: Language
  /** Absent: always. While it is off, only the help of the settings names it. */
  readonly isOn?: Config.Config<boolean>
  readonly load: () => Promise<{ readonly install: (settings: ServiceSettings) => InstalledPlatform }>
}

export type InstalledPlatform = Installed<
  Platforms | RuleStore | FeedStore | RecentEvents | Entropy | Quotas | WebSockets
>

export const PLATFORMS: ReadonlyArray<KnownPlatform> = [
  { language: x, load: () => import("../adapters/x/X.ts") },
  { language: firehose, load: () => import("../adapters/firehose/Firehose.ts") },
  {
    language: bluesky,
    isOn: switches.bluesky,
    load: () => import("../adapters/bluesky/Bluesky.ts")
  },
  {
    language: wikimedia,
    isOn: switches.wikimedia,
    load: () => import("../adapters/wikimedia/Wikimedia.ts")
  },
  { language: feeds, isOn: switches.feeds, load: () => import("../adapters/feeds/Feeds.ts") }
]

/** Without those that a setting turns on. */
export const builtIn: ReadonlyArray<Language> = PLATFORMS.flatMap(({ language, isOn }) =>
  isOn === undefined ? [language] : []
)

/** A setting that is not valid turns nothing on: the service reports it. */
const platformsOn: Effect.Effect<ReadonlyArray<KnownPlatform>> = Effect.filter(PLATFORMS, ({ isOn }) =>
  isOn === undefined ? Effect.succeed(true) : Effect.orElseSucceed(isOn, () => false)
)

export const languagesOn: Effect.Effect<ReadonlyArray<Language>> = Effect.map(platformsOn, (all) =>
  all.map(({ language }) => language)
)

export const installed = (settings: ServiceSettings): Effect.Effect<ReadonlyArray<InstalledPlatform>> =>
  Effect.flatMap(platformsOn, (all) =>
    Effect.forEach(all, ({ load }) => Effect.map(Effect.promise(load), ({ install }) => install(settings)))
  )
