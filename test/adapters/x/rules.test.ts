/** Rules on X: the outcome of every text, ownership, and X's error messages. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either, Option } from "effect"
import type { PlatformUnavailable } from "../../../core/model/Errors.ts"
import type { Registered, RuleRefusal } from "../../../core/platforms/Platform.ts"
import { pass, RULES, type Stage, settle, X } from "../../simulator/stage.ts"
import { TAG, withSimulator } from "./platform.ts"

type Outcome = Either.Either<Registered, RuleRefusal | PlatformUnavailable>

/** The registered value, or the tag of the refusal. */
const shown = (outcomes: ReadonlyArray<Outcome>) =>
  outcomes.map(Either.match({ onLeft: ({ _tag }) => _tag, onRight: ({ translatedValue }) => translatedValue }))

const idsOf = (outcomes: ReadonlyArray<Outcome>) =>
  outcomes.flatMap((outcome) => (Either.isRight(outcome) ? [outcome.right.platformRuleId] : []))

/** With the tags without their generation. */
const held = (on: Stage) =>
  Effect.map(on.control.state, ({ x }) =>
    x.rules.map(({ value, tag = "" }) => [value, tag.replace(/:[0-9a-f]{8}\.\d+$/, "")])
  )

/** Adds a rule as another client of the same app. */
const addForeign = (on: Stage, value: string, tag?: string) =>
  Effect.map(
    on.call(RULES, { method: "POST", headers: X, body: { add: [{ value, ...(tag !== undefined && { tag }) }] } }),
    ({ body }): string => body.data[0].id
  )

const callsOf = (on: Stage, endpoint: string) =>
  Effect.map(on.control.state, ({ calls }) => calls[`x.${endpoint}`]?.calls ?? 0)

describe("register", () => {
  it.scoped("adds all texts in one call with the deployment's tag, and keeps their order", () =>
    withSimulator({ x: { add_order: "reversed" } }, (on, { platform }) =>
      Effect.gen(function* () {
        const outcomes = yield* platform.register(["cat", "dog", "bird"])
        assert.deepStrictEqual(shown(outcomes), ["cat", "dog", "bird"])
        assert.deepStrictEqual(yield* held(on), [
          ["cat", TAG],
          ["dog", TAG],
          ["bird", TAG]
        ])
        const { x, calls } = yield* on.control.state
        assert.deepStrictEqual(
          idsOf(outcomes),
          x.rules.map(({ id }) => id)
        )
        assert.deepStrictEqual(Object.keys(calls), ["x.rules.update"])
        assert.strictEqual(calls["x.rules.update"]?.calls, 1)
      })
    )
  )

  for (const all_duplicates_status of [200, 201] as const) {
    it.scoped(`reuses the existing rule for a duplicate text, with status ${all_duplicates_status}`, () =>
      withSimulator({ x: { all_duplicates_status } }, (on, { platform }) =>
        Effect.gen(function* () {
          const first = yield* platform.register(["cat"])
          const foreign = yield* addForeign(on, "dog", "theirs")
          assert.deepStrictEqual(yield* platform.register(["cat"]), first)
          assert.deepStrictEqual(idsOf(yield* platform.register(["dog", "bird", "cat"])), [
            foreign,
            (yield* on.control.state).x.rules[2]?.id ?? "",
            ...idsOf(first)
          ])
          assert.lengthOf(yield* held(on), 3)
        })
      )
    )
  }

  it.scoped("returns the text that X holds when X normalizes spellings", () =>
    withSimulator({ x: { duplicate_check: "canonical" } }, (on, { platform }) =>
      Effect.gen(function* () {
        const id = yield* addForeign(on, "  cat   dog ")
        assert.deepStrictEqual(yield* platform.register(["cat dog"]), [
          Either.right({ platformRuleId: id, translatedValue: "  cat   dog " })
        ])
      })
    )
  )

  it.scoped("returns the same outcome for a repeated text", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        const [first, second] = yield* platform.register(["cat", "cat"])
        assert.deepStrictEqual(first, second)
        assert.lengthOf(yield* held(on), 1)
      })
    )
  )

  for (const problem_host of ["https://api.x.com", "https://api.twitter.com"] as const) {
    for (const atomic_invalid of [false, true]) {
      it.scoped(
        `refuses invalid texts with X's message and registers the rest, ${problem_host}, ${atomic_invalid ? "whole batches" : "one by one"}`,
        () =>
          withSimulator({ x: { problem_host, atomic_invalid } }, (on, { platform }) =>
            Effect.gen(function* () {
              const outcomes = yield* platform.register(["cat", "(dog", "bird", "-fish", "horse"])
              assert.deepStrictEqual(shown(outcomes), ["cat", "PlatformRefused", "bird", "PlatformRefused", "horse"])
              const refused = outcomes[3]
              if (refused === undefined || Either.isRight(refused)) return assert.fail("it was taken")
              assert.match(refused.left.reason, /^Rules must contain a non-negation term \(at position 1\); Rules must/)
              assert.propertyVal(refused.left.upstream, "value", "-fish")
              assert.propertyVal(refused.left.upstream, "title", "UnprocessableEntity")
              assert.deepStrictEqual(
                (yield* held(on)).map(([value]) => value),
                ["cat", "bird", "horse"]
              )
              assert.strictEqual(yield* callsOf(on, "rules.update"), atomic_invalid ? 2 : 1)
            })
          )
      )
    }
  }

  for (const rule_cap_status of [422, 400] as const) {
    for (const counts_as of ["strings", "numbers"] as const) {
      it.scoped(`adds as many rules as fit, ${rule_cap_status}, counts as ${counts_as}`, () =>
        withSimulator({ x: { rule_cap: 5, rule_cap_status, counts_as } }, (on, { platform }) =>
          Effect.gen(function* () {
            const foreign = yield* addForeign(on, "theirs")
            yield* platform.register(["cat", "dog"])
            const outcomes = yield* platform.register(["a1", "cat", "theirs", "a2", "a3", "a4", "dog"])
            assert.deepStrictEqual(shown(outcomes), [
              "a1",
              "cat",
              "theirs",
              "a2",
              "PlatformLimitReached",
              "PlatformLimitReached",
              "dog"
            ])
            assert.include(idsOf(outcomes), foreign)
            const full = yield* platform.register(["a5"])
            assert.deepStrictEqual(shown(full), ["PlatformLimitReached"])
            const [limit] = full
            if (limit === undefined || Either.isRight(limit)) return assert.fail("it was taken")
            assert.strictEqual(limit.left.reason, "Rules capacity exceeded: the app may hold 5 rules.")
            assert.propertyVal(limit.left.upstream, "title", "RulesCapExceeded")
            assert.deepStrictEqual(shown(yield* platform.register(["cat"])), ["cat"], "shared rules need no slot")
            assert.lengthOf(yield* held(on), 5)
          })
        )
      )
    }
  }

  it.scoped("invalid texts use no slots", () =>
    withSimulator({ x: { rule_cap: 3 } }, (on, { platform }) =>
      Effect.gen(function* () {
        const outcomes = yield* platform.register(["(a", "(b", "cat", "dog", "bird", "fish"])
        assert.deepStrictEqual(shown(outcomes), [
          "PlatformRefused",
          "PlatformRefused",
          "cat",
          "dog",
          "bird",
          "PlatformLimitReached"
        ])
        assert.lengthOf(yield* held(on), 3)
      })
    )
  )

  it.scoped("adds as many as fit under a lowered cap, and all once it is raised again", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "lower-caps", platform: "x", rules: 1 })
        assert.deepStrictEqual(shown(yield* platform.register(["cat", "dog"])), ["cat", "PlatformLimitReached"])
        assert.isAbove((yield* on.control.state).faults_fired["x.lower-caps"] ?? 0, 0)
        yield* on.control.clear()
        assert.deepStrictEqual(shown(yield* platform.register(["cat", "dog"])), ["cat", "dog"])
      })
    )
  )

  it.scoped("splits a list that is larger than one call allows", () =>
    withSimulator({ x: { tier: "enterprise" } }, (on, { platform }) =>
      Effect.gen(function* () {
        const texts = Array.from({ length: 2_300 }, (_, at) => `word${at}`)
        assert.deepStrictEqual(shown(yield* platform.register(texts)), texts)
        assert.strictEqual(yield* callsOf(on, "rules.update"), 3)
        const { rules } = yield* platform.inventory
        assert.lengthOf(rules, 2_300)
        assert.strictEqual(yield* callsOf(on, "rules.list"), 3)
        yield* platform.unregister(rules.map(({ platformRuleId }) => platformRuleId))
        assert.lengthOf(yield* held(on), 0)
        assert.deepStrictEqual((yield* on.control.state).violations, [])
      })
    )
  )

  it.scoped("isolates the text that makes X refuse the whole call", () =>
    withSimulator({ x: { max_body_bytes: 2_000 } }, (on, { platform }) =>
      Effect.gen(function* () {
        const long = `(${Array.from({ length: 300 }, (_, at) => `w${at}`).join(" OR ")})`
        const outcomes = yield* platform.register(["cat", "dog", long, "bird"])
        assert.deepStrictEqual(shown(outcomes), ["cat", "dog", "PlatformRefused", "bird"])
        assert.lengthOf(yield* held(on), 3)
      })
    )
  )
})

describe("unregister", () => {
  it.scoped("removes our rules and ignores unknown, foreign and malformed ids", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        const foreign = yield* addForeign(on, "theirs", "earshot:another")
        const untagged = yield* addForeign(on, "nobody's")
        const ids = idsOf(yield* platform.register(["cat", "dog", "theirs", "nobody's"]))
        assert.includeMembers(ids, [foreign, untagged])
        yield* platform.unregister([...ids.filter((_, at) => at !== 1), "12345", "0f3a", ""])
        assert.deepStrictEqual(yield* held(on), [
          ["theirs", "earshot:another"],
          ["nobody's", ""],
          ["dog", TAG]
        ])
        const changes = yield* callsOf(on, "rules.update")
        yield* platform.unregister([...ids.slice(2), "12345", "0f3a"])
        yield* platform.unregister([])
        assert.strictEqual(yield* callsOf(on, "rules.update"), changes, "none of them is ours")
      })
    )
  )
})

describe("inventory", () => {
  for (const counts_as of ["strings", "numbers"] as const) {
    it.scoped(`returns all rules with their owner, the lower cap and the usage, counts as ${counts_as}`, () =>
      withSimulator(
        { x: { counts_as, sends_meta_sent: false, rule_cap: 50, project_rule_cap: 20, credits: 700 } },
        (on, { platform }) =>
          Effect.gen(function* () {
            const empty = yield* platform.inventory
            assert.deepStrictEqual(empty.rules, [])
            const foreign = yield* addForeign(on, "theirs")
            const [cat = ""] = idsOf(yield* platform.register(["cat"]))
            const at = yield* Clock.currentTimeMillis
            assert.deepStrictEqual(yield* platform.inventory, {
              rules: [
                { platformRuleId: foreign, translatedValue: "theirs", isOurs: false },
                { platformRuleId: cat, translatedValue: "cat", isOurs: true }
              ],
              ruleLimit: Option.some(20),
              usage: Option.some({ at, used: 0, limit: 700, month: { start: Date.UTC(2026, 10), used: 0 } })
            })
          })
      )
    )
  }

  it.scoped("tolerates failing counts and usage, but not a failing rule list", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        yield* platform.register(["cat"])
        yield* on.control.inject({ kind: "server-error", platform: "x", endpoint: "rules.counts", status: 503 })
        yield* on.control.inject({ kind: "refuse", platform: "x", endpoint: "usage" })
        const { rules, ruleLimit, usage } = yield* platform.inventory
        assert.deepStrictEqual([rules.length, Option.isNone(ruleLimit), Option.isNone(usage)], [1, true, true])
        yield* on.control.inject({ kind: "server-error", platform: "x", endpoint: "rules.list", status: 500 })
        const error = yield* Effect.flip(platform.inventory)
        assert.deepStrictEqual(
          [error._tag, error.reason],
          ["PlatformUnavailable", "X answered 500 (Internal Server Error)"]
        )
      })
    )
  )
})

describe("verify", () => {
  it.scoped("asks X and registers nothing", () =>
    withSimulator({ x: { rule_cap: 1, refused_warnings: ["negated-group"] } }, (on, { platform }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* platform.verify("cat"), Either.right("confirmed"))
        assert.lengthOf(yield* held(on), 0)
        const refused = yield* platform.verify("cat -(dog bird)")
        assert.strictEqual(Either.isLeft(refused) && refused.left._tag, "PlatformRefused")
        yield* platform.register(["cat"])
        assert.deepStrictEqual(yield* platform.verify("cat"), Either.right("confirmed"), "it would be shared")
        const full = yield* platform.verify("dog")
        assert.strictEqual(Either.isLeft(full) && full.left._tag, "PlatformLimitReached")
        assert.lengthOf(yield* held(on), 1)
      })
    )
  )
})

describe("a failing call", () => {
  it.scoped("fails with PlatformNotReady for a wrong token and for no credit, and says what to check", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        const failure = Effect.flip(platform.register(["cat"]))
        yield* on.control.patch({ x: { bearer_token: "another" } })
        const unknown = yield* failure
        assert.strictEqual(
          unknown.message,
          'Platform "x" cannot be used by this server: X rejects the token: check X_BEARER_TOKEN (Unauthorized)'
        )
        assert.propertyVal(unknown.upstream, "status", 401)
        yield* on.control.patch({ x: { bearer_token: "simulator-x-bearer-token" } })
        yield* on.control.inject({ kind: "payment-required", platform: "x" })
        const broke = yield* failure
        assert.deepStrictEqual([broke._tag, /out of credit/.test(broke.reason)], ["PlatformNotReady", true])
      })
    )
  )

  for (const rate_limit_body of ["v2", "v1.1"] as const) {
    it.scoped(`fails with PlatformUnavailable for 429 and makes no call before the reset, ${rate_limit_body}`, () =>
      withSimulator({ x: { rate_limit_body } }, (on, { platform }) =>
        Effect.gen(function* () {
          const failure = Effect.flip(platform.register(["cat"]))
          yield* on.control.inject({ kind: "rate-limit", platform: "x", headers: true, reset_seconds: 90 })
          const limited = yield* failure
          assert.strictEqual(limited._tag, "PlatformUnavailable")
          assert.propertyVal(limited, "retryAfterSeconds", 90)
          assert.match(limited.reason, rate_limit_body === "v2" ? /Too Many Requests/ : /Rate limit exceeded/)
          yield* pass(30)
          assert.propertyVal(yield* failure, "retryAfterSeconds", 60)
          assert.strictEqual(yield* callsOf(on, "rules.update"), 1)
          yield* pass(60)
          assert.deepStrictEqual(shown(yield* platform.register(["cat"])), ["cat"])

          yield* on.control.inject({ kind: "rate-limit", platform: "x", headers: false, reset_seconds: 90 })
          assert.propertyVal(yield* failure, "retryAfterSeconds", 60)
        })
      )
    )
  }

  for (const skew_seconds of [-1_000_000, 1_000_000]) {
    it.scoped(`waits until X's reset when X's clock is ${skew_seconds} s off`, () =>
      withSimulator({}, (on, { platform }) =>
        Effect.gen(function* () {
          yield* on.control.inject({ kind: "clock-skew", platform: "x", skew_seconds })
          yield* on.control.inject({ kind: "rate-limit", platform: "x", headers: true, reset_seconds: 60 })
          const error = yield* Effect.flip(platform.register(["cat"]))
          assert.propertyVal(error, "retryAfterSeconds", 60)
          assert.isAbove((yield* on.control.state).faults_fired["x.clock-skew"] ?? 0, 0)
        })
      )
    )
  }

  it.scoped("fails with PlatformUnavailable for 5xx and for no response, and the next call works", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        yield* on.control.inject({ kind: "server-error", platform: "x", status: 502 })
        const failing = yield* Effect.flip(platform.register(["cat"]))
        assert.deepStrictEqual([failing._tag, failing.reason.includes("502")], ["PlatformUnavailable", true])
        yield* on.control.inject({ kind: "refuse", platform: "x" })
        assert.strictEqual((yield* Effect.flip(platform.unregister(["1"])))._tag, "PlatformUnavailable")
        assert.deepStrictEqual(shown(yield* platform.register(["cat"])), ["cat"])
      })
    )
  )

  it.scoped("is not sent once the budget is used up, so X's limits are never reached", () =>
    withSimulator({}, (on, { platform }) =>
      Effect.gen(function* () {
        for (let call = 0; call < 95; call++) yield* platform.verify("cat")
        const error = yield* Effect.flip(platform.register(["cat"]))
        assert.propertyVal(error, "retryAfterSeconds", 900)
        for (let call = 0; call < 450; call++) yield* Effect.ignore(platform.inventory)
        yield* settle
        const { windows, violations } = yield* on.control.state
        assert.deepStrictEqual(violations, [])
        assert.deepStrictEqual(
          ["rules.update", "rules.list", "usage"].map((key) => windows[`x.${key}`]?.most),
          [95, 440, 1]
        )
        yield* pass(900)
        assert.deepStrictEqual(shown(yield* platform.register(["cat"])), ["cat"])
      })
    )
  )

  it.scoped("respects a limit that X lowered", () =>
    withSimulator({ x: { rules_post_limit: 2 } }, (on, { platform }) =>
      Effect.gen(function* () {
        yield* platform.register(["cat"])
        yield* platform.register(["dog"])
        assert.strictEqual((yield* Effect.flip(platform.register(["bird"])))._tag, "PlatformUnavailable")
        assert.deepStrictEqual((yield* on.control.state).violations, [])
        yield* pass(900)
        assert.deepStrictEqual(shown(yield* platform.register(["bird"])), ["bird"])
      })
    )
  )
})
