/** The platform `bluesky`: reads all posts of Jetstream, and matches them in this process. */
import { Clock, Effect, Either, Layer, Option, Schedule, Stream } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { bluesky } from "../../core/languages/bluesky.ts"
import type { Entropy } from "../../core/model/Entropy.ts"
import { PlatformRefused, PlatformUnavailable } from "../../core/model/Errors.ts"
import { type Installed, type Platform, Platforms } from "../../core/platforms/Platform.ts"
import { helpFor, ruleLimit, ruleLimits } from "../../core/platforms/syntaxHelp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { blueskyPosts } from "../demo/blueskyPosts.ts"
import { Budget } from "../http/Budget.ts"
import { KnownRules } from "../http/KnownRules.ts"
import { otherAddress } from "../http/otherAddress.ts"
import { StreamHealth } from "../http/StreamHealth.ts"
import { WebSockets } from "../http/WebSockets.ts"
import { heldRules } from "../local/HeldRules.ts"
import { loading } from "../local/loading.ts"
import { handlesIn, makeHandles } from "./Handles.ts"
import { makeLookUp } from "./lookUp.ts"
import { publicApi } from "./publicApi.ts"
import { watch } from "./stream.ts"

export const install = (settings: {
  readonly blueskyBaseUrl: string
}): Installed<Platforms | RuleStore | RecentEvents | Entropy | WebSockets> => ({
  language: bluesky,
  rulesPerAccount: ruleLimit(0),
  remote: Option.some({ baseUrl: settings.blueskyBaseUrl, layer: layerWith({ baseUrl: settings.blueskyBaseUrl }) }),
  demo: { perSecond: 2, make: blueskyPosts, filter: "nasa" }
})

export const layerWith = ({
  baseUrl
}: {
  readonly baseUrl: string
}): Layer.Layer<never, never, Platforms | RuleStore | RecentEvents | Entropy | WebSockets> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const store = yield* RuleStore
      const held = yield* heldRules(bluesky)
      const known = new KnownRules()
      const health = new StreamHealth(yield* Clock.currentTimeMillis)
      const address = otherAddress(baseUrl, OWN_ORIGINS)
      const ask = publicApi(address.address === undefined ? PUBLIC_API : baseUrl)
      const handles = yield* makeHandles(ask)
      const watching = {
        sockets: yield* WebSockets,
        baseUrl,
        budget: new Budget({ limit: 30, windowMillis: 60_000 }),
        known,
        held,
        handles,
        health,
        recent: yield* RecentEvents
      }
      const hold = (texts: ReadonlyArray<string>) =>
        Effect.tap(held.register(texts), (outcomes) => Effect.sync(() => known.addAll(outcomes)))

      const refusalOf = (text: string) =>
        Effect.gen(function* () {
          const rule = held.check(text)
          if (Either.isLeft(rule)) return undefined
          const unknown = yield* handles.resolve(handlesIn(rule.right.expression))
          const [name] = unknown
          if (name === undefined) return undefined
          const reason = `no account on Bluesky has the handle "${name}"`
          return new PlatformRefused({ platform: bluesky.id, reason, upstream: { handles: unknown } })
        })

      const add = (text: string) =>
        Effect.gen(function* () {
          const refusal = yield* refusalOf(text)
          if (refusal !== undefined) return Either.left(refusal)
          const [registered] = yield* hold([text])
          return registered ?? (yield* Effect.dieMessage(`No outcome for ${text}`))
        })

      const { load, unload } = loading(store, bluesky.id, (texts) =>
        Effect.tap(hold(texts), () =>
          handles.resolve(
            new Set(
              texts.flatMap((text) => {
                const rule = held.check(text)
                return Either.isLeft(rule) ? [] : [...handlesIn(rule.right.expression)]
              })
            )
          )
        )
      )
      const untilLoaded = Effect.orDie(Effect.retry(load, Schedule.spaced("1 second")))
      const loaded = Effect.mapError(
        load,
        ({ message }) => new PlatformUnavailable({ platform: bluesky.id, reason: message, upstream: null })
      )

      const platform: Platform = {
        id: bluesky.id,
        language: bluesky,
        syntax: helpFor(bluesky, ruleLimits(Option.none())),
        capabilities: { rulesPerAccount: Option.none(), isRemote: true, ...address, sendsAlive: true },
        verify: held.verify,
        register: (texts) => Effect.zipRight(loaded, Effect.forEach(texts, add)),
        unregister: (platformRuleIds) =>
          Effect.tap(held.unregister(platformRuleIds), () => Effect.sync(() => known.delete(platformRuleIds))),
        inventory: Effect.zipRight(loaded, held.inventory),
        watch: (from) =>
          Stream.ensuring(Stream.concat(Stream.drain(Stream.fromEffect(untilLoaded)), watch(watching, from)), unload),
        status: health.status,
        drainCosts: held.drainCosts,
        lookUp: makeLookUp(ask)
      }
      yield* platforms.register(platform)
    })
  )

// ---- helpers ----

const OWN_ORIGINS = ["https://jetstream.us-east.bsky.network", "https://jetstream.us-west.bsky.network"]

const PUBLIC_API = "https://public.api.bsky.app"
