/** Whole months on a fake platform: the budget is not exceeded, and only the rules with the most posts are paused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, Option, Queue, type Scope, Stream } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { PostBudget } from "../../core/budget/PostBudget.ts"
import { Redactions } from "../../core/compliance/Redactions.ts"
import { Withdrawals } from "../../core/compliance/Withdrawals.ts"
import { makeCoverageOf } from "../../core/coverage/coverageOf.ts"
import { StreamStore } from "../../core/coverage/StreamStore.ts"
import * as Ingest from "../../core/ingest/Ingest.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { type AccountId, Ids, type RuleId } from "../../core/model/Ids.ts"
import { type Inventory, type Platform, Platforms, type Signal } from "../../core/platforms/Platform.ts"
import { Registrations } from "../../core/rules/Registrations.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { Rules } from "../../core/rules/Rules.ts"
import { Status } from "../../core/status/Status.ts"
import { ann, bob, FakePlatform } from "../core/world.ts"
import { quotas } from "../quotas.ts"
import { memoryStores } from "../stores/memoryStores.ts"
import { SimulatedClock, settle } from "./SimulatedClock.ts"

const NOVEMBER = Date.UTC(2026, 10)
const HOURS = 30 * 24

/** So many hours are left: what happens at the turn of the month needs no whole month before. */
const LAST_HOURS = 48
const END_OF_MONTH = NOVEMBER + (HOURS - LAST_HOURS) * 3_600_000
const reasonFor = (budget: number, state = "nearly used up") =>
  `paused: the monthly budget of ${budget} posts is ${state}; it is registered again on 2026-12-01`

describe("a month with a budget", () => {
  it.live("pauses the rule with the most posts, for all accounts, and begins again in the next month", () =>
    world({ budget: 5_300 }, (month) =>
      Effect.gen(function* () {
        const loud = yield* month.create(ann, "loud")
        const same = yield* month.create(bob, "loud")
        const other = yield* month.create(bob, "other")
        const quiet = yield* month.create(ann, "quiet")
        const rates = { loud: 8, other: 2, quiet: 1 }

        // 11 posts an hour are 80 % after 386 hours.
        yield* month.run(385, rates)
        assert.isUndefined((yield* month.status(Option.none())).budget?.warning)
        assert.sameMembers([...month.fake.texts], ["loud", "other", "quiet"])
        assert.deepStrictEqual(month.warnings, [])
        yield* month.run(1, rates)
        assert.sameMembers([...month.fake.texts], ["other", "quiet"])
        assert.deepStrictEqual(month.warnings, [
          'Platform "x" has delivered 80 % of the monthly budget of 5300 posts',
          'Paused 2 rules on "x" until 2026-12-01T00:00:00.000Z: the monthly budget of 5300 posts is nearly used up (80 %)'
        ])
        for (const [account, rule] of [
          [ann, loud],
          [bob, same]
        ] as const) {
          assert.deepInclude(yield* month.registration(account, rule), {
            state: "paused",
            paused_by: "budget",
            reason: reasonFor(5_300)
          })
          const [gap, ...more] = yield* month.gaps(account, rule)
          assert.deepInclude(gap, { rule_id: rule, cause: "budget", detail: reasonFor(5_300) })
          assert.isUndefined(gap?.to)
          assert.deepStrictEqual(more, [])
        }
        assert.deepInclude(yield* month.registration(ann, quiet), { state: "active" })
        assert.deepStrictEqual(yield* month.gaps(bob, other), [])

        const seen = yield* month.status(Option.some(ann))
        assert.include(seen.summary, "2 rules to watch for")
        assert.include(seen.summary, "80 % of the monthly budget of 5300 posts used, 2 rules paused")
        assert.deepInclude(seen.budget, { limit: 5_300, used_percent: 80, price_per_post: 0.005, paused: 2 })
        assert.strictEqual(seen.budget?.warning, "80 % of the monthly budget of 5300 posts used, 2 rules paused")
        const all = yield* month.status(Option.none())
        assert.strictEqual(all.budget?.used, month.posts.received)
        assert.deepStrictEqual(
          all.budget?.accounts?.map(({ account }) => account),
          [bob, ann],
          "the largest share first"
        )
        assert.strictEqual(seen.budget?.used, all.budget?.accounts?.[1]?.used, "an account sees its own share")
        assert.isUndefined(seen.budget?.accounts)
        assert.strictEqual(all.budget?.cost, Number((month.posts.received * 0.005).toFixed(6)))

        yield* month.run(HOURS - 387, rates)
        assert.sameMembers([...month.fake.texts], ["other", "quiet"], "until the end of the month")
        assert.isAtMost(month.posts.received, 5_300)
        assert.isAtLeast(month.posts.received, 5_200, "not more rules than necessary")

        yield* month.run(2, rates)
        assert.sameMembers([...month.fake.texts], ["loud", "other", "quiet"])
        assert.deepInclude(yield* month.registration(bob, same), { state: "active" })
        const [ended] = yield* month.gaps(bob, same)
        assert.match(String(ended?.to), /^2026-12-01T0[01]/)
        assert.isBelow((yield* month.status(Option.none())).budget?.used ?? 0, 60)
      })
    )
  )

  it.live("pauses a rule that becomes loud shortly before the budget is used up", () =>
    world({ budget: 745 }, (month) =>
      Effect.gen(function* () {
        yield* month.create(ann, "steady")
        const sudden = yield* month.create(bob, "sudden")
        yield* month.run(709, { steady: 1 })
        assert.deepStrictEqual(month.warnings.length, 1, "95 % are used, and the rest of the month fits")
        yield* month.run(1, { steady: 1, sudden: 20 })
        assert.sameMembers([...month.fake.texts], ["steady"])
        assert.deepInclude(yield* month.registration(bob, sudden), {
          state: "paused",
          paused_by: "budget",
          reason: reasonFor(745)
        })
        yield* month.run(9, { steady: 1, sudden: 20 })
        assert.isAtMost(month.posts.received, 745)
      })
    )
  )

  it.live("pauses all rules when the budget is used up, and new ones, too", () =>
    world({ budget: 100 }, (month) =>
      Effect.gen(function* () {
        const loud = yield* month.create(ann, "loud")
        yield* month.create(ann, "quiet")
        yield* month.publish("loud", 100)
        yield* month.enforce
        assert.deepStrictEqual(month.fake.texts, [])
        assert.deepInclude(yield* month.registration(ann, loud), { reason: reasonFor(100, "used up") })
        const { calls } = month.fake
        const late = yield* month.create(bob, "loud")
        yield* month.create(bob, "new")
        assert.strictEqual(month.fake.calls, calls, "the platform never gets them")
        assert.deepInclude(yield* month.registration(bob, late), {
          state: "paused",
          paused_by: "budget",
          reason: reasonFor(100, "used up")
        })
        const { rules, stream, budget } = yield* month.status(Option.some(bob))
        assert.deepStrictEqual([rules.wanted, stream.state, budget?.paused, budget?.used], [0, "live", 4, 0])
        yield* month.run(1, {})
        yield* month.close
        yield* month.run(1, {})
        assert.deepInclude((yield* month.status(Option.none())).coverage.gaps[0], { cause: "budget" })
      })
    )
  )

  it.live("a new rule whose filter is paused says so, and is registered with the next month", () =>
    world({ budget: 100, start: END_OF_MONTH }, (month) =>
      Effect.gen(function* () {
        yield* month.create(ann, "loud")
        yield* month.publish("loud", 85)
        yield* month.enforce
        const { id, platforms, warnings } = yield* month.createWhole(bob, "(loud)")
        assert.deepStrictEqual(month.fake.texts, [])
        assert.deepStrictEqual(platforms.get("x"), { platformRuleId: "", translatedValue: "loud" })
        const message = `The rule is ${reasonFor(100)}`
        assert.deepInclude(warnings.get("x")?.at(-1), {
          severity: "warning",
          code: "paused",
          span: { start: 0, end: 6 },
          message
        })
        const [gap, ...more] = yield* month.gaps(bob, id)
        assert.deepInclude(gap, { rule_id: id, cause: "budget", detail: reasonFor(100) })
        assert.deepStrictEqual(more, [])
        const other = yield* month.createWhole(bob, "quiet")
        assert.deepStrictEqual([month.fake.texts, other.warnings.get("x")], [["quiet"], []])

        yield* month.run(LAST_HOURS, {})
        assert.sameMembers([...month.fake.texts], ["loud", "quiet"])
        assert.deepInclude(yield* month.registration(bob, id), { state: "active" })
      })
    )
  )

  it.live("counts what the platform reports if it is more, but not of an earlier month", () =>
    world({ budget: 1_000, start: END_OF_MONTH }, (month) =>
      Effect.gen(function* () {
        yield* month.create(ann, "loud")
        yield* month.publish("loud", 10)
        month.fake.usage = { at: END_OF_MONTH, used: 5_000, limit: 9_000, month: { start: NOVEMBER, used: 990 } }
        yield* month.run(2, { loud: 10 })
        assert.deepStrictEqual(month.fake.texts, [])
        assert.deepInclude((yield* month.status(Option.none())).budget, { used: 990, used_percent: 99 })
        assert.deepStrictEqual((yield* month.status(Option.none())).usage, {
          used: 5_000,
          limit: 9_000,
          reported_at: "2026-11-29T00:00:00.000Z"
        })
        month.fake.usage = undefined
        yield* month.run(1, {})
        assert.deepInclude((yield* month.status(Option.none())).budget, { used: 990 }, "it does not say now")
        month.fake.usage = { at: END_OF_MONTH, used: 5_000, limit: 9_000, month: { start: NOVEMBER, used: 999 } }
        yield* month.run(LAST_HOURS, { loud: 1 })
        assert.deepStrictEqual(month.fake.texts, ["loud"])
      })
    )
  )

  it.live("registers paused rules again when the operator raises the budget, but not before", () =>
    world({ budget: 100 }, (month) =>
      Effect.gen(function* () {
        yield* month.create(ann, "loud")
        yield* month.publish("loud", 100)
        yield* month.run(2, { loud: 20 })
        assert.deepStrictEqual(month.fake.texts, [])
        month.fake.budget = 150
        yield* month.run(1, {})
        assert.deepStrictEqual(month.fake.texts, ["loud"])
        yield* month.publish("loud", 50)
        yield* month.run(2, { loud: 20 })
        assert.deepStrictEqual(month.fake.texts, [])
        month.fake.budget = 0
        yield* month.run(1, {})
        assert.deepStrictEqual(month.fake.texts, ["loud"], "without a budget")
      })
    )
  )

  it.live("removes a paused rule from the platform later if the platform is away", () =>
    world({ budget: 100 }, (month) =>
      Effect.gen(function* () {
        yield* month.create(ann, "loud")
        yield* month.publish("loud", 100)
        month.fake.state = "away"
        yield* month.enforce
        assert.deepStrictEqual(month.fake.texts, ["loud"])
        month.fake.state = "up"
        yield* month.run(1, {})
        assert.deepStrictEqual(month.fake.texts, [])
      })
    )
  )

  it.live("counts a post once, for the platform and for an account, however many rules it meets", () =>
    world({ budget: 1_000 }, (month) =>
      Effect.gen(function* () {
        yield* month.create(ann, "storm")
        yield* month.create(ann, "storm OR rain")
        yield* month.create(bob, "storm")
        yield* month.deliver("1", ["storm", "storm OR rain"])
        yield* month.deliver("2", ["storm OR rain"])
        yield* month.deliver("1", ["storm", "storm OR rain"])
        const { budget } = yield* month.status(Option.none())
        assert.deepInclude(budget, { used: 2, cost: 0.01 })
        assert.deepStrictEqual(
          budget?.accounts?.map(({ account, used }) => [account, used]),
          [
            [ann, 2],
            [bob, 1]
          ]
        )
      })
    )
  )
})

// ---- helpers ----

/** Its budget and what it reports can be changed. */
class CountingPlatform extends FakePlatform {
  budget: number
  usage: Option.Option.Value<Inventory["usage"]> | undefined
  readonly signals: Queue.Queue<Signal>

  constructor(budget: number, signals: Queue.Queue<Signal>) {
    super("x", Option.none())
    this.budget = budget
    this.signals = signals
  }

  withBudget(): Platform {
    const { platform } = this
    const monthlyBudget = () => this.budget
    return {
      ...platform,
      // No heartbeats, which would be most of the work of a month.
      capabilities: {
        ...platform.capabilities,
        sendsAlive: true,
        pricePerEvent: 0.005,
        get monthlyBudget() {
          return monthlyBudget()
        }
      },
      inventory: Effect.map(platform.inventory, (found) => ({ ...found, usage: Option.fromNullable(this.usage) })),
      watch: () => Stream.fromQueue(this.signals)
    }
  }
}

const layer = Layer.mergeAll(Rules.layer, Status.layer, Withdrawals.layer).pipe(
  Layer.provideMerge(Redactions.layer),
  Layer.provideMerge(PostBudget.layer),
  Layer.provideMerge(Registrations.layerWithChanges),
  Layer.provideMerge(quotas()),
  Layer.provideMerge(Platforms.layer),
  Layer.provideMerge(RecentEvents.layerWith({ keep: 0 })),
  Layer.provideMerge(memoryStores),
  Layer.provideMerge(Layer.provideMerge(Ids.layer, Entropy.layerCounting))
)

type Month = Effect.Effect.Success<ReturnType<typeof monthOn>>

/** Every test has its own month, which begins with the platform open. */
function world(
  { budget, start = NOVEMBER }: { readonly budget: number; readonly start?: number },
  body: (month: Month) => Effect.Effect<void, unknown, Scope.Scope>
) {
  return Effect.suspend(() => {
    const clock = new SimulatedClock(start)
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (LogLevel.greaterThanEqual(logLevel, LogLevel.Warning)) warnings.push(String(message))
    })
    return Effect.flatMap(monthOn(clock, { budget, warnings }), body).pipe(
      Effect.scoped,
      Effect.provide(layer),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      clock.run
    )
  })
}

function monthOn(
  clock: SimulatedClock,
  { budget: limit, warnings }: { readonly budget: number; readonly warnings: ReadonlyArray<string> }
) {
  return Effect.gen(function* () {
    const rules = yield* Rules
    const store = yield* RuleStore
    const streams = yield* StreamStore
    const { reconcile } = yield* Registrations
    const { enforce } = yield* PostBudget
    const { platforms } = yield* Status
    const fake = new CountingPlatform(limit, yield* Queue.unbounded<Signal>())
    const registry = yield* Platforms
    yield* registry.register(fake.withBudget())
    yield* Layer.build(Ingest.layer)
    const send = (signal: Signal) => Effect.zipRight(Queue.offer(fake.signals, signal), settle)
    const now = () => clock.unsafeCurrentTimeMillis()
    yield* send({ _tag: "Watching", at: now(), since: now() })
    const posts = { received: 0 }

    /** A post that meets the rules with these texts. */
    const deliver = (id: string, texts: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const platformRuleIds = texts.flatMap((text) => fake.idOf(text) ?? [])
        if (platformRuleIds.length === 0) return
        posts.received++
        const delivery = { platformPostId: id, payload: {}, platformRuleIds, receivedAt: now() }
        yield* Queue.offer(fake.signals, {
          _tag: "Event",
          delivery: { ...delivery, cursor: Option.none(), ack: Effect.void }
        })
      })

    const publish = (text: string, count: number) =>
      Effect.gen(function* () {
        for (let i = 0; i < count; i++) yield* deliver(`${now()} ${text} ${i}`, [text])
        yield* settle
      })

    /** The service compares the rules and checks the budget once an hour, instead of every few minutes. */
    const run = (hours: number, perHour: Readonly<Record<string, number>>) =>
      Effect.gen(function* () {
        for (let hour = 0; hour < hours; hour++) {
          for (const [text, count] of Object.entries(perHour)) yield* publish(text, count)
          yield* clock.advance(3_600)
          yield* enforce
          yield* reconcile
        }
      })

    const create = (account: AccountId, text: string) =>
      rules.create(account, { name: text, intent: text, platforms: ["x"], overrides: { x: text } })

    return {
      fake,
      posts,
      warnings,
      publish,
      run,
      enforce,
      deliver: (id: string, texts: ReadonlyArray<string>) => Effect.zipRight(deliver(id, texts), settle),
      close: Effect.suspend(() => send({ _tag: "GapStarted", at: now(), cause: "no_rules", detail: "No rules" })),
      create: (account: AccountId, text: string) => Effect.map(create(account, text), ({ id }) => id),
      createWhole: create,
      registration: (account: AccountId, id: RuleId) =>
        Effect.map(rules.list(account, {}), ({ rules }) => rules.find((rule) => rule.id === id)?.platforms["x"]),
      gaps: (account: AccountId, id: RuleId) =>
        Effect.map(
          makeCoverageOf({ streams, rules: store })({ account, rule: Option.some(id), platforms: ["x"] }),
          (coverageIn) => coverageIn({ from: Option.none(), to: now() + 1 }).platforms[0]?.gaps ?? []
        ),
      status: (viewer: Option.Option<AccountId>) => Effect.flatMap(platforms(viewer), ([x]) => Effect.fromNullable(x))
    }
  })
}
