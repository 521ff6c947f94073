/** Registrations: store and platforms come to agree again, whatever happened to either. */
import { assert, describe } from "@effect/vitest"
import { Effect, Either, Exit, Fiber, Option, Stream, TestClock } from "effect"
import { fromUuid } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import type { RuleStore } from "../../../core/rules/RuleStore.ts"
import { ann, bob, both, on, test } from "../world.ts"

/** As far as a process gets that dies right after it has reserved the rule. */
const reserved = (store: typeof RuleStore.Service, text: string) =>
  Effect.gen(function* () {
    const id = fromUuid("rule", "01890000-0000-7000-8000-000000000001")
    const createdAt = yield* Timestamp.now
    const filters = [{ platform: "x", text } as const, { platform: "firehose", text } as const]
    yield* store.reserve({ id, accountId: ann, name: "n", intent: "i", createdAt, filters }, new Map())
    return id
  })

describe("Registrations.reconcile undoes and finishes", () => {
  test("a rule that a crash left pending is undone once it is older than a minute", ({ registrations, x, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      yield* TestClock.adjust("60 seconds")
      yield* registrations.reconcile
      assert.lengthOf(yield* store.registrationsOn("x"), 1, "it may still be in the making")
      yield* TestClock.adjust("1 seconds")
      yield* registrations.reconcile
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
      assert.deepStrictEqual(yield* store.registrationsOn("firehose"), [])
      assert.deepStrictEqual(x.texts, [])
    }))

  test(
    "on a store of its own it is undone at once",
    ({ registrations, store }) =>
      Effect.gen(function* () {
        yield* reserved(store, "word")
        yield* registrations.reconcile
        assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
      }),
    { isAlone: true }
  )

  test("what was registered before the crash is taken back from the platforms", ({
    registrations,
    x,
    firehose,
    store
  }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      x.put("word", true)
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, ["word"], "it may still be in the making")
      yield* TestClock.adjust("61 seconds")
      yield* registrations.reconcile
      assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
    }))

  test("the text that a crashed rule shared with others stays", ({ registrations, rules, x, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      const { id } = yield* rules.create(bob, on("x", "word"))
      yield* TestClock.adjust("61 seconds")
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, ["word"])
      assert.deepStrictEqual(
        (yield* rules.list(bob)).map((rule) => rule.id),
        [id]
      )
    }))

  test("a removal that a crash cut off is finished", ({ registrations, rules, x, firehose, store }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, both("word"))
      yield* store.hide(ann, id, yield* Timestamp.now)
      yield* TestClock.adjust("61 seconds")
      yield* registrations.reconcile
      assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
      assert.deepStrictEqual(yield* store.registrationsOn("firehose"), [])
    }))

  test("a deletion that the platform was away for is made up", ({ registrations, rules, x, store }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, on("x", "word"))
      x.state = "away"
      yield* rules.delete(ann, id)
      assert.deepStrictEqual(yield* rules.list(ann), [])
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
      assert.deepStrictEqual(x.texts, ["word"])
      x.state = "up"
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, [])
    }))
})

describe("Registrations.reconcile mends the platform", () => {
  test("what it forgot is registered again, and the rule has the id that it has there now", ({
    registrations,
    rules,
    x
  }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      yield* rules.create(bob, on("x", "word"))
      x.held.clear()
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, ["word"])
      for (const account of [ann, bob]) {
        const [rule] = yield* rules.list(account)
        assert.strictEqual(rule?.platforms["x"]?.platform_rule_id, x.idOf("word"))
        assert.strictEqual(rule?.platforms["x"]?.state, "active")
      }
    }))

  test("it tells since when rules may have been missing there, and nothing when none were", ({
    registrations,
    rules,
    x
  }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      x.held.clear()
      yield* registrations.reconcile
      yield* TestClock.adjust("1 minutes")
      yield* registrations.reconcile
      yield* TestClock.adjust("1 minutes")
      x.held.clear()
      yield* registrations.reconcile
      const first = Option.getOrThrow(yield* Stream.runHead(registrations.drops("x")))
      assert.deepStrictEqual(first, { from: 60_000, to: 120_000 }, "of the first comparison nothing is known")
    }))

  test("recheck compares at once, and not again within half a minute", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hours")
      yield* rules.create(ann, on("x", "word"))
      x.held.clear()
      yield* registrations.recheck("x")
      assert.deepStrictEqual(x.texts, ["word"])
      x.held.clear()
      yield* registrations.recheck("x")
      assert.deepStrictEqual(x.texts, [])
      yield* TestClock.adjust("30 seconds")
      yield* registrations.recheck("x")
      assert.deepStrictEqual(x.texts, ["word"])
    }))

  test("what it does not take again has failed, says why, and comes back when it is taken", ({
    registrations,
    rules,
    x
  }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      x.held.clear()
      x.state = "refused"
      yield* registrations.reconcile
      const [failed] = yield* rules.list(ann)
      assert.strictEqual(failed?.platforms["x"]?.state, "failed")
      assert.match(failed?.platforms["x"]?.reason ?? "", /refused the rule: no/)
      assert.deepInclude((yield* registrations.standing("x")).comparison.pipe(Option.getOrThrow), {
        missing: 1
      })
      x.state = "up"
      yield* registrations.reconcile
      const [back] = yield* rules.list(ann)
      assert.deepStrictEqual([back?.platforms["x"]?.state, back?.platforms["x"]?.reason], ["active", undefined])
      x.state = "refused"
      x.held.clear()
      yield* registrations.reconcile
      assert.isString(yield* rules.delete(ann, back?.id ?? ""), "a failed rule can be deleted")
    }))

  test("our orphans go, before what is missing comes, and foreign rules stay", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      x.held.clear()
      x.put("orphan", true)
      const foreign = x.put("foreign", false)
      x.limit = 2
      yield* registrations.reconcile
      assert.sameMembers([...x.texts], ["foreign", "word"])
      assert.isTrue(x.held.has(foreign))
      assert.deepInclude((yield* registrations.standing("x")).comparison.pipe(Option.getOrThrow), {
        missing: 0,
        orphaned: 0,
        foreign: 1
      })
    }))

  test("of two rules of ours with one text the one that nobody refers to goes", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      const created = yield* rules.create(ann, on("x", "word"))
      x.put("word", true)
      yield* registrations.reconcile
      assert.deepStrictEqual([...x.held.keys()], [created.platforms.get("x")?.platformRuleId])
    }))

  test("a foreign rule with the text of ours is shared, and outlives it", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      const foreign = x.put("word", false)
      const created = yield* rules.create(ann, on("x", "word"))
      assert.strictEqual(created.platforms.get("x")?.platformRuleId, foreign)
      yield* registrations.reconcile
      assert.strictEqual((yield* rules.list(ann))[0]?.platforms["x"]?.platform_rule_id, foreign)
      yield* rules.delete(ann, created.id)
      yield* registrations.reconcile
      assert.deepStrictEqual([...x.held.keys()], [foreign])
    }))

  test("a rule of ours that someone changed there is made anew", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      const created = yield* rules.create(ann, on("x", "word"))
      const platformRuleId = created.platforms.get("x")?.platformRuleId ?? ""
      x.held.set(platformRuleId, { platformRuleId, translatedValue: "changed", isOurs: true })
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, ["word"])
    }))

  test("nothing changes when all is well", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      const [before, calls] = [yield* rules.list(ann), x.calls]
      yield* TestClock.adjust("1 hour")
      yield* registrations.reconcile
      assert.deepStrictEqual(yield* rules.list(ann), before)
      assert.strictEqual(x.calls, calls, "nothing is registered again")
    }))

  test("a platform that is away changes nothing, is told of, and does not hold up the other", ({
    registrations,
    rules,
    x,
    firehose
  }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, both("word"))
      x.state = "away"
      firehose.held.clear()
      yield* registrations.reconcile
      assert.deepStrictEqual(firehose.texts, ["word"])
      const standing = yield* registrations.standing("x")
      assert.match(standing.error.pipe(Option.getOrThrow).message, /is not available: away/)
      x.state = "up"
      yield* registrations.reconcile
      assert.isTrue(Option.isNone((yield* registrations.standing("x")).error))
    }))
})

describe("Registrations.add", () => {
  test("goes on to its end when its caller leaves", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      const creating = yield* Effect.fork(rules.create(ann, both("word")))
      while (x.calls === 0) yield* Effect.yieldNow()
      const exit = yield* Fiber.interrupt(creating)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.deepStrictEqual([...x.texts, ...firehose.texts], ["word", "word"])
      assert.lengthOf(yield* rules.list(ann), 1)
    }))

  test("takes nothing back that was there before", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      x.put("word", false)
      firehose.state = "refused"
      assert.isTrue(Either.isLeft(yield* Effect.either(rules.create(ann, both("word")))))
      assert.deepStrictEqual(x.texts, ["word"])
    }))
})
