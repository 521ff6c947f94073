/** Rules: create and delete are all or nothing, also when a platform fails. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { ann, bob, both, on, test } from "../world.ts"

describe("Rules.create", () => {
  test("registers on every platform and lists the rule", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      const created = yield* rules.create(ann, both("word"))
      assert.deepStrictEqual([...created.platforms.keys()], ["x", "firehose"])
      assert.deepStrictEqual([...x.texts, ...firehose.texts], ["word", "word"])
      assert.deepStrictEqual(
        (yield* rules.list(ann, {})).rules.map(({ id }) => id),
        [created.id]
      )
    }))

  for (const how of ["refused", "away"] as const) {
    test(`rolls back the first platform if the second is ${how}`, ({ rules, x, firehose, store }) =>
      Effect.gen(function* () {
        firehose.state = how
        const error = yield* Effect.flip(rules.create(ann, both("word")))
        assert.strictEqual(error._tag, how === "away" ? "PlatformUnavailable" : "PlatformRefused")
        assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
        assert.deepStrictEqual((yield* rules.list(ann, {})).rules, [])
        assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
        firehose.state = "up"
        yield* rules.create(ann, both("word"))
      }))
  }

  test("does not roll back a text that another rule uses", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      yield* rules.create(bob, on("x", "word"))
      firehose.state = "refused"
      yield* Effect.flip(rules.create(ann, both("word")))
      assert.deepStrictEqual([...x.texts], ["word"])
    }))

  test("checks every filter before it stores or registers anything", ({ rules, x, firehose, store }) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        rules.create(ann, { ...both("word"), overrides: { x: "word", firehose: "word AND (other" } })
      )
      assert.strictEqual(error._tag, "InvalidArgument")
      const [issue, ...others] = error._tag === "InvalidArgument" ? error.issues : []
      assert.deepStrictEqual(others, [])
      assert.strictEqual(issue?.path, "overrides.firehose")
      assert.deepStrictEqual(issue?.span, { start: 9, end: 10 })
      assert.strictEqual(issue?.fix?.text, "word AND (other)")
      assert.deepStrictEqual([x.calls, firehose.calls], [0, 0])
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
    }))

  test("requires exactly one filter per platform", ({ rules }) =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(rules.create(ann, { ...both("word"), overrides: { x: "word" } }))
      assert.match(missing.message, /"overrides\.firehose": Is missing/)
      const suggestion = missing._tag === "InvalidArgument" ? missing.issues[0].suggestion : undefined
      assert.deepStrictEqual([suggestion?.text, suggestion?.fidelity], ["word", "exact"])
      const extra = yield* Effect.flip(rules.create(ann, { ...on("x", "word"), overrides: { x: "word", y: "b" } }))
      assert.match(extra.message, /"overrides\.y": "y" is not listed in "platforms"/)
    }))

  test("has no suggestion for a missing filter if the other has no translation", ({ rules }) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rules.create(ann, { ...both("word"), overrides: { x: "from:nasa" } }))
      assert.isFalse(error._tag === "InvalidArgument" && "suggestion" in error.issues[0])
    }))

  test("registers canonical text, so two spellings share one platform rule", ({ rules, x }) =>
    Effect.gen(function* () {
      const first = yield* rules.create(ann, on("x", "(Storm)  has:media_link"))
      const second = yield* rules.create(bob, on("x", "storm has:media"))
      assert.deepStrictEqual([...x.texts], ["storm has:media"])
      assert.strictEqual(first.platforms.get("x")?.translatedValue, "storm has:media")
      yield* rules.delete(ann, first.id)
      assert.deepStrictEqual([...x.texts], ["storm has:media"])
      yield* rules.delete(bob, second.id)
      assert.deepStrictEqual([...x.texts], [])
    }))

  test("enforces the limit per account and platform, and a deleted rule frees its slot", ({ rules }) =>
    Effect.gen(function* () {
      const first = yield* rules.create(ann, on("x", "one"))
      yield* rules.create(ann, on("x", "two"))
      const error = yield* Effect.flip(rules.create(ann, both("three")))
      assert.deepInclude(error, { _tag: "RuleLimitReached", platform: "x", limit: 2, used: 2 })
      yield* rules.create(bob, on("x", "three"))
      yield* rules.delete(ann, first.id)
      yield* rules.create(ann, on("x", "three"))
    }))
})

describe("Rules.delete", () => {
  test("keeps a shared platform rule until its last rule is deleted", ({ rules, x }) =>
    Effect.gen(function* () {
      const mine = yield* rules.create(ann, on("x", "word"))
      const yours = yield* rules.create(bob, on("x", "word"))
      assert.strictEqual(mine.platforms.get("x")?.platformRuleId, yours.platforms.get("x")?.platformRuleId)
      yield* rules.delete(ann, mine.id)
      assert.deepStrictEqual([...x.texts], ["word"])
      yield* rules.delete(bob, yours.id)
      assert.deepStrictEqual([...x.texts], [])
    }))

  test("fails with RuleNotFound for a foreign, deleted or malformed id", ({ rules }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, on("x", "word"))
      assert.strictEqual((yield* Effect.flip(rules.delete(bob, id)))._tag, "RuleNotFound")
      assert.strictEqual(yield* rules.delete(ann, id), id)
      for (const gone of [id, "nonsense", ""]) {
        assert.strictEqual((yield* Effect.flip(rules.delete(ann, gone)))._tag, "RuleNotFound")
      }
    }))

  test("succeeds once if called twice concurrently", ({ rules }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, on("x", "word"))
      const both = yield* Effect.all([Effect.exit(rules.delete(ann, id)), Effect.exit(rules.delete(ann, id))], {
        concurrency: 2
      })
      assert.sameMembers(
        both.map(({ _tag }) => _tag),
        ["Success", "Failure"]
      )
    }))

  test("keeps the text if a concurrent create uses it", ({ rules, x }) =>
    Effect.gen(function* () {
      for (let round = 0; round < 20; round++) {
        const { id } = yield* rules.create(ann, on("x", "word"))
        const [, next] = yield* Effect.all([rules.delete(ann, id), rules.create(bob, on("x", "word"))], {
          concurrency: 2
        })
        assert.deepStrictEqual([...x.texts], ["word"])
        yield* rules.delete(bob, next.id)
        assert.deepStrictEqual([...x.texts], [])
      }
    }))
})
