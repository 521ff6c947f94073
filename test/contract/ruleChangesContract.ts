/** Every store must change rules in the same way. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Duration, Effect, type Layer, Option } from "effect"
import { v7 } from "uuid"
import { type AccountId, fromUuid, type RuleId } from "../../core/model/Ids.ts"
import { BEFORE_PROMOTION, type NewRule, type RuleChange, RuleStore } from "../../core/rules/RuleStore.ts"
import type { Stores } from "../stores/memoryStores.ts"
import { at, FIRST_RULES, newAccount, newRule, noLimits, registeredOf, visibleRule } from "./samples.ts"

export const ruleChangesContract = <E>(name: string, layer: Layer.Layer<Stores, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`changes of rules in ${name}`, (it) => {
    it.effect("replaces the filters of one platform, and links events from before the change", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const candidate = yield* activeCandidate(rule, { filters: [{ platform: "x", text: "dog" }] })
        assert.deepStrictEqual(yield* rules.ruleLinks("x", [`x of ${candidate.id}`]), [], "not in force yet")

        const version = yield* rules.change(account, rule.id, { ...change(candidate.id), ended: ["x"], name: "Dogs" })
        assert.strictEqual(version, 2)

        const [listed] = yield* rules.list(account, FIRST_RULES)
        assert.strictEqual(listed?.name, "Dogs")
        assert.strictEqual(listed?.version, 2)
        assert.strictEqual(listed?.platforms["x"]?.translated_value, "dog (translated)")
        assert.strictEqual(listed?.platforms["firehose"]?.platform_rule_id, `firehose of ${rule.id}`)
        assert.deepStrictEqual(yield* rules.ruleLinks("x", [`x of ${candidate.id}`]), [
          { platformRuleId: `x of ${candidate.id}`, ruleId: rule.id, accountId: account, version: 2, isShadow: false }
        ])
        assert.deepStrictEqual(yield* rules.ruleLinks("x", [`x of ${rule.id}`]), [
          {
            platformRuleId: `x of ${rule.id}`,
            ruleId: rule.id,
            accountId: account,
            version: 1,
            retiredAt: Date.parse(at(5)),
            isShadow: false
          }
        ])
        const [replaced, ...others] = yield* rules.registrations(candidate.id)
        assert.lengthOf(others, 0)
        assert.strictEqual(replaced?.state, "removing")
        assert.deepStrictEqual(replaced?.platformRuleId, Option.some(`x of ${rule.id}`))
        assert.isTrue(yield* rules.exists(account, rule.id))

        yield* rules.remove(candidate.id)
        assert.lengthOf(yield* rules.registrations(rule.id), 2)
        const before = rule.filters.find(({ platform }) => platform === "x")?.text ?? ""
        assert.sameMembers([...(yield* rules.textsOf(account, "x", Option.none()))], [before, "dog"])
        assert.deepStrictEqual(yield* rules.textsOf(account, "x", Option.some([before])), [before])
        yield* rules.forgetRetired(at(6))
        assert.deepStrictEqual(yield* rules.ruleLinks("x", [`x of ${rule.id}`]), [])
        assert.deepStrictEqual(yield* rules.textsOf(account, "x", Option.none()), ["dog"])
      })
    )

    it.effect("links events from before a change that leaves the filter as it is", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        yield* rules.change(account, rule.id, { ...change(fromUuid("rule", v7())), name: "Other" })
        const links = yield* rules.ruleLinks("x", [`x of ${rule.id}`])
        assert.sameDeepMembers(
          links.map(({ version, retiredAt }) => ({ version, retiredAt })),
          [
            { version: 1, retiredAt: Date.parse(at(5)) },
            { version: 2, retiredAt: undefined }
          ]
        )
      })
    )

    it.effect("keeps the time since which a platform was watched, and gives a new platform its own", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account, { filters: [{ platform: "x", text: "cat" }] })
        const candidate = yield* activeCandidate(rule)
        yield* rules.change(account, rule.id, { ...change(candidate.id), ended: ["x"] })
        const { oldest } = yield* rules.ruleCoverage(
          { account, rule: Option.some(rule.id), platforms: ["x", "firehose"] },
          10
        )
        const since = new Map(oldest.map((one) => [one.platform, one.since]))
        assert.strictEqual(since.get("x"), at(2))
        assert.strictEqual(since.get("firehose"), at(4))
      })
    )

    it.effect("refuses another version, an unknown rule and a foreign one, and changes nothing", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const before = yield* rules.list(account, FIRST_RULES)
        const wrong = yield* Effect.flip(
          rules.change(account, rule.id, { ...change(fromUuid("rule", v7())), expectedVersion: 7 })
        )
        assert.strictEqual(wrong._tag, "RuleVersionChanged")
        const fails = (owner: AccountId, id: RuleId) =>
          Effect.flip(rules.change(owner, id, { ...change(fromUuid("rule", v7())), ended: ["x", "firehose"] }))
        assert.strictEqual((yield* fails(yield* newAccount, rule.id))._tag, "RuleNotFound")
        assert.strictEqual((yield* fails(account, fromUuid("rule", v7())))._tag, "RuleNotFound")
        const candidate = yield* activeCandidate(rule)
        assert.strictEqual((yield* fails(account, candidate.id))._tag, "RuleNotFound")
        const gone = { ...change(candidate.id), ended: ["x"], added: ["x"] }
        yield* rules.remove(candidate.id)
        assert.strictEqual((yield* Effect.flip(rules.change(account, rule.id, gone)))._tag, "RuleNotFound")
        assert.deepStrictEqual(yield* rules.list(account, FIRST_RULES), before)
      })
    )

    it.effect("hides a rule for good while it is changed", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        for (let round = 0; round < 20; round++) {
          const rule = yield* visibleRule(account)
          const candidate = yield* activeCandidate(rule)
          const changed = rules.change(account, rule.id, {
            ...change(candidate.id),
            ended: ["x", "firehose"],
            added: ["x", "firehose"]
          })
          const hidden = Effect.delay(rules.hide(account, rule.id, at(6)), Duration.millis(round % 5))
          const [isHidden] = yield* Effect.all([hidden, Effect.either(changed)], { concurrency: 2 })
          assert.isTrue(isHidden)
          assert.isFalse(yield* rules.exists(account, rule.id))
        }
      })
    )

    it.effect("pauses a rule: a gap begins, it frees its place and is no longer wanted", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const replaced = fromUuid("rule", v7())
        yield* rules.change(account, rule.id, {
          ...change(replaced),
          ended: ["x", "firehose"],
          paused: rule.filters.map(({ platform, text }) => ({ platform, text }))
        })
        const [listed] = yield* rules.list(account, FIRST_RULES)
        assert.deepStrictEqual(
          Object.values(listed?.platforms ?? {}).map(({ state }) => state),
          ["paused", "paused"]
        )
        assert.strictEqual(yield* rules.count(account, "x"), 1, "until the replaced registration is removed")
        yield* rules.remove(replaced)
        assert.strictEqual(yield* rules.count(account, "x"), 0)
        const text = rule.filters.find(({ platform }) => platform === "x")?.text ?? ""
        assert.isFalse(yield* rules.isShared({ ruleId: fromUuid("rule", v7()), platform: "x", text }))
        const watches = yield* rules.ruleCoverage({ account, rule: Option.none(), platforms: ["x"] }, 10)
        assert.strictEqual(watches.oldest[0]?.ruleId, rule.id)
        assert.deepStrictEqual(
          watches.gaps.map(({ cause, from, to }) => ({ cause, from, to })),
          [{ cause: "paused", from: at(5), to: Option.none() }]
        )

        const candidate = yield* activeCandidate(rule)
        yield* rules.change(account, rule.id, {
          ...change(candidate.id),
          ended: ["x", "firehose"],
          expectedVersion: 2,
          at: at(8)
        })
        const resumed = yield* rules.ruleCoverage({ account, rule: Option.none(), platforms: ["x"] }, 10)
        assert.deepStrictEqual(resumed.gaps[0]?.to, Option.some(at(8)))
        assert.strictEqual(resumed.oldest[0]?.since, at(2))
        assert.isTrue(yield* rules.hide(account, rule.id, at(9)))
      })
    )

    it.effect("keeps every version, with the key that made it", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const by = fromUuid("key", v7())
        const rule = yield* visibleRule(account, { by })
        yield* rules.change(account, rule.id, { ...change(fromUuid("rule", v7())), name: "Other", by: Option.some(by) })
        const overrides = Object.fromEntries(rule.filters.map(({ platform, text }) => [platform, text]))
        assert.deepStrictEqual(yield* rules.versions(account, rule.id), [
          { version: 2, at: at(5), key_id: by, name: "Other", intent: rule.intent, overrides, paused: false },
          { version: 1, at: at(1), key_id: by, name: "Cats", intent: rule.intent, overrides, paused: false }
        ])
        assert.deepStrictEqual(yield* rules.versions(yield* newAccount, rule.id), [])
      })
    )

    it.effect("tells the events of a shadow from those after its promotion", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const shadow = yield* activeCandidate(rule, {
          candidate: { of: rule.id, purpose: "shadow" },
          filters: [{ platform: "x", text: "dog" }]
        })
        yield* rules.change(account, rule.id, { ...change(shadow.id), ended: ["x"] })
        const links = yield* rules.ruleLinks("x", [`x of ${shadow.id}`])
        assert.sameDeepMembers(
          links.map(({ ruleId, version, retiredAt }) => ({ ruleId, version, retiredAt })),
          [
            { ruleId: rule.id, version: BEFORE_PROMOTION, retiredAt: Date.parse(at(5)) },
            { ruleId: rule.id, version: 2, retiredAt: undefined }
          ]
        )
      })
    )

    it.effect("a shadow is linked and shown with its rule, but not listed, and goes with the rule", () =>
      Effect.gen(function* () {
        const rules = yield* RuleStore
        const account = yield* newAccount
        const rule = yield* visibleRule(account)
        const shadow = yield* activeCandidate(rule, {
          candidate: { of: rule.id, purpose: "shadow" },
          filters: [{ platform: "x", text: "dog" }]
        })
        const [listed, ...others] = yield* rules.list(account, FIRST_RULES)
        assert.lengthOf(others, 0)
        assert.strictEqual(listed?.shadow?.platforms["x"]?.translated_value, "dog (translated)")
        assert.deepStrictEqual(yield* rules.shadowOf(rule.id), Option.some(shadow.id))
        assert.deepStrictEqual(yield* rules.find(account, shadow.id), Option.none())
        assert.isFalse(yield* rules.hide(account, shadow.id, at(6)))
        const [link] = yield* rules.ruleLinks("x", [`x of ${shadow.id}`])
        assert.isTrue(link?.isShadow)
        const watches = yield* rules.ruleCoverage({ account, rule: Option.none(), platforms: ["x"] }, 10)
        assert.strictEqual(watches.oldest[0]?.ruleId, rule.id)
        assert.strictEqual((yield* rules.counts).get(account), 1)
        const next = yield* activeCandidate(rule, {
          candidate: { of: rule.id, purpose: "shadow" },
          filters: [{ platform: "x", text: "cow" }]
        })
        assert.deepStrictEqual(yield* rules.shadowOf(rule.id), Option.some(next.id), "the last one is the shadow")
        yield* rules.activate(shadow.id, registeredOf(shadow), at(8))
        assert.lengthOf(yield* rules.list(account, FIRST_RULES), 1)
        assert.strictEqual((yield* rules.registrations(shadow.id))[0]?.state, "removing")
        yield* rules.remove(rule.id)
        assert.deepStrictEqual(yield* rules.registrations(shadow.id), [])
      })
    )
  })

// ---- helpers ----

const change = (candidate: RuleId): RuleChange => ({
  name: "Cats",
  intent: "Know about cats",
  at: at(5),
  by: Option.none(),
  expectedVersion: 1,
  ended: [],
  paused: [],
  candidate,
  added: []
})

const activeCandidate = (rule: NewRule, overrides: Partial<NewRule> = {}) =>
  Effect.gen(function* () {
    const rules = yield* RuleStore
    const candidate = newRule(rule.accountId, {
      candidate: { of: rule.id, purpose: "update" },
      ...overrides
    })
    yield* rules.reserve(candidate, noLimits)
    yield* rules.activate(candidate.id, registeredOf(candidate), at(4))
    return candidate
  })
