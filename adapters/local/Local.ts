/** Platforms that run in process, on events that callers publish. */
import { Clock, Context, Effect, Either, Layer, Option, Queue, Stream } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { EventRoom } from "../../core/disk/EventRoom.ts"
import { NamedRules } from "../../core/engine/NamedRules.ts"
import type { Language } from "../../core/languages/Language.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { PlatformRefused } from "../../core/model/Errors.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"
import { LocalFeed } from "../../core/platforms/LocalFeed.ts"
import { type Delivery, type Platform, Platforms, type Signal } from "../../core/platforms/Platform.ts"
import { helpFor, ruleLimits } from "../../core/platforms/syntaxHelp.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { coarseFields } from "../../core/syntax/expression/FieldNames.ts"
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
): Layer.Layer<never, never, Sinks | Platforms | Entropy> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const sinks = yield* Sinks
      const { sha256, bytes } = yield* Entropy
      // A random seed: authors of rules and posts cannot provoke hash collisions.
      const named = new NamedRules({
        seed: bytes(4).reduce((seed, byte) => (seed << 8) | byte, 0),
        largeCapacity: true,
        coarseFields: coarseFields(language.fieldNames)
      })
      const { platform, sink } = yield* makePlatform(language, named, sha256, { rulesPerAccount, hasDemoFeed })
      yield* platforms.register(platform)
      sinks.set(language.id, sink)
    })
  )

// ---- helpers ----

const makePlatform = (
  language: Language,
  rules: NamedRules,
  sha256: (text: string) => string,
  { rulesPerAccount, hasDemoFeed }: { readonly rulesPerAccount: Option.Option<number>; readonly hasDemoFeed: boolean }
) =>
  Effect.gen(function* () {
    const { id } = language
    // Back-pressure: publishers wait while the store is behind.
    const queue = yield* Effect.acquireRelease(Queue.bounded<Delivery>(1_000), Queue.shutdown)

    const textById = new Map<string, string>()
    /** The rules that the engine has left undecided at least once. */
    const expensive = new Map<string, Expression>()
    const clock = yield* Effect.clock
    const since = clock.unsafeCurrentTimeMillis()
    let lastEventAt: number | undefined

    const parse = (text: string) => {
      const { rule, issues } = language.check(text)
      if (rule !== undefined) return Either.right(rule)
      const reason = issues[0]?.message ?? "the filter is not valid"
      return Either.left(new PlatformRefused({ platform: id, reason, upstream: issues }))
    }

    const register = (text: string) =>
      Effect.gen(function* () {
        const rule = parse(text)
        if (Either.isLeft(rule)) return Either.left(rule.left)
        // Derived from the text: the same text has the same id, also after a restart.
        const platformRuleId = sha256(`${id}\n${text}`).slice(0, 32)
        if (!rules.has(platformRuleId)) {
          const { unindexed } = rules.stats
          rules.set(platformRuleId, rule.right.expression)
          textById.set(platformRuleId, text)
          const { stats } = rules
          if (stats.unindexed > unindexed) {
            yield* Effect.logInfo(
              `A rule on "${id}" has no indexable term and is evaluated for every event: ${stats.unindexed} of ${stats.rules} rules are unindexed`
            )
          }
        }
        return Either.right({ platformRuleId, translatedValue: text })
      })

    const platform: Platform = {
      id,
      language,
      syntax: helpFor(language, ruleLimits(rulesPerAccount)),
      capabilities: { rulesPerAccount, isRemote: false, sendsAlive: false, hasDemoFeed },
      verify: (text) => Effect.succeed(Either.map(parse(text), () => "presumed" as const)),
      register: Effect.forEach(register),
      unregister: (platformRuleIds) =>
        Effect.sync(() => {
          for (const platformRuleId of platformRuleIds) {
            rules.delete(platformRuleId)
            textById.delete(platformRuleId)
            expensive.delete(platformRuleId)
          }
        }),
      inventory: Effect.sync(() => ({
        rules: [...textById].map(([platformRuleId, translatedValue]) => ({
          platformRuleId,
          translatedValue,
          isOurs: true
        })),
        ruleLimit: Option.none(),
        usage: Option.none()
      })),
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
      }))
    }

    const expressionOf = (platformRuleId: string): Expression | undefined => {
      const text = textById.get(platformRuleId)
      if (text === undefined) return undefined
      const expression = expensive.get(platformRuleId) ?? language.check(text).rule?.expression
      if (expression !== undefined) expensive.set(platformRuleId, expression)
      return expression
    }

    const sink: Sink = {
      match: (event) => {
        lastEventAt = clock.unsafeCurrentTimeMillis()
        return rules.matchInTurns(event, expressionOf)
      },
      offer: (delivery) => Queue.offer(queue, delivery)
    }

    return { platform, sink }
  })
