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
import type { PlatformId } from "../core/model/PlatformId.ts"
import type { Installed, Platforms } from "../core/platforms/Platform.ts"
import type { Quotas } from "../core/quotas/Quotas.ts"
import type { RuleStore } from "../core/rules/RuleStore.ts"
import { type ServiceSettings, switches } from "./settings.ts"

/** A platform's adapter is loaded when a service starts; commands that only need the language do not load it. */
export interface KnownPlatform {
  readonly language: Language
  /** Absent: always on. While it is off, only the command line names it. `setting` turns it on: `EARSHOT_BLUESKY=on`. */
  readonly switch?: { readonly isOn: Config.Config<boolean>; readonly setting: string }
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
    switch: switches.bluesky,
    load: () => import("../adapters/bluesky/Bluesky.ts")
  },
  {
    language: wikimedia,
    switch: switches.wikimedia,
    load: () => import("../adapters/wikimedia/Wikimedia.ts")
  },
  { language: feeds, switch: switches.feeds, load: () => import("../adapters/feeds/Feeds.ts") }
]

/** Without those that a setting turns on. */
export const builtIn: ReadonlyArray<Language> = PLATFORMS.flatMap((platform) =>
  platform.switch === undefined ? [platform.language] : []
)

/** A setting that is not valid turns nothing on: the service reports it. */
const isOn = (platform: KnownPlatform): Effect.Effect<boolean> =>
  platform.switch === undefined ? Effect.succeed(true) : Effect.orElseSucceed(platform.switch.isOn, () => false)

const platformsOn = Effect.filter(PLATFORMS, isOn)

/** The setting that turns it on, by platform. */
export const platformsOff: Effect.Effect<Readonly<Record<PlatformId, string>>> = Effect.map(
  Effect.filter(PLATFORMS, isOn, { negate: true }),
  (all) => Object.fromEntries(all.map(({ language, switch: { setting = "" } = {} }) => [language.id, setting]))
)

export const languagesOn: Effect.Effect<ReadonlyArray<Language>> = Effect.map(platformsOn, (all) =>
  all.map(({ language }) => language)
)

export const installed = (settings: ServiceSettings): Effect.Effect<ReadonlyArray<InstalledPlatform>> =>
  Effect.flatMap(platformsOn, (all) =>
    Effect.forEach(all, ({ load }) => Effect.map(Effect.promise(load), ({ install }) => install(settings)))
  )
