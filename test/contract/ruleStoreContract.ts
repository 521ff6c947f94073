/** The contract of `RuleStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, Either, type Layer, Option } from "effect"
import { v7 } from "uuid"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { fromUuid, type RuleId } from "../../core/model/Ids.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { at, FIRST_RULES, newAccount, newMatch, newRule, noLimits, registeredOf, sent, visibleRule } from "./samples.ts"

export const ruleStoreContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`RuleStore on ${name}`, (it) => {
    it.effect("reserve stores every registration as pending, and the rule stays invisible", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = newRule(account)
        yield* rules.reserve(rule, noLimits)
        const stored = yield* rules.registrations(rule.id)
        assert.sameDeepMembers(
          stored.map(({ ruleId, platform, text, state, since }) => ({ ruleId, platform, text, state, since })),
          rule.filters.map((filter) => ({
            ...filter,
            ruleId: rule.id,
            state: "pending" as const,
            since: rule.createdAt
          }))
        )
        assert.isTrue(stored.every(({ platformRuleId }) => Option.isNone(platformRuleId)))
        assert.deepStrictEqual(yield* rules.list(account, FIRST_RULES), [])
        assert.isFalse(yield* rules.exists(account, rule.id))
        assert.isFalse(yield* rules.hide(account, rule.id, at(5)))
      })
    )

    it.effect("activate makes the rule visible with its platform rule ids and texts", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account, {
          name: "Ünïcode 🐈 'quoted' \"twice\"",
          intent: "$1; drop table rules"
        })
        assert.deepStrictEqual(yield* rules.list(account, FIRST_RULES), [
          {
            id: rule.id,
            name: rule.name,
            intent: rule.intent,
            platforms: Object.fromEntries(
              [...registeredOf(rule)].map(([platform, { platformRuleId, translatedValue }]) => [
                platform,
                { platform_rule_id: platformRuleId, translated_value: translatedValue, state: "active" as const }
              ])
            ),
            created_at: rule.createdAt,
            version: 1
          }
        ])
        assert.isTrue(yield* rules.exists(account, rule.id))
        const stored = yield* rules.registrations(rule.id)
        assert.deepStrictEqual(
          stored.map(({ since, state }) => ({ since, state })),
          rule.filters.map(() => ({ since: at(2), state: "active" as const }))
        )
      })
    )

    it.effect("activate of one platform leaves the other pending and the rule invisible", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = newRule(account)
        yield* rules.reserve(rule, noLimits)
        const registered = { platformRuleId: `half ${rule.id}`, translatedValue: "cat" }
        yield* rules.activate(rule.id, new Map([["x", registered]]), at(2))
        const stored = yield* rules.registrations(rule.id)
        assert.sameDeepMembers(
          stored.map(({ platform, state, since }) => ({ platform, state, since })),
          [
            { platform: "x", state: "active", since: at(2) },
            { platform: "firehose", state: "pending", since: rule.createdAt }
          ]
        )
        assert.isFalse(yield* rules.exists(account, rule.id))
        assert.deepStrictEqual(yield* rules.list(account, FIRST_RULES), [])
        assert.deepStrictEqual(yield* rules.ruleLinks("x", [registered.platformRuleId]), [])
        assert.isFalse((yield* rules.counts).has(account))
        yield* rules.activate(rule.id, registeredOf(rule), at(2))
        yield* visibleRule(account)
        assert.strictEqual((yield* rules.counts).get(account), 2)
      })
    )

    it.effect("reserve stores a paused registration as paused, with a gap, and never as pending", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const pause = { by: "budget" as const, reason: "paused", until: at(9), limit: 10 }
        const filters = newRule(account).filters.map((one) => (one.platform === "x" ? { ...one, pause } : one))
        const rule = newRule(account, { filters })
        yield* rules.reserve(rule, noLimits)
        assert.deepStrictEqual(yield* rules.list(account, FIRST_RULES), [], "the other platform is pending")
        const stored = (yield* rules.registrations(rule.id)).find(({ platform }) => platform === "x")
        assert.deepInclude(stored, { state: "paused", since: rule.createdAt, pause: Option.some(pause) })
        const registered = { platformRuleId: `other of ${rule.id}`, translatedValue: "cat" }
        yield* rules.activate(rule.id, new Map([["firehose", registered]]), at(2))
        const [listed] = yield* rules.list(account, FIRST_RULES)
        assert.deepInclude(listed?.platforms["x"], {
          platform_rule_id: "",
          state: "paused",
          paused_by: "budget",
          reason: "paused",
          failed_since: rule.createdAt
        })
        assert.strictEqual(listed?.platforms["firehose"]?.state, "active")
        const { oldest, gaps } = yield* rules.ruleCoverage(
          { account, rule: Option.some(rule.id), platforms: ["x"] },
          10
        )
        const since = rule.createdAt
        assert.deepStrictEqual(oldest, [{ platform: "x", ruleId: rule.id, createdAt: since, since }])
        assert.deepStrictEqual(
          gaps.map(({ from, to, cause, detail }) => [from, Option.getOrNull(to), cause, detail]),
          [[since, null, "budget", "paused"]]
        )
        yield* rules.remove(rule.id)
      })
    )

    it.effect("addPending adds a gap until a time in the future, which tookEffect ends early", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const [rule, other] = [yield* visibleRule(account), yield* visibleRule(account)]
        for (const { id } of [rule, other]) yield* rules.addPending(id, "x", { from: at(2), to: at(20) })
        yield* rules.addPending(rule.id, "firehose", { from: at(2), to: at(20) })
        yield* rules.addPending(rule.id, "x", { from: at(1), to: at(3) })
        const gapsOf = (id: RuleId) =>
          Effect.map(rules.ruleCoverage({ account, rule: Option.some(id), platforms: PLATFORM_IDS }, 10), ({ gaps }) =>
            gaps.map(({ platform, from, to, cause }) => [platform, from, Option.getOrNull(to), cause])
          )
        const pending = (platform: string, from: number, to: number) => [platform, at(from), at(to), "rule_pending"]
        yield* rules.tookEffect("x", [rule.id], at(9))
        yield* rules.tookEffect("x", [rule.id], at(12))
        assert.sameDeepMembers(yield* gapsOf(rule.id), [
          pending("firehose", 2, 20),
          pending("x", 2, 9),
          pending("x", 1, 3)
        ])
        assert.deepStrictEqual(yield* gapsOf(other.id), [pending("x", 2, 20)])
        yield* rules.addPending(fromUuid("rule", v7()), "x", { from: at(2), to: at(20) })
      })
    )

    it.effect("restore replaces the platform rule of an active registration, and adds a gap", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const moved = { platformRuleId: `moved ${rule.id}`, translatedValue: "moved" }
        yield* rules.restore(rule.id, "x", { registered: moved, lostSince: at(5), at: at(9) })
        const [listed] = yield* rules.list(account, FIRST_RULES)
        assert.deepStrictEqual(listed?.platforms["x"], {
          platform_rule_id: moved.platformRuleId,
          translated_value: "moved",
          state: "active" as const
        })
        assert.strictEqual(listed?.platforms["firehose"]?.platform_rule_id, `firehose of ${rule.id}`)
        const { gaps } = yield* rules.ruleCoverage({ account, rule: Option.some(rule.id), platforms: ["x"] }, 10)
        assert.deepInclude(gaps[0], { ruleId: rule.id, platform: "x", from: at(5), cause: "rules_dropped" })
        assert.deepStrictEqual(
          gaps.map(({ to }) => Option.getOrNull(to)),
          [at(9)]
        )
      })
    )

    it.effect("a pause for matching has its own cause and limit, and ends for its account alone", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const [account, other] = [yield* newAccount, yield* newAccount]
        const [rule, foreign] = [yield* visibleRule(account), yield* visibleRule(other)]
        const pause = { by: "matching" as const, reason: "paused", until: at(9), limit: 20 }
        for (const { id } of [rule, foreign]) {
          yield* rules.fail(id, "x", { reason: "paused", lostSince: at(3), at: at(3), pause })
        }
        const registration = (yield* rules.registrations(rule.id)).find(({ platform }) => platform === "x")
        assert.deepStrictEqual(registration?.pause, Option.some(pause))
        const { gaps } = yield* rules.ruleCoverage({ account, rule: Option.some(rule.id), platforms: ["x"] }, 10)
        assert.deepInclude(gaps[0], { cause: "matching", detail: "paused" })
        assert.sameMembers([...(yield* rules.pausedAccounts("x", "matching"))], [account, other])
        assert.notInclude(yield* rules.pausedAccounts("x", "budget"), account)
        assert.strictEqual(yield* rules.endPauses("x", { by: "budget", limit: 0, at: at(9) }), 0)
        const end = (limit: number, second: number) =>
          rules.endPauses("x", { by: "matching", limit, at: at(second), account })
        assert.strictEqual(yield* end(20, 8), 0)
        assert.strictEqual(yield* end(21, 8), 1, "the limit is raised")
        assert.deepStrictEqual(yield* rules.pausedAccounts("x", "matching"), [other])
        assert.strictEqual(yield* rules.endPauses("x", { by: "matching", limit: 20, at: at(9) }), 1)
      })
    )

    it.effect("textsOf has the texts of an account in any state, textOwners only the accounts that want them", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const [account, other] = [yield* newAccount, yield* newAccount]
        const mine = yield* visibleRule(account)
        const text = mine.filters.find(({ platform }) => platform === "x")?.text ?? ""
        const pending = newRule(other, { filters: mine.filters })
        const owners = (texts = [text]) =>
          Effect.map(rules.textOwners("x", texts), (all) => all.map(({ accountId }) => accountId).sort())
        assert.deepStrictEqual(yield* rules.textsOf(account, "x", Option.none()), [text])
        assert.deepStrictEqual(yield* rules.textsOf(other, "x", Option.none()), [])
        yield* rules.reserve(pending, noLimits)
        assert.deepStrictEqual(yield* rules.textsOf(other, "x", Option.some([text, "none"])), [text], "while pending")
        assert.deepStrictEqual(yield* rules.textsOf(other, "x", Option.some(["none"])), [])
        assert.deepStrictEqual(yield* owners(), [account, other].sort())
        assert.deepStrictEqual(yield* owners(["none"]), [])
        const pause = { by: "matching" as const, reason: "paused", until: at(9), limit: 20 }
        yield* rules.fail(mine.id, "x", { reason: "paused", lostSince: at(3), at: at(3), pause })
        assert.deepStrictEqual(yield* owners(), [other])
        assert.deepStrictEqual(yield* rules.textsOf(account, "x", Option.none()), [text])
        yield* rules.remove(pending.id)
        assert.deepStrictEqual(yield* owners(), [])
      })
    )

    it.effect("a paused rule is not wanted, and has a gap of its own, until the pause ends", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const [rule, other] = [yield* visibleRule(account), yield* visibleRule(account)]
        const pauseOf = (id: RuleId) =>
          Effect.map(rules.registrations(id), (all) => all.find(({ platform }) => platform === "x")?.pause)
        const [wanted, paused] = [yield* rules.wanted("x"), yield* rules.paused("x")]
        yield* rules.fail(rule.id, "x", { reason: "no room", lostSince: at(1), at: at(2) })
        const pause = { by: "budget" as const, reason: "paused", until: at(9), limit: 9_007_199_254_740_991 }
        yield* rules.fail(rule.id, "x", { reason: "paused", lostSince: at(3), at: at(3), pause })
        assert.deepStrictEqual(yield* pauseOf(rule.id), Option.some(pause))
        assert.deepStrictEqual(yield* pauseOf(other.id), Option.none())
        assert.deepStrictEqual([yield* rules.wanted("x"), yield* rules.paused("x")], [wanted - 1, paused + 1])
        const same = yield* visibleRule(yield* newAccount, { filters: rule.filters })
        yield* rules.fail(same.id, "x", { reason: "paused", lostSince: at(3), at: at(3), pause })
        assert.strictEqual(yield* rules.paused("x"), paused + 2, "a rule with the same text counts, too")
        yield* rules.remove(same.id)
        assert.deepInclude((yield* rules.list(account, FIRST_RULES))[1]?.platforms["x"], {
          state: "paused",
          paused_by: "budget",
          reason: "paused"
        })

        const endPauses = (second: number, budget: number) =>
          rules.endPauses("x", { by: "budget", limit: budget, at: at(second) })
        assert.strictEqual(yield* endPauses(8, pause.limit), 0)
        assert.strictEqual(yield* endPauses(9, pause.limit), 1, "it is over")
        assert.deepStrictEqual(yield* pauseOf(rule.id), Option.none())
        assert.strictEqual(yield* rules.wanted("x"), wanted)
        const shown = Effect.map(rules.list(account, FIRST_RULES), (all) => all[1]?.platforms["x"])
        assert.deepInclude(yield* shown, { state: "paused", paused_by: "budget" }, "until the platform has answered")
        for (const budget of [0, 11]) {
          yield* rules.fail(rule.id, "x", {
            reason: "paused",
            lostSince: at(3),
            at: at(3),
            pause: { ...pause, limit: 10 }
          })
          assert.strictEqual(yield* endPauses(8, 10), 0)
          assert.strictEqual(yield* endPauses(8, budget), 1, `the budget is ${budget}`)
        }

        yield* rules.fail(rule.id, "x", { reason: "full", lostSince: at(5), at: at(10) })
        assert.deepInclude(yield* shown, { state: "failed", reason: "full" })
        assert.notProperty(yield* shown, "paused_by")
        const registered = { platformRuleId: `x of ${rule.id}`, translatedValue: "cat" }
        yield* rules.restore(rule.id, "x", { registered, lostSince: at(5), at: at(11) })
        const { gaps } = yield* rules.ruleCoverage({ account, rule: Option.some(rule.id), platforms: ["x"] }, 10)
        assert.deepStrictEqual(
          gaps.map(({ from, to, cause, detail }) => [from, Option.getOrNull(to), cause, detail]),
          [
            [at(10), at(11), "rule_failed", "full"],
            [at(3), at(10), "budget", "paused"],
            [at(1), at(3), "rule_failed", "no room"]
          ]
        )
      })
    )

    it.effect("fail keeps the rule visible with a reason, until restore clears it", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        yield* rules.fail(rule.id, "x", { reason: "no room", lostSince: at(4), at: at(5) })
        const [failed] = yield* rules.list(account, FIRST_RULES)
        assert.deepInclude(failed?.platforms["x"], { state: "failed", reason: "no room", failed_since: at(5) })
        assert.notProperty(failed?.platforms["firehose"], "failed_since")
        assert.strictEqual(failed?.platforms["firehose"]?.state, "active")
        assert.isTrue(yield* rules.exists(account, rule.id))
        assert.lengthOf(yield* rules.ruleLinks("x", [`x of ${rule.id}`]), 1, "it still gets matches")
        assert.deepInclude(
          (yield* rules.registrationsOn("x")).find(({ ruleId }) => ruleId === rule.id),
          { state: "failed", since: at(5) }
        )
        yield* rules.fail(rule.id, "x", { reason: "still no room", lostSince: at(5), at: at(6) })
        const [still] = yield* rules.list(account, FIRST_RULES)
        assert.deepInclude(still?.platforms["x"], { reason: "still no room", failed_since: at(5) })
        const registered = { platformRuleId: `x of ${rule.id}`, translatedValue: "cat" }
        yield* rules.restore(rule.id, "x", { registered, lostSince: at(5), at: at(6) })
        const [back] = yield* rules.list(account, FIRST_RULES)
        assert.strictEqual(back?.platforms["x"]?.state, "active")
        assert.notProperty(back?.platforms["x"], "reason")
        yield* rules.fail(rule.id, "x", { reason: "again", lostSince: at(6), at: at(7) })
        const { gaps } = yield* rules.ruleCoverage({ account, rule: Option.none(), platforms: ["x", "firehose"] }, 10)
        assert.deepStrictEqual(
          gaps.map(({ ruleId, platform, from, to, cause, detail }) => [
            ruleId,
            platform,
            from,
            Option.getOrNull(to),
            cause,
            detail
          ]),
          [
            [rule.id, "x", at(6), null, "rule_failed", "again"],
            [rule.id, "x", at(4), at(6), "rule_failed", "no room"]
          ]
        )
        assert.isTrue(yield* rules.hide(account, rule.id, at(8)))
        yield* rules.fail(rule.id, "x", { reason: "too late", lostSince: at(8), at: at(9) })
        yield* rules.restore(rule.id, "x", { registered, lostSince: at(8), at: at(9) })
        assert.isTrue((yield* rules.registrations(rule.id)).every(({ state }) => state === "removing"))
      })
    )

    it.effect("ruleCoverage returns the oldest rule per platform and the newest gaps, of one account or rule", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const [account, other] = [yield* newAccount, yield* newAccount]
        const [first, second] = [yield* visibleRule(account), yield* visibleRule(account)]
        yield* rules.fail(second.id, "x", { reason: "one", lostSince: at(3), at: at(3) })
        yield* rules.fail(second.id, "firehose", { reason: "two", lostSince: at(4), at: at(4) })
        const platforms = ["x", "firehose"]
        const ofAccount = yield* rules.ruleCoverage({ account, rule: Option.none(), platforms }, 1)
        assert.deepStrictEqual(
          ofAccount.oldest,
          platforms.map((platform) => ({ platform, ruleId: first.id, createdAt: first.createdAt, since: at(2) }))
        )
        assert.deepStrictEqual(
          ofAccount.gaps.map(({ detail }) => detail),
          ["two"]
        )
        const ofRule = yield* rules.ruleCoverage({ account, rule: Option.some(second.id), platforms: ["x"] }, 10)
        assert.deepStrictEqual(ofRule.oldest, [
          { platform: "x", ruleId: second.id, createdAt: second.createdAt, since: at(2) }
        ])
        assert.deepStrictEqual(
          ofRule.gaps.map(({ detail }) => detail),
          ["one"]
        )
        const nothing = { oldest: [], gaps: [] }
        const strange = { account: other, rule: Option.some(second.id), platforms }
        assert.deepStrictEqual(yield* rules.ruleCoverage(strange, 10), nothing)
        yield* rules.remove(second.id)
        assert.deepStrictEqual(
          yield* rules.ruleCoverage({ account, rule: Option.some(second.id), platforms }, 10),
          nothing
        )
      })
    )

    it.effect("ruleCoverage leaves out the gaps of new rules before any other, oldest first", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const [failed, ...others] = yield* Effect.replicateEffect(visibleRule(account), 4)
        if (failed === undefined) return assert.fail("There is no rule")
        yield* rules.fail(failed.id, "x", { reason: "no room", lostSince: at(3), at: at(3) })
        for (const [index, { id }] of others.entries()) {
          yield* rules.addPending(id, "x", { from: at(4 + index), to: at(10 + index) })
        }
        const causes = (limit: number) =>
          Effect.map(rules.ruleCoverage({ account, rule: Option.none(), platforms: ["x"] }, limit), ({ gaps }) =>
            gaps.map(({ cause, from }) => [cause, from])
          )
        assert.deepStrictEqual(yield* causes(3), [
          ["rule_pending", at(6)],
          ["rule_pending", at(5)],
          ["rule_failed", at(3)]
        ])
        assert.deepStrictEqual(yield* causes(1), [["rule_failed", at(3)]])
      })
    )

    it.effect("comparedAt is the time of the last comparison", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        assert.isTrue(Option.isNone(yield* rules.comparedAt("firehose")))
        yield* rules.saveComparison("firehose", at(1))
        yield* rules.saveComparison("firehose", at(2))
        assert.strictEqual(Option.getOrNull(yield* rules.comparedAt("firehose")), at(2))
      })
    )

    it.effect("nextOfGeneration counts each generation from 1, and generations has the last numbers", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const [one, other] = [v7(), v7()]
        const numbers = yield* Effect.forEach([one, other, one], rules.nextOfGeneration)
        assert.deepStrictEqual(numbers, [1, 1, 2])
        const generations = yield* rules.generations
        assert.deepStrictEqual([generations.get(one), generations.get(other), generations.get(v7())], [2, 1, undefined])
      })
    )

    it.effect("deployment is a stable name", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const name = yield* rules.deployment
        assert.match(name, /^[\w-]{6,36}$/)
        assert.strictEqual(yield* rules.deployment, name)
      })
    )

    it.effect("activate ignores a hidden and an unknown rule", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        yield* rules.hide(account, rule.id, at(4))
        yield* rules.activate(rule.id, registeredOf(rule), at(5))
        assert.isFalse(yield* rules.exists(account, rule.id))
        assert.isTrue((yield* rules.registrations(rule.id)).every(({ state }) => state === "removing"))
        const unknown = newRule(account)
        yield* rules.activate(unknown.id, registeredOf(unknown), at(5))
        assert.deepStrictEqual(yield* rules.registrations(unknown.id), [])
      })
    )

    it.effect("reserve refuses a rule over the limit of a platform and does not store it", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const limits = new Map([["x" as const, 2]])
        yield* rules.reserve(newRule(account), limits)
        yield* rules.reserve(newRule(account), limits)
        const refused = newRule(account)
        const error = yield* Effect.flip(rules.reserve(refused, limits))
        assert.deepInclude(error, { _tag: "RuleLimitReached", platform: "x", limit: 2, used: 2 })
        assert.deepStrictEqual(yield* rules.registrations(refused.id), [])
        // Other platforms and accounts are not affected.
        yield* rules.reserve(newRule(account, { filters: [{ platform: "firehose", text: "cat" }] }), limits)
        yield* rules.reserve(newRule(yield* newAccount), limits)
      })
    )

    it.effect("reserve counts a hidden rule until it is removed", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const limits = new Map([["x" as const, 1]])
        const first = yield* visibleRule(account)
        yield* rules.hide(account, first.id, at(4))
        const error = yield* Effect.flip(rules.reserve(newRule(account), limits))
        assert.strictEqual(error._tag, "RuleLimitReached")
        yield* rules.remove(first.id)
        yield* rules.reserve(newRule(account), limits)
      })
    )

    it.effect("concurrent reserves respect the limit", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const limits = new Map(PLATFORM_IDS.map((platform) => [platform, 7]))
        const wanted = Array.from({ length: 20 }, () => newRule(account))
        const results = yield* Effect.forEach(wanted, (rule) => Effect.either(rules.reserve(rule, limits)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(results.filter(Either.isRight).length, 7)
        for (const result of results) {
          if (Either.isLeft(result)) assert.strictEqual(result.left._tag, "RuleLimitReached")
        }
        const stored = yield* Effect.forEach(wanted, ({ id }) => rules.registrations(id))
        assert.strictEqual(stored.filter(({ length }) => length === 2).length, 7)
        assert.strictEqual(stored.filter(({ length }) => length === 0).length, 13)
      })
    )

    it.effect("list returns the rules of one account, newest first", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const other = yield* newAccount
        const mine: Array<RuleId> = []
        for (let i = 0; i < 5; i++) {
          mine.unshift((yield* visibleRule(account)).id)
          yield* visibleRule(other)
        }
        assert.deepStrictEqual(
          (yield* rules.list(account, FIRST_RULES)).map(({ id }) => id),
          mine
        )
        assert.deepStrictEqual(yield* rules.list(fromUuid("acct", v7()), FIRST_RULES), [])
      })
    )

    it.effect("exists and hide return false for a rule of another account", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const other = yield* newAccount
        const rule = yield* visibleRule(account)
        assert.isFalse(yield* rules.exists(other, rule.id))
        assert.isFalse(yield* rules.hide(other, rule.id, at(4)))
        assert.isTrue(yield* rules.exists(account, rule.id))
        assert.isFalse(yield* rules.exists(account, fromUuid("rule", v7())))
        assert.isFalse(yield* rules.hide(account, fromUuid("rule", v7()), at(4)))
      })
    )

    it.effect("hide makes the rule invisible and its registrations removing", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const kept = yield* visibleRule(account)
        assert.isTrue(yield* rules.hide(account, rule.id, at(4)))
        assert.isFalse(yield* rules.exists(account, rule.id))
        assert.deepStrictEqual(
          (yield* rules.list(account, FIRST_RULES)).map(({ id }) => id),
          [kept.id]
        )
        assert.deepStrictEqual(yield* rules.ruleLinks("x", [`x of ${rule.id}`]), [])
        assert.deepStrictEqual(
          (yield* rules.registrations(rule.id)).map(({ state, since }) => ({ state, since })),
          rule.filters.map(() => ({ state: "removing" as const, since: at(4) }))
        )
      })
    )

    it.effect("hide returns true for one of many concurrent callers", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const answers = yield* Effect.forEach(Array.from({ length: 10 }), () => rules.hide(account, rule.id, at(4)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(answers.filter((answer) => answer).length, 1)
      })
    )

    it.effect("remove deletes a rule in any state with its registrations and matches, and no other rule", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const matches = yield* MatchStore
        const account = yield* newAccount
        const kept = yield* visibleRule(account)
        const pending = newRule(account)
        yield* rules.reserve(pending, noLimits)
        const active = yield* visibleRule(account)
        const removing = yield* visibleRule(account)
        yield* rules.hide(account, removing.id, at(4))
        const keptMatch = newMatch(kept.id)
        yield* matches.insert([keptMatch, ...[pending, active, removing].map(({ id }) => newMatch(id))])
        for (const { id } of [pending, active, removing]) {
          yield* rules.remove(id)
          assert.deepStrictEqual(yield* rules.registrations(id), [])
        }
        yield* rules.remove(fromUuid("rule", v7()))
        const page = { account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 10 }
        assert.deepStrictEqual(sent((yield* matches.list(page)).items), sent([keptMatch]))
        assert.isTrue(yield* rules.exists(account, kept.id))
      })
    )

    it.effect("registrationsOn returns all registrations on the platform, oldest rule first", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const first = yield* visibleRule(yield* newAccount)
        const second = newRule(yield* newAccount)
        const third = newRule(yield* newAccount, { filters: [{ platform: "x", text: "only x" }] })
        // Not stored in id order.
        yield* rules.reserve(third, noLimits)
        yield* rules.reserve(second, noLimits)
        const ours = [first.id, second.id, third.id]
        const onX = (yield* rules.registrationsOn("x")).filter(({ ruleId }) => ours.includes(ruleId))
        assert.deepStrictEqual(
          onX.map(({ ruleId, platform, state }) => ({ ruleId, platform, state })),
          [
            { ruleId: first.id, platform: "x", state: "active" as const },
            { ruleId: second.id, platform: "x", state: "pending" },
            { ruleId: third.id, platform: "x", state: "pending" }
          ]
        )
        assert.isTrue(Option.contains(onX[0]?.platformRuleId ?? Option.none(), `x of ${first.id}`))
        const onFirehose = (yield* rules.registrationsOn("firehose")).filter(({ ruleId }) => ours.includes(ruleId))
        assert.deepStrictEqual(
          onFirehose.map(({ ruleId }) => ruleId),
          [first.id, second.id]
        )
      })
    )

    it.effect("isShared finds another rule of any account with the same text on the same platform", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        // Too long for an index entry, even compressed.
        const text = Array.from({ length: 200 }, () => v7()).join(" ")
        const filters = [{ platform: "x" as const, text }]
        const account = yield* newAccount
        const mine = yield* visibleRule(account, { filters })
        const question = { ruleId: mine.id, platform: "x" as const, text }
        assert.isFalse(yield* rules.isShared(question))
        yield* visibleRule(yield* newAccount, { filters: [{ platform: "firehose", text }] })
        yield* visibleRule(yield* newAccount, { filters: [{ platform: "x", text: `${text}.` }] })
        assert.isFalse(yield* rules.isShared(question))
        const pending = newRule(yield* newAccount, { filters })
        yield* rules.reserve(pending, noLimits)
        assert.isTrue(yield* rules.isShared(question))
        yield* rules.remove(pending.id)
        assert.isFalse(yield* rules.isShared(question))
        const other = yield* visibleRule(account, { filters })
        assert.isTrue(yield* rules.isShared(question))
        yield* rules.hide(account, other.id, at(4))
        assert.isFalse(yield* rules.isShared(question))
      })
    )

    it.effect("ruleLinks returns every visible rule that uses the platform rules", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const shared = { platformRuleId: `shared ${v7()}`, translatedValue: "cat" }
        const first = yield* visibleRule(yield* newAccount)
        const second = yield* visibleRule(yield* newAccount)
        const third = yield* visibleRule(yield* newAccount)
        for (const { id } of [first, second]) yield* rules.activate(id, new Map([["x", shared]]), at(3))
        const current = { version: 1, isShadow: false }
        const wanted = [shared.platformRuleId, `x of ${third.id}`, "unknown"]
        assert.sameDeepMembers(
          [...(yield* rules.ruleLinks("x", wanted))],
          [
            { platformRuleId: shared.platformRuleId, ruleId: first.id, accountId: first.accountId, ...current },
            { platformRuleId: shared.platformRuleId, ruleId: second.id, accountId: second.accountId, ...current },
            { platformRuleId: `x of ${third.id}`, ruleId: third.id, accountId: third.accountId, ...current }
          ]
        )
        assert.deepStrictEqual(yield* rules.ruleLinks("firehose", wanted), [])
        assert.deepStrictEqual(yield* rules.ruleLinks("x", []), [])
      })
    )

    it.effect("ruleLinks also finds a visible rule by the ids that it had on the platform before", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const ids = [`x of ${rule.id}`, `second of ${rule.id}`, `third of ${rule.id}`]
        const restore = (platformRuleId: string, second: number) =>
          rules.restore(rule.id, "x", {
            registered: { platformRuleId, translatedValue: "cat" },
            lostSince: at(second - 1),
            at: at(second)
          })
        const current = { version: 1, isShadow: false }
        const links = ids.map((platformRuleId) => ({ platformRuleId, ruleId: rule.id, accountId: account, ...current }))
        yield* restore(`second of ${rule.id}`, 5)
        assert.sameDeepMembers([...(yield* rules.ruleLinks("x", ids))], links.slice(0, 2))
        yield* rules.fail(rule.id, "x", { reason: "full", lostSince: at(6), at: at(7) })
        assert.sameDeepMembers([...(yield* rules.ruleLinks("x", ids))], links.slice(0, 2))
        yield* restore(`third of ${rule.id}`, 9)
        assert.sameDeepMembers([...(yield* rules.ruleLinks("x", ids))], links)
        assert.deepStrictEqual(yield* rules.ruleLinks("firehose", ids), [])
        yield* rules.hide(account, rule.id, at(10))
        assert.deepStrictEqual(yield* rules.ruleLinks("x", ids), [])
      })
    )
  })
