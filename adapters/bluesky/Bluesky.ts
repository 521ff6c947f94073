/** The platform `bluesky`: reads all posts of Jetstream, and matches them in this process. */
import { Clock, Effect, Either, Layer, Option, Schedule, Stream } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { bluesky } from "../../core/languages/bluesky.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { PlatformRefused, PlatformUnavailable } from "../../core/model/Errors.ts"
import { type Installed, type Platform, Platforms } from "../../core/platforms/Platform.ts"
import { helpFor, ruleLimit, ruleLimits } from "../../core/platforms/syntaxHelp.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { yieldIfTurnIsLong } from "../../core/work/turns.ts"
import { blueskyPosts } from "../demo/blueskyPosts.ts"
import { Budget } from "../http/Budget.ts"
import { KnownRules } from "../http/KnownRules.ts"
import { otherAddress } from "../http/otherAddress.ts"
import { StreamHealth } from "../http/StreamHealth.ts"
import { WebSockets } from "../http/WebSockets.ts"
import { HeldRules } from "../local/HeldRules.ts"
import { handlesIn, makeHandles } from "./Handles.ts"
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
      const held = new HeldRules(bluesky, yield* Entropy)
      const known = new KnownRules()
      const health = new StreamHealth(yield* Clock.currentTimeMillis)
      const address = otherAddress(baseUrl, OWN_ORIGINS)
      const handles = yield* makeHandles(address.address === undefined ? PROFILES : baseUrl)
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
      /** What the store says is registered is in the engine, too. */
      let isLoaded = false

      const add = (text: string) =>
        Effect.gen(function* () {
          const rule = held.check(text)
          if (Either.isLeft(rule)) return Either.left(rule.left)
          const unknown = yield* handles.resolve(handlesIn(rule.right.expression))
          const [name] = unknown
          if (name !== undefined) {
            const reason = `no account on Bluesky has the handle "${name}"`
            return Either.left(new PlatformRefused({ platform: bluesky.id, reason, upstream: { handles: unknown } }))
          }
          const registered = held.add(text)
          if (Either.isRight(registered)) known.add(registered.right)
          return registered
        })

      /** A server that takes the stream over has not registered the rules itself. */
      const load = Effect.gen(function* () {
        if (isLoaded) return
        const names = new Set<string>()
        for (const { state, text, translatedValue } of yield* store.registrationsOn(bluesky.id)) {
          if (state !== "active" || text !== translatedValue) continue
          const rule = held.check(text)
          const registered = held.add(text)
          if (Either.isLeft(rule) || Either.isLeft(registered)) continue
          known.add(registered.right)
          handlesIn(rule.right.expression, names)
          yield* yieldIfTurnIsLong
        }
        isLoaded = true
        yield* handles.resolve(names)
      })
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
        verify: (text) => Effect.succeed(Either.map(held.check(text), () => "confirmed" as const)),
        register: (texts) => Effect.zipRight(loaded, Effect.forEach(texts, add)),
        unregister: (platformRuleIds) =>
          Effect.sync(() => {
            for (const id of platformRuleIds) held.delete(id)
            known.delete(platformRuleIds)
          }),
        inventory: Effect.map(loaded, () => ({
          rules: [...held.texts].map(([platformRuleId, translatedValue]) => ({
            platformRuleId,
            translatedValue,
            isOurs: true
          })),
          ruleLimit: Option.none(),
          usage: Option.none()
        })),
        watch: (from) =>
          Stream.ensuring(
            Stream.concat(Stream.drain(Stream.fromEffect(untilLoaded)), watch(watching, from)),
            Effect.sync(() => {
              isLoaded = false
            })
          ),
        status: health.status,
        drainCosts: Effect.sync(() => held.drainCosts())
      }
      yield* platforms.register(platform)
    })
  )

// ---- helpers ----

const OWN_ORIGINS = ["https://jetstream.us-east.bsky.network", "https://jetstream.us-west.bsky.network"]

/** Serves profiles without an account. */
const PROFILES = "https://public.api.bsky.app"
