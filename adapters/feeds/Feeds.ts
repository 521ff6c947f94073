/** The platform `feeds`: RSS, Atom, RDF and JSON feeds, polled and matched in this process. */
import { Clock, Effect, Layer, Option, type Scope } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { EventRoom } from "../../core/disk/EventRoom.ts"
import { FeedStore } from "../../core/feeds/FeedStore.ts"
import { feeds } from "../../core/languages/feeds.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { PlatformUnavailable } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import { type Installed, Platforms } from "../../core/platforms/Platform.ts"
import { helpFor } from "../../core/platforms/syntaxHelp.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { items } from "../demo/items.ts"
import type { Addresses } from "../http/addresses.ts"
import { StreamHealth } from "../http/StreamHealth.ts"
import { heldRules } from "../local/HeldRules.ts"
import { loading } from "../local/loading.ts"
import { ownMatching } from "../local/ownMatching.ts"
import { type Parse, parserThread } from "./parser.ts"
import { watch } from "./stream.ts"

export const install = (settings: {
  readonly feedUrls: Option.Option<ReadonlyArray<string>>
  readonly feedAddresses: Addresses
}): Installed<Platforms | RuleStore | FeedStore | RecentEvents | Entropy | Quotas> => ({
  language: feeds,
  rulesPerAccount: Option.none(),
  remote: Option.map(settings.feedUrls, (urls) => ({
    baseUrl: urls[0] ?? "the feeds that accounts add",
    layer: layerWith({ urls, addresses: settings.feedAddresses, parser: parserThread, listMillis: LIST_MILLIS })
  })),
  demo: { perSecond: 0.2, make: items, filter: "nasa" }
})

export const layerWith = (options: {
  readonly urls: ReadonlyArray<string>
  readonly addresses: Addresses
  readonly parser: Effect.Effect<Parse, never, Scope.Scope>
  readonly listMillis: number
}): Layer.Layer<never, never, Platforms | RuleStore | FeedStore | RecentEvents | Entropy | Quotas> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const recent = yield* RecentEvents
      const { sha256: digest } = yield* Entropy
      const held = yield* heldRules(feeds)
      const rules = yield* RuleStore
      const { register, unregister, prepare } = ownMatching(held, feeds, rules)
      const { load, unload } = loading(rules, feeds.id, register)
      const store = yield* FeedStore
      const parse = yield* options.parser
      const quotas = yield* Quotas
      const room = yield* EventRoom
      // As if the account sent the items itself.
      const mayPoll = (account: AccountId) =>
        Effect.isSuccess(Effect.zipRight(quotas.check(account, "events"), room.check(account)))
      const charge = (account: AccountId, items: number) => quotas.spend(account, "events", items)
      const health = new StreamHealth(yield* Clock.currentTimeMillis)
      const storeDown = () => new PlatformUnavailable({ platform: feeds.id, reason: "the store cannot be reached" })

      yield* platforms.register({
        id: feeds.id,
        language: feeds,
        syntax: helpFor(feeds, {}),
        capabilities: { rulesPerAccount: Option.none(), isRemote: true, keepsAllEvents: true, sendsAlive: true },
        verify: held.verify,
        register,
        unregister,
        inventory: Effect.zipRight(Effect.mapError(load, storeDown), held.inventory),
        watch: () =>
          watch({
            ...options,
            ...{ health, recent, store, digest, parse, match: held.match, prepare, mayPoll, charge, load, unload }
          }),
        status: health.status,
        drainCosts: held.drainCosts
      })
    })
  )

// ---- helpers ----

/** An account that adds a feed waits so long for its first poll. */
const LIST_MILLIS = 5_000
