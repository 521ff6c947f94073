/** Platforms that run in process, on events that callers publish. */
import { Clock, Context, Effect, Layer, Option, Queue, Stream } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { EventRoom } from "../../core/disk/EventRoom.ts"
import type { Language } from "../../core/languages/Language.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { LocalFeed } from "../../core/platforms/LocalFeed.ts"
import { type Delivery, type Platform, Platforms, type Signal } from "../../core/platforms/Platform.ts"
import { helpFor, ruleLimits } from "../../core/platforms/syntaxHelp.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { type HeldRules, heldRules } from "./HeldRules.ts"
import { ownMatching } from "./ownMatching.ts"
import { publisher, type Sink } from "./publish.ts"

/** The in-process platforms, by id: where the feed sends their events. */
export class Sinks extends Context.Tag("adapters/local/Sinks")<Sinks, Map<PlatformId, Sink>>() {
  static readonly layer: Layer.Layer<Sinks> = Layer.sync(Sinks, () => new Map())
}

export const feed: Layer.Layer<LocalFeed, never, Sinks | Platforms | RuleStore | RecentEvents | Entropy | Quotas> =
  Layer.effect(
    LocalFeed,
    Effect.gen(function* () {
      const { sha256 } = yield* Entropy
      const options = {
        platforms: yield* Platforms,
        sinks: yield* Sinks,
        rules: yield* RuleStore,
        recent: yield* RecentEvents,
        sha256,
        quotas: yield* Quotas,
        room: yield* EventRoom
      }
      return LocalFeed.of({ publish: publisher(options) })
    })
  )

/** A platform that runs in process. `rulesPerAccount`: none for no limit. */
export const platform = (
  language: Language,
  rulesPerAccount: Option.Option<number>,
  { hasDemoFeed = false } = {}
): Layer.Layer<never, never, Sinks | Platforms | RuleStore | Entropy> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const sinks = yield* Sinks
      const { platform, sink } = yield* makePlatform(yield* heldRules(language), language, {
        store: yield* RuleStore,
        rulesPerAccount,
        hasDemoFeed
      })
      yield* platforms.register(platform)
      sinks.set(language.id, sink)
    })
  )

// ---- helpers ----

const makePlatform = (
  held: HeldRules,
  language: Language,
  options: {
    readonly store: RuleStore["Type"]
    readonly rulesPerAccount: Option.Option<number>
    readonly hasDemoFeed: boolean
  }
) =>
  Effect.gen(function* () {
    const { store, rulesPerAccount, hasDemoFeed } = options
    const { id } = language
    // Back-pressure: publishers wait while the store is behind.
    const queue = yield* Effect.acquireRelease(Queue.bounded<Delivery>(1_000), Queue.shutdown)

    const clock = yield* Effect.clock
    const since = clock.unsafeCurrentTimeMillis()
    let lastEventAt: number | undefined

    const own = ownMatching(held, language, store)

    const platform: Platform = {
      id,
      language,
      syntax: helpFor(language, ruleLimits(rulesPerAccount)),
      capabilities: { rulesPerAccount, isRemote: false, sendsAlive: false, hasDemoFeed },
      verify: held.verify,
      register: own.register,
      unregister: own.unregister,
      inventory: held.inventory,
      // Chunks of at most 200: the embedded store blocks the process while it writes.
      watch: () =>
        Stream.concat(
          Stream.fromEffect(Effect.map(Clock.currentTimeMillis, (at): Signal => ({ _tag: "Watching", at, since: at }))),
          Stream.map(
            Stream.fromQueue(queue, { maxChunkSize: 200 }),
            (delivery): Signal => ({ _tag: "Event", delivery })
          )
        ),
      status: Effect.sync(() => ({
        state: "live" as const,
        detail: hasDemoFeed
          ? "Runs in this process, on made-up events of the demo feed and on those published with POST /local/events"
          : "Runs in this process, on events published with POST /local/events",
        since,
        lastEventAt: Option.fromNullable(lastEventAt),
        lastError: Option.none()
      })),
      drainCosts: held.drainCosts
    }

    const sink: Sink = {
      matching: (sender) =>
        Effect.map(sender === undefined ? Effect.succeed(held.match) : own.prepare(sender), (matching) => (event) => {
          lastEventAt = clock.unsafeCurrentTimeMillis()
          return matching(event)
        }),
      offer: (delivery) => Queue.offer(queue, delivery)
    }

    return { platform, sink }
  })
