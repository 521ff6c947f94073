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
import { makeHandles } from "./Handles.ts"
import { makeLookUp } from "./lookUp.ts"
import { handlesIn, makeNamedAccounts, type Resolved } from "./NamedAccounts.ts"
import { profilesOf, publicApi } from "./publicApi.ts"
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
      const named = yield* makeNamedAccounts(profilesOf(ask))
      const watching = {
        sockets: yield* WebSockets,
        baseUrl,
        budget: new Budget({ limit: 30, windowMillis: 60_000 }),
        known,
        held,
        named,
        handles: yield* makeHandles(profilesOf(ask)),
        health,
        recent: yield* RecentEvents
      }
      const handlesOf = (text: string): ReadonlySet<string> =>
        Either.match(held.check(text), { onLeft: () => new Set(), onRight: ({ expression }) => handlesIn(expression) })

      const resolve = (texts: ReadonlyArray<string>) =>
        named.resolve(new Set(texts.flatMap((text) => [...handlesOf(text)])))

      const hold = (texts: ReadonlyArray<string>, accounts: Resolved["accounts"]) =>
        Effect.tap(held.register(texts), (outcomes) =>
          Effect.sync(() => {
            known.addAll(outcomes)
            for (const outcome of outcomes) {
              if (Either.isLeft(outcome)) continue
              const { platformRuleId, translatedValue } = outcome.right
              named.keep(platformRuleId, handlesOf(translatedValue), accounts)
            }
          })
        )

      const failureOf = (text: string, { accounts, trouble }: Resolved) => {
        const unknown = [...handlesOf(text)].filter((handle) => !accounts.has(handle))
        const [handle] = unknown
        if (handle === undefined) return undefined
        return trouble === undefined
          ? new PlatformRefused({
              platform: bluesky.id,
              reason: `no account on Bluesky has the handle "${handle}"`,
              upstream: { handles: unknown }
            })
          : new PlatformUnavailable({
              platform: bluesky.id,
              reason: `the handle "${handle}" cannot be looked up: ${trouble}`,
              upstream: { handles: unknown }
            })
      }

      const register = (texts: ReadonlyArray<string>) =>
        Effect.flatMap(resolve(texts), (resolved) =>
          Effect.forEach(texts, (text) =>
            Effect.gen(function* () {
              const failure = failureOf(text, resolved)
              if (failure !== undefined) return Either.left(failure)
              const [registered] = yield* hold([text], resolved.accounts)
              return registered ?? (yield* Effect.dieMessage(`No outcome for ${text}`))
            })
          )
        )

      // A rule is held without its accounts, too: `inventory` leaves it out, so that it is registered again.
      const { load, unload } = loading(store, bluesky.id, (texts) =>
        Effect.gen(function* () {
          const { accounts, trouble } = yield* resolve(texts)
          if (trouble !== undefined) {
            yield* Effect.logWarning(`Cannot look up handles of rules on "bluesky", retrying: ${trouble}`)
          }
          yield* hold(texts, accounts)
        })
      )
      const inventory = Effect.map(held.inventory, (all) => ({
        ...all,
        rules: named.complete(all.rules)
      }))
      const untilLoaded = Effect.orDie(Effect.retry(load, Schedule.spaced("1 second")))
      const loaded = Effect.mapError(
        load,
        ({ message }) => new PlatformUnavailable({ platform: bluesky.id, reason: message, upstream: null })
      )

      const platform: Platform = {
        id: bluesky.id,
        language: bluesky,
        syntax: helpFor(bluesky, ruleLimits(Option.none())),
        capabilities: { rulesPerAccount: Option.none(), isRemote: true, ...address, sendsAlive: true, keepsIds: true },
        verify: held.verify,
        register: (texts) => Effect.zipRight(loaded, register(texts)),
        unregister: (platformRuleIds) =>
          Effect.tap(held.unregister(platformRuleIds), () =>
            Effect.sync(() => {
              known.delete(platformRuleIds)
              named.drop(platformRuleIds)
            })
          ),
        inventory: Effect.zipRight(loaded, inventory),
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
