/** The platforms of this program, one line each. */
import { Effect } from "effect"
import type { RecentEvents } from "../core/backtests/RecentEvents.ts"
import { firehose } from "../core/languages/firehose.ts"
import type { Language } from "../core/languages/Language.ts"
import { x } from "../core/languages/x.ts"
import type { Entropy } from "../core/model/Entropy.ts"
import type { Installed, Platforms } from "../core/platforms/Platform.ts"
import type { RuleStore } from "../core/rules/RuleStore.ts"
import type { ServiceSettings } from "./settings.ts"

/** A platform's adapter is loaded when a service starts; commands that only need the language do not load it. */
export interface KnownPlatform {
  readonly language: Language
  readonly load: () => Promise<{ readonly install: (settings: ServiceSettings) => InstalledPlatform }>
}

export type InstalledPlatform = Installed<Platforms | RuleStore | RecentEvents | Entropy>

export const PLATFORMS: ReadonlyArray<KnownPlatform> = [
  { language: x, load: () => import("../adapters/x/X.ts") },
  { language: firehose, load: () => import("../adapters/firehose/Firehose.ts") }
]

export const languages: ReadonlyArray<Language> = PLATFORMS.map(({ language }) => language)

export const installed = (settings: ServiceSettings): Effect.Effect<ReadonlyArray<InstalledPlatform>> =>
  Effect.forEach(PLATFORMS, ({ load }) => Effect.map(Effect.promise(load), ({ install }) => install(settings)))
