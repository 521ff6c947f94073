/** The platform `wikimedia`: recent changes of all wikis, matched in this process. */
import { Clock, Effect, Layer, Option } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { wikimedia } from "../../core/languages/wikimedia.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { PlatformUnavailable } from "../../core/model/Errors.ts"
import { type Installed, Platforms } from "../../core/platforms/Platform.ts"
import { helpFor } from "../../core/platforms/syntaxHelp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { changes } from "../demo/changes.ts"
import { Budget } from "../http/Budget.ts"
import { KnownRules } from "../http/KnownRules.ts"
import { otherAddress } from "../http/otherAddress.ts"
import { StreamHealth } from "../http/StreamHealth.ts"
import { heldRules } from "../local/HeldRules.ts"
import { loading } from "../local/loading.ts"
import { KnownIds } from "./KnownIds.ts"
import { watch } from "./stream.ts"

export const install = (settings: {
  readonly wikimediaContact: Option.Option<string>
  readonly wikimediaBaseUrl: string
}): Installed<Platforms | RuleStore | RecentEvents | Entropy> => ({
  language: wikimedia,
  rulesPerAccount: Option.none(),
  remote: Option.map(settings.wikimediaContact, (contact) => ({
    baseUrl: settings.wikimediaBaseUrl,
    layer: layerWith({ baseUrl: settings.wikimediaBaseUrl, contact })
  })),
  demo: { perSecond: 2, make: changes, filter: "title:nasa" }
})

export const layerWith = (options: {
  readonly baseUrl: string
  /** The operator's mail address or web page: Wikimedia refuses clients that do not name one. */
  readonly contact: string
}): Layer.Layer<never, never, Platforms | RuleStore | RecentEvents | Entropy> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const store = yield* RuleStore
      const recent = yield* RecentEvents
      const { sha256: digest } = yield* Entropy
      const held = yield* heldRules(wikimedia)
      const known = new KnownRules()
      const health = new StreamHealth(yield* Clock.currentTimeMillis)
      const budget = new Budget(connectionLimit)
      const stored = new KnownIds()

      const register = (texts: ReadonlyArray<string>) =>
        Effect.tap(held.register(texts), (outcomes) => Effect.sync(() => known.addAll(outcomes)))

      const { load, unload } = loading(store, wikimedia.id, register)

      const storeDown = () => new PlatformUnavailable({ platform: wikimedia.id, reason: "the store cannot be reached" })

      yield* platforms.register({
        id: wikimedia.id,
        language: wikimedia,
        syntax: helpFor(wikimedia, {}),
        capabilities: {
          rulesPerAccount: Option.none(),
          isRemote: true,
          keepsAllEvents: true,
          ...otherAddress(options.baseUrl, OWN_ORIGINS),
          sendsAlive: true
        },
        verify: held.verify,
        register,
        unregister: (platformRuleIds) =>
          Effect.tap(held.unregister(platformRuleIds), () => Effect.sync(() => known.delete(platformRuleIds))),
        inventory: Effect.zipRight(Effect.mapError(load, storeDown), held.inventory),
        watch: (from) =>
          watch({ ...options, budget, known, health, recent, digest, match: held.match, stored, load, unload }, from),
        status: health.status,
        drainCosts: held.drainCosts
      })
    })
  )

// ---- helpers ----

const OWN_ORIGINS = ["https://stream.wikimedia.org"]

const connectionLimit = { limit: 20, windowMillis: 60_000 }
