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
import { type Matching, OwnRules } from "./OwnRules.ts"
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
      const { sha256, bytes } = yield* Entropy
      const emptyRules = (largeCapacity: boolean) =>
        new NamedRules({
          // Random: authors of rules and posts cannot provoke hash collisions.
          seed: bytes(4).reduce((seed, byte) => (seed << 8) | byte, 0),
          largeCapacity,
          coarseFields: coarseFields(language.fieldNames)
        })
      const idOf = (text: string) => sha256(`${language.id}\n${text}`).slice(0, 32)
      const { platform, sink } = yield* makePlatform(language, {
        emptyRules,
        idOf,
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
  language: Language,
  options: {
    readonly emptyRules: (largeCapacity: boolean) => NamedRules
    /** Derived from the text: the same text has the same id, also after a restart. */
    readonly idOf: (text: string) => string
    readonly store: RuleStore["Type"]
    readonly rulesPerAccount: Option.Option<number>
    readonly hasDemoFeed: boolean
  }
) =>
  Effect.gen(function* () {
    const { emptyRules, idOf, store, rulesPerAccount, hasDemoFeed } = options
    const { id } = language
    const rules = emptyRules(true)
    // Back-pressure: publishers wait while the store is behind.
    const queue = yield* Effect.acquireRelease(Queue.bounded<Delivery>(1_000), Queue.shutdown)

    const textById = new Map<string, string>()
    /** The rules that the engine has left undecided at least once. */
    const expensive = new Map<string, Expression>()
    const clock = yield* Effect.clock
    const since = clock.unsafeCurrentTimeMillis()
    let lastEventAt: number | undefined

    const parseHeld = (platformRuleId: string): Expression | undefined => {
      const text = textById.get(platformRuleId)
      return text === undefined ? undefined : language.check(text, { fixes: "none" }).rule?.expression
    }

    const expressionOf = (platformRuleId: string): Expression | undefined => {
      const expression = expensive.get(platformRuleId) ?? parseHeld(platformRuleId)
      if (expression !== undefined) expensive.set(platformRuleId, expression)
      return expression
    }

    const own = new OwnRules({
      all: rules,
      held: textById,
      idOf,
      parse: parseHeld,
      expressionOf,
      emptyRules: () => emptyRules(false),
      textsOf: (account, among) => store.textsOf(account, id, among)
    })

    const parse = (text: string) => {
      const { rule, issues } = language.check(text, { fixes: "none" })
      if (rule !== undefined) return Either.right(rule)
      const reason = issues[0]?.message ?? "the filter is not valid"
      return Either.left(new PlatformRefused({ platform: id, reason, upstream: issues }))
    }

    const register = (text: string) =>
      Effect.gen(function* () {
        const rule = parse(text)
        if (Either.isLeft(rule)) return Either.left(rule.left)
        const platformRuleId = idOf(text)
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
        own.registered(text)
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
            own.unregistered(platformRuleId)
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
      })),
      drainCosts: Effect.sync(() =>
        rules.drainCosts().map(({ name, seconds }) => ({
          platformRuleId: name,
          text: textById.get(name) ?? "",
          seconds
        }))
      )
    }

    const matchShared: Matching = (event) => rules.matchInTurns(event, expressionOf, { isCharged: true })
    const sink: Sink = {
      matching: (sender) =>
        Effect.map(sender === undefined ? Effect.succeed(matchShared) : own.prepare(sender), (matching) => (event) => {
          lastEventAt = clock.unsafeCurrentTimeMillis()
          return matching(event)
        }),
      offer: (delivery) => Queue.offer(queue, delivery)
    }

    return { platform, sink }
  })
