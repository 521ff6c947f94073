import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, TestClock } from "effect"
import * as RuntimeEntropy from "../../../adapters/runtimes/entropy.ts"
import { layer as sqlStores } from "../../../adapters/sql/stores.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { Keys } from "../../../core/keys/Keys.ts"
import { MatchingLimits } from "../../../core/matching/MatchingLimits.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { type AccountId, Ids, type RuleId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import { LocalFeed, sentEvents } from "../../../core/platforms/LocalFeed.ts"
import { type MatchingCost, type Platform, Platforms } from "../../../core/platforms/Platform.ts"
import type { LimitStore } from "../../../core/quotas/LimitStore.ts"
import { Quotas } from "../../../core/quotas/Quotas.ts"
import { Pauses } from "../../../core/rules/Pauses.ts"
import { Registrations } from "../../../core/rules/Registrations.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { Rules } from "../../../core/rules/Rules.ts"
import { serviceOn } from "../../gateway/inProcess.ts"
import { oneOfSeveral } from "../../ownership.ts"
import { localPlatforms } from "../../platforms.ts"
import { earlyInMinute, NO_LIMITS } from "../../quotas.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { memoryLimits } from "../../stores/memoryLimits.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { postgresClient } from "../../stores.ts"
import { ann, bob, on } from "../world.ts"

/** Seconds per minute. */
const LIMIT = 6

describe("MatchingLimits", () => {
  it.scoped("pauses the dearest rules of an account beyond its limit, as few as necessary, and no others", () =>
    Effect.gen(function* () {
      const world = yield* newWorld
      const [dear, cheap] = [yield* world.create(ann, "dear"), yield* world.create(ann, "cheap")]
      const foreign = yield* world.create(bob, "foreign")
      yield* world.spend({ dear: 5, cheap: 0.5, foreign: 5 })
      assert.deepStrictEqual(yield* world.states, ["active", "active", "active"])
      yield* world.spend({ dear: 1, cheap: 0.1 })
      assert.deepStrictEqual(yield* world.states, ["paused", "active", "active"])
      const [rule] = (yield* (yield* Rules).list(ann, {})).rules.filter(({ id }) => id === dear)
      assert.match(
        rule?.platforms["firehose"]?.reason ?? "",
        /^paused: matching the rules of the account took 6.6 of 6 seconds in this minute; it is registered again at \S+\. Make the filter cheaper, .* or ask the operator to raise the limit "matching"$/
      )
      const [gap] = yield* world.gapsOf(ann, dear)
      assert.deepInclude(gap, { ruleId: dear, cause: "matching", to: Option.none() })
      assert.strictEqual(gap?.detail, rule?.platforms["firehose"]?.reason)
      assert.deepStrictEqual(yield* world.gapsOf(ann, cheap), [])
      assert.deepStrictEqual(yield* world.gapsOf(bob, foreign), [])
      assert.isFalse(yield* world.isHeld("dear"))

      // The rest of the minute: the other rules cost little.
      yield* world.spend({ cheap: 0.1, foreign: 0.1 })
      assert.deepStrictEqual(yield* world.states, ["paused", "active", "active"])
    }).pipe(Effect.provide(matching()))
  )

  it.scoped("ends a pause after ten minutes, and doubles the next one if the rule is as dear again", () =>
    Effect.gen(function* () {
      const world = yield* newWorld
      const dear = yield* world.create(ann, "dear")
      yield* world.create(bob, "foreign")
      const minutes = (count: number) => Effect.zipRight(TestClock.adjust(`${count} minutes`), world.enforce)
      yield* world.spend({ dear: 7 })
      yield* minutes(9)
      assert.deepStrictEqual(yield* world.states, ["paused", "active"])
      yield* minutes(1)
      assert.deepStrictEqual(yield* world.states, ["active", "active"])
      assert.isTrue(yield* world.isHeld("dear"))
      assert.isTrue(Option.isSome((yield* world.gapsOf(ann, dear))[0]?.to ?? Option.none()))
      yield* world.spend({ dear: 7 })
      yield* minutes(19)
      assert.deepStrictEqual(yield* world.states, ["paused", "active"])
      yield* minutes(1)
      assert.deepStrictEqual(yield* world.states, ["active", "active"])
    }).pipe(Effect.provide(matching()))
  )

  it.scoped(
    "ends a pause when the limit is raised, the filter changes, the rule is resumed or the others are gone",
    () =>
      Effect.gen(function* () {
        const world = yield* newWorld
        const rules = yield* Rules
        const dear = yield* world.create(ann, "dear")
        const foreign = yield* world.create(bob, "foreign")
        const pause = Effect.gen(function* () {
          yield* TestClock.adjust("1 minute")
          yield* world.spend({ dear: 7 })
          assert.deepStrictEqual(yield* world.states, ["paused", "active"])
          // In the present minute new filters are paused, too.
          yield* TestClock.adjust("1 minute")
        })
        yield* pause
        yield* rules.resume(ann, dear)
        assert.deepStrictEqual(yield* world.states, ["active", "active"])

        yield* pause
        yield* rules.update(ann, dear, { overrides: { firehose: "other" } })
        assert.deepStrictEqual(yield* world.states, ["active", "active"])
        yield* rules.update(ann, dear, { overrides: { firehose: "dear" } })

        yield* pause
        const { setLimit } = yield* Quotas
        yield* setLimit(ann, "matching", Option.some(LIMIT + 1))
        yield* world.enforce
        assert.deepStrictEqual(yield* world.states, ["active", "active"])
        yield* setLimit(ann, "matching", Option.none())

        yield* pause
        yield* rules.delete(bob, foreign)
        yield* world.enforce
        assert.deepStrictEqual(yield* world.states, ["active"])
      }).pipe(Effect.provide(matching()))
  )

  it.scoped("never pauses a rule of the only account with rules", () =>
    Effect.gen(function* () {
      const world = yield* newWorld
      yield* world.create(ann, "dear")
      yield* world.spend({ dear: 50 })
      assert.deepStrictEqual(yield* world.states, ["active"])
      yield* world.create(ann, "another")
      assert.deepStrictEqual(yield* world.states, ["active", "active"])
    }).pipe(Effect.provide(matching()))
  )

  it.scoped("pauses new rules of an account for the rest of the minute in which it is beyond its limit", () =>
    Effect.gen(function* () {
      const world = yield* newWorld
      yield* world.create(ann, "dear")
      yield* world.create(bob, "foreign")
      yield* TestClock.adjust("10 seconds")
      yield* world.spend({ dear: 7 })
      yield* world.create(ann, "new")
      yield* world.create(bob, "new too")
      assert.deepStrictEqual(yield* world.states, ["paused", "active", "paused", "active"])
      yield* TestClock.adjust("1 minute")
      yield* world.enforce
      assert.deepStrictEqual(yield* world.states, ["paused", "active", "active", "active"])
    }).pipe(Effect.provide(matching()))
  )

  it.scoped("a pause by the account replaces one by the limit, which comes back if it still applies", () =>
    Effect.gen(function* () {
      const world = yield* newWorld
      const { pause, resume } = yield* Rules
      const dear = yield* world.create(ann, "dear")
      yield* world.create(bob, "foreign")
      yield* TestClock.adjust("10 seconds")
      yield* world.spend({ dear: 7 })
      const byLimit = {
        platform_rule_id: "",
        translated_value: "dear",
        state: "paused",
        paused_by: "matching"
      } as const
      const byAccount = { ...byLimit, paused_by: "account" } as const
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* pause(ann, dear)).platforms, { firehose: byAccount })
      yield* TestClock.adjust("1 hour")
      yield* world.enforce
      assert.deepStrictEqual((yield* pause(ann, dear)).platforms, { firehose: byAccount })
      yield* world.spend({ foreign: 1 })
      yield* (yield* Quotas).spend(ann, "matching", 7)
      assert.deepInclude((yield* resume(ann, dear)).rule.platforms["firehose"], byLimit)
      const gaps = yield* world.gapsOf(ann, dear)
      assert.deepStrictEqual(
        gaps.map(({ cause }) => cause),
        ["matching", "paused", "matching"]
      )
    }).pipe(Effect.provide(matching()))
  )

  it.scoped("shares the cost of a text between its accounts, and keeps it for those that are not paused", () =>
    Effect.gen(function* () {
      const world = yield* newWorld
      yield* world.create(ann, "same")
      yield* world.create(bob, "same")
      yield* world.create(ann, "dear")
      const { used } = yield* Quotas
      yield* world.spend({ same: 4, dear: 5 })
      assert.strictEqual(yield* used(bob, "matching"), 2)
      assert.strictEqual(yield* used(ann, "matching"), 7)
      assert.deepStrictEqual(yield* world.states, ["paused", "active", "paused"])
      assert.isTrue(yield* world.isHeld("same"))
      assert.isFalse(yield* world.isHeld("dear"))
    }).pipe(Effect.provide(matching()))
  )

  it.scoped("drops a text that costs time although another server has paused its rules", () =>
    Effect.gen(function* () {
      const world = yield* newWorld
      const dear = yield* world.create(ann, "dear")
      const pause = { by: "matching" as const, reason: "paused", until: LATER, limit: 1 }
      yield* (yield* RuleStore).fail(dear, "firehose", { reason: "paused", lostSince: LATER, at: LATER, pause })
      assert.isTrue(yield* world.isHeld("dear"))
      yield* world.spend({ dear: 1 })
      assert.isFalse(yield* world.isHeld("dear"))
    }).pipe(Effect.provide(matching()))
  )

  it.scopedLive("adds up what servers on one Postgres spend, of which none alone is beyond the limit", () =>
    Effect.gen(function* () {
      const shared = Layer.succeedContext(yield* Layer.build(Layer.provide(sqlStores, postgresClient)))
      const newServer = Effect.gen(function* () {
        const context = yield* Layer.build(
          matching({ stores: shared, entropy: RuntimeEntropy.layer, ownership: oneOfSeveral })
        )
        return yield* Effect.provide(newWorld, context)
      })
      const [one, other] = [yield* newServer, yield* newServer]
      const { account } = yield* Effect.provide(
        Keys,
        Layer.provide(Keys.layer, Layer.mergeAll(shared, ids, RuntimeEntropy.layer))
      )
      const [dear, foreign] = [yield* account("dear"), yield* account("foreign")]
      yield* one.create(dear, "near")
      yield* other.create(dear, "far")
      yield* other.create(foreign, "foreign")
      yield* earlyInMinute
      yield* one.spend({ near: LIMIT - 1 })
      yield* other.spend({ far: LIMIT - 1, foreign: 0.1 })
      assert.deepStrictEqual(yield* one.states, ["active", "active", "active"])
      // Servers exchange their counters every second.
      const spendMore = Effect.all([one.spend({ near: 0.01 }), other.spend({ far: 0.01 })])
      const states = yield* Effect.repeat(Effect.zipRight(Effect.delay(spendMore, "500 millis"), one.states), {
        until: ([near, far]) => near === "paused" && far === "paused",
        times: 16
      })
      assert.deepStrictEqual(states, ["paused", "paused", "active"])
    })
  )

  it.scopedLive("charges the real work of shared events, and none of sent ones", () =>
    Effect.gen(function* () {
      const [rules, feed, keys, { used }] = [yield* Rules, yield* LocalFeed, yield* Keys, yield* Quotas]
      const [one, other] = [yield* keys.account("one"), yield* keys.account("other")]
      const fuzzy = `title:(${Array.from({ length: 50 }, (_, n) => `tesla${n}~2`).join(" OR ")})`
      yield* rules.create(one, on("firehose", fuzzy))
      yield* rules.create(other, on("firehose", "title:word"))
      const event = { document: { url: "https://example.com", title: "word ".repeat(500) } }
      const { enforce } = yield* MatchingLimits
      yield* feed.publish(sentEvents([event]), one)
      yield* enforce
      assert.strictEqual(yield* used(one, "matching"), 0)
      yield* feed.publish(sentEvents([event]))
      yield* enforce
      assert.isAbove(yield* used(one, "matching"), 10 * (yield* used(other, "matching")))
      assert.isAbove(yield* used(other, "matching"), 0)
    }).pipe(Effect.provide(serviceOn(localPlatforms())))
  )
})

// ---- helpers ----

const ids = Layer.provide(Ids.layer, RuntimeEntropy.layer)

const LATER = Timestamp.fromMillis(3_600_000)

/** What the platform says that matching has cost: seconds by text. */
class Pending extends Context.Tag("test/Pending")<Pending, Map<string, number>>() {}

interface Server {
  readonly stores: Layer.Layer<RuleStore | LimitStore>
  readonly entropy: Layer.Layer<Entropy>
  readonly ownership: Layer.Layer<never>
}

const alone: Server = {
  stores: Layer.merge(memoryRules, memoryLimits),
  entropy: Entropy.layerCounting,
  ownership: Layer.empty
}

/** The rule use cases, on a platform that reports costs that the test sets. */
const matching = ({ stores, entropy, ownership } = alone) => {
  const pending = new Map<string, number>()
  const costing = Layer.effect(
    Platforms,
    Effect.gen(function* () {
      const platforms = yield* Platforms
      const withCosts = (platform: Platform): Platform => ({
        ...platform,
        drainCosts: Effect.gen(function* () {
          const { rules } = yield* Effect.orDie(platform.inventory)
          const costs = rules.map(
            ({ platformRuleId, translatedValue: text }): MatchingCost => ({
              platformRuleId,
              text,
              seconds: pending.get(text) ?? 0
            })
          )
          pending.clear()
          return costs.filter(({ seconds }) => seconds > 0)
        })
      })
      const all = Effect.map(platforms.all, (known) =>
        known.map((platform) => (platform.id === "firehose" ? withCosts(platform) : platform))
      )
      return { ...platforms, all }
    })
  )
  const platforms = Layer.provideMerge(costing, localPlatforms())
  const quotas = Quotas.layerWith({ defaults: { ...NO_LIMITS, matching: LIMIT } })
  const recent = Layer.provide(RecentEvents.layerWith({ keep: 0 }), memoryEvents)
  return Rules.layer.pipe(
    Layer.provideMerge(MatchingLimits.layer),
    Layer.provide(Layer.succeed(Pauses, { pauseFor: () => Effect.succeedNone })),
    Layer.provideMerge(Registrations.layerWithChanges),
    Layer.provideMerge(quotas),
    Layer.provideMerge(platforms),
    Layer.provideMerge(Layer.mergeAll(stores, recent, Ids.layer, Layer.succeed(Pending, pending))),
    Layer.provideMerge(entropy),
    Layer.provideMerge(ownership)
  )
}

const newWorld = Effect.gen(function* () {
  const [rules, store, pending] = [yield* Rules, yield* RuleStore, yield* Pending]
  const { enforce } = yield* MatchingLimits
  const firehose = yield* (yield* Platforms).get("firehose")
  return {
    enforce,
    create: (account: AccountId, text: string) =>
      Effect.map(rules.create(account, on("firehose", text)), ({ id }) => id),
    /** Matching the texts costs this much, then the limits are enforced. */
    spend: (seconds: Readonly<Record<string, number>>) =>
      Effect.suspend(() => {
        for (const [text, spent] of Object.entries(seconds)) pending.set(text, spent)
        return enforce
      }),
    gapsOf: (account: AccountId, rule: RuleId) =>
      Effect.map(
        store.ruleCoverage({ account, rule: Option.some(rule), platforms: ["firehose"] }, 10),
        (watches) => watches.gaps
      ),
    /** Oldest rule first. */
    states: Effect.map(store.registrationsOn("firehose"), (all) => all.map(({ state }) => state)),
    isHeld: (text: string) =>
      Effect.map(firehose.inventory, (inventory) => inventory.rules.some((rule) => rule.translatedValue === text))
  }
})
