/** Registrations: reconcile after crashes, outages and changes on the platform. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, FiberId, Option, TestClock } from "effect"
import { fromUuid, type RuleId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import type { RuleStore } from "../../../core/rules/RuleStore.ts"
import { newRule, noLimits } from "../../contract/samples.ts"
import { ann, bob, both, on, test } from "../world.ts"

/** Simulates a crash right after the rule was reserved. */
const reserved = (store: typeof RuleStore.Service, text: string) =>
  Effect.gen(function* () {
    const id = fromUuid("rule", "01890000-0000-7000-8000-000000000001")
    const createdAt = yield* Timestamp.now
    const filters = [{ platform: "x", text } as const, { platform: "firehose", text } as const]
    yield* store.reserve(newRule(ann, { id, createdAt, filters }), noLimits)
    return id
  })

describe("Registrations.reconcile after a crash", () => {
  test(
    "rolls back a pending rule after two minutes",
    ({ registrations, x, store }) =>
      Effect.gen(function* () {
        yield* reserved(store, "word")
        yield* TestClock.adjust("120 seconds")
        yield* registrations.reconcile
        assert.lengthOf(yield* store.registrationsOn("x"), 1, "it may still be in progress")
        yield* TestClock.adjust("1 seconds")
        yield* registrations.reconcile
        assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
        assert.deepStrictEqual(yield* store.registrationsOn("firehose"), [])
        assert.deepStrictEqual(x.texts, [])
      }),
    { isAlone: false }
  )

  test("rolls back a pending rule at once if the process is alone", ({ registrations, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      yield* registrations.reconcile
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
    }))

  test(
    "removes registrations of an abandoned rule from the platforms",
    ({ registrations, x, firehose, store }) =>
      Effect.gen(function* () {
        yield* reserved(store, "word")
        x.put("word", true)
        yield* registrations.reconcile
        assert.deepStrictEqual(x.texts, ["word"], "it may still be in progress")
        yield* TestClock.adjust("121 seconds")
        yield* registrations.reconcile
        assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
      }),
    { isAlone: false }
  )

  test("keeps a text that an abandoned rule shares with others", ({ registrations, rules, x, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      const { id } = yield* rules.create(bob, on("x", "word"))
      yield* TestClock.adjust("121 seconds")
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, ["word"])
      assert.deepStrictEqual(
        (yield* rules.list(bob, {})).rules.map((rule) => rule.id),
        [id]
      )
    }))

  test("finishes an abandoned removal", ({ registrations, rules, x, firehose, store }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, both("word"))
      yield* store.hide(ann, id, yield* Timestamp.now)
      yield* TestClock.adjust("121 seconds")
      yield* registrations.reconcile
      assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
      assert.deepStrictEqual(yield* store.registrationsOn("firehose"), [])
    }))

  test("removes a rule that was deleted while the platform was down", ({ registrations, rules, x, store }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, on("x", "word"))
      x.state = "away"
      yield* rules.delete(ann, id)
      assert.deepStrictEqual((yield* rules.list(ann, {})).rules, [])
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
      assert.deepStrictEqual(x.texts, ["word"])
      x.state = "up"
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, [])
    }))
})

describe("Registrations.reconcile fixes the platform", () => {
  test("registers a lost rule again and stores its new platform id", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      yield* rules.create(bob, on("x", "word"))
      x.held.clear()
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, ["word"])
      for (const account of [ann, bob]) {
        const [rule] = (yield* rules.list(account, {})).rules
        assert.strictEqual(rule?.platforms["x"]?.platform_rule_id, x.idOf("word"))
        assert.strictEqual(rule?.platforms["x"]?.state, "active")
      }
    }))

  test("adds a gap to each lost rule, from the last comparison on", ({ registrations, rules, x, store }) =>
    Effect.gen(function* () {
      const gapsOf = (id: RuleId, account = ann) =>
        Effect.map(store.ruleCoverage({ account, rule: Option.some(id), platforms: ["x"] }, 10), ({ gaps }) =>
          gaps.map(({ from, to, cause }) => [from, Option.getOrNull(to), cause])
        )
      const { id: lost } = yield* rules.create(ann, on("x", "word"))
      const { id: kept } = yield* rules.create(bob, on("x", "other"))
      yield* TestClock.adjust("1 minutes")
      yield* registrations.reconcile
      yield* TestClock.adjust("1 minutes")
      const { id: late } = yield* rules.create(ann, on("x", "late"))
      yield* TestClock.adjust("1 minutes")
      for (const text of ["word", "late"]) x.held.delete(x.idOf(text) ?? "")
      yield* registrations.reconcile
      const minute = (minutes: number) => Timestamp.fromMillis(minutes * 60_000)
      assert.deepStrictEqual(yield* gapsOf(lost), [[minute(1), minute(3), "rules_dropped"]])
      assert.deepStrictEqual(yield* gapsOf(late), [[minute(2), minute(3), "rules_dropped"]], "since it was registered")
      assert.deepStrictEqual(yield* gapsOf(kept, bob), [])
    }))

  test("ends the failure of a rule whose text the platform holds for another one", ({
    registrations,
    rules,
    x,
    store
  }) =>
    Effect.gen(function* () {
      const { id: failed } = yield* rules.create(ann, on("x", "word"))
      yield* rules.create(bob, on("x", "word"))
      const at = yield* Timestamp.now
      yield* store.fail(failed, "x", { reason: "for now", lostSince: at, at })
      yield* TestClock.adjust("1 minutes")
      yield* registrations.reconcile
      const [rule] = (yield* rules.list(ann, {})).rules
      assert.strictEqual(rule?.platforms["x"]?.state, "active")
      const { gaps } = yield* store.ruleCoverage({ account: ann, rule: Option.some(failed), platforms: ["x"] }, 10)
      assert.deepStrictEqual(
        gaps.map(({ to }) => Option.isSome(to)),
        [true]
      )
      assert.deepStrictEqual(x.texts, ["word"])
    }))

  test("recheck compares at once, or as soon as 30 seconds have passed", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hours")
      yield* rules.create(ann, on("x", "word"))
      x.held.clear()
      yield* registrations.recheck("x")
      assert.deepStrictEqual(x.texts, ["word"])
      x.held.clear()
      const deferred = yield* Effect.fork(registrations.recheck("x"))
      yield* TestClock.adjust("29 seconds")
      assert.deepStrictEqual(x.texts, [])
      yield* registrations.recheck("x")
      assert.deepStrictEqual(x.texts, [], "one comparison waits already")
      yield* TestClock.adjust("1 seconds")
      yield* deferred
      assert.deepStrictEqual(x.texts, ["word"])
    }))

  test("marks a rejected rule as failed with a reason, and restores it when it is accepted", ({
    registrations,
    rules,
    x
  }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      x.held.clear()
      x.state = "refused"
      yield* registrations.reconcile
      const [failed] = (yield* rules.list(ann, {})).rules
      assert.strictEqual(failed?.platforms["x"]?.state, "failed")
      assert.match(failed?.platforms["x"]?.reason ?? "", /rejected the filter: no/)
      yield* TestClock.adjust("1 minute")
      yield* registrations.reconcile
      const { missing, missingSince } = Option.getOrThrow((yield* registrations.syncStatus("x")).comparison)
      assert.deepStrictEqual([missing, Option.getOrNull(missingSince)], [1, failed?.platforms["x"]?.failed_since])
      x.state = "up"
      yield* registrations.reconcile
      const [back] = (yield* rules.list(ann, {})).rules
      assert.deepStrictEqual([back?.platforms["x"]?.state, back?.platforms["x"]?.reason], ["active", undefined])
      x.state = "refused"
      x.held.clear()
      yield* registrations.reconcile
      assert.isString(yield* rules.delete(ann, back?.id ?? ""), "a failed rule can be deleted")
    }))

  test("removes orphans before it registers missing rules, and keeps foreign rules", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      x.held.clear()
      x.put("orphan", true)
      const foreign = x.put("foreign", false)
      x.limit = 2
      yield* registrations.reconcile
      assert.sameMembers([...x.texts], ["foreign", "word"])
      assert.isTrue(x.held.has(foreign))
      assert.deepInclude((yield* registrations.syncStatus("x")).comparison.pipe(Option.getOrThrow), {
        missing: 0,
        orphaned: 0,
        foreign: 1
      })
    }))

  test("removes the unused one of two rules with the same text", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      const created = yield* rules.create(ann, on("x", "word"))
      x.put("word", true)
      yield* registrations.reconcile
      assert.deepStrictEqual([...x.held.keys()], [created.platforms.get("x")?.platformRuleId])
    }))

  test("shares a foreign rule with the same text, and never removes it", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      const foreign = x.put("word", false)
      const created = yield* rules.create(ann, on("x", "word"))
      assert.strictEqual(created.platforms.get("x")?.platformRuleId, foreign)
      yield* registrations.reconcile
      assert.strictEqual((yield* rules.list(ann, {})).rules[0]?.platforms["x"]?.platform_rule_id, foreign)
      yield* rules.delete(ann, created.id)
      yield* registrations.reconcile
      assert.deepStrictEqual([...x.held.keys()], [foreign])
    }))

  test("replaces a rule that was changed on the platform", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      const created = yield* rules.create(ann, on("x", "word"))
      const platformRuleId = created.platforms.get("x")?.platformRuleId ?? ""
      x.held.set(platformRuleId, { platformRuleId, translatedValue: "changed", isOurs: true })
      yield* registrations.reconcile
      assert.deepStrictEqual(x.texts, ["word"])
    }))

  test("changes nothing if store and platform agree", ({ registrations, rules, x }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      const [before, calls] = [(yield* rules.list(ann, {})).rules, x.calls]
      yield* TestClock.adjust("1 hour")
      yield* registrations.reconcile
      assert.deepStrictEqual((yield* rules.list(ann, {})).rules, before)
      assert.strictEqual(x.calls, calls, "registers nothing again")
    }))

  test("an unavailable platform changes nothing, is reported, and does not delay the other", ({
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
      const standing = yield* registrations.syncStatus("x")
      assert.match(standing.error.pipe(Option.getOrThrow).message, /is not available: away/)
      x.state = "up"
      yield* registrations.reconcile
      assert.isTrue(Option.isNone((yield* registrations.syncStatus("x")).error))
    }))
})

describe("Registrations.add", () => {
  test("completes after its caller is interrupted", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      const isReady = yield* Deferred.make<void>()
      x.isReady = Deferred.await(isReady)
      const creating = yield* Effect.fork(rules.create(ann, both("word")))
      while (x.calls === 0) yield* Effect.yieldNow()
      yield* Fiber.interruptAsFork(creating, FiberId.none)
      yield* Deferred.succeed(isReady, undefined)
      const exit = yield* Fiber.await(creating)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.deepStrictEqual([...x.texts, ...firehose.texts], ["word", "word"])
      assert.lengthOf((yield* rules.list(ann, {})).rules, 1)
    }))

  test("rolls back only what it registered", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      x.put("word", false)
      firehose.state = "refused"
      assert.isTrue(Either.isLeft(yield* Effect.either(rules.create(ann, both("word")))))
      assert.deepStrictEqual(x.texts, ["word"])
    }))
})
