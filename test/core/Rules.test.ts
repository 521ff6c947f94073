/** Rules: all or nothing on their platforms, whatever fails, and whenever the process dies. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Stream, TestClock } from "effect"
import { Entropy } from "../../core/Entropy.ts"
import { PlatformRefused, PlatformUnavailable } from "../../core/Errors.ts"
import { fromUuid, Ids } from "../../core/Ids.ts"
import { type Platform, Platforms } from "../../core/Platform.ts"
import type { PlatformId } from "../../core/PlatformId.ts"
import type { RuleDraft } from "../../core/Rule.ts"
import { RuleStore } from "../../core/RuleStore.ts"
import { Rules } from "../../core/Rules.ts"
import { checkRule } from "../../core/syntax/language.ts"
import * as Timestamp from "../../core/Timestamp.ts"

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const bob = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

describe("Rules.create", () => {
  test("registers on every platform and shows the rule", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      const created = yield* rules.create(ann, both("word"))
      assert.deepStrictEqual([...created.platforms.keys()], ["x", "firehose"])
      assert.deepStrictEqual([...x.texts, ...firehose.texts], ["word", "word"])
      assert.deepStrictEqual(
        (yield* rules.list(ann)).map(({ id }) => id),
        [created.id]
      )
    }))

  for (const how of ["refused", "away"] as const) {
    test(`takes back what the first platform did when the second is ${how}, and nothing stays`, ({
      rules,
      x,
      firehose,
      store
    }) =>
      Effect.gen(function* () {
        firehose.state = how
        const error = yield* Effect.flip(rules.create(ann, both("word")))
        assert.strictEqual(error._tag, how === "away" ? "PlatformUnavailable" : "PlatformRefused")
        assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
        assert.deepStrictEqual(yield* rules.list(ann), [])
        assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
        firehose.state = "up"
        yield* rules.create(ann, both("word"))
      }))
  }

  test("takes back nothing that another rule wants too", ({ rules, x, firehose }) =>
    Effect.gen(function* () {
      yield* rules.create(bob, on("x", "word"))
      firehose.state = "refused"
      yield* Effect.flip(rules.create(ann, both("word")))
      assert.deepStrictEqual([...x.texts], ["word"])
    }))

  test("checks every filter first: one that is wrong leaves no trace anywhere", ({ rules, x, firehose, store }) =>
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

  test("wants exactly one override for each platform", ({ rules }) =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(rules.create(ann, { ...both("word"), overrides: { x: "word" } }))
      assert.match(missing.message, /"overrides\.firehose": Is missing/)
      const suggestion = missing._tag === "InvalidArgument" ? missing.issues[0].suggestion : undefined
      assert.deepStrictEqual([suggestion?.text, suggestion?.fidelity], ["word", "exact"])
      const extra = yield* Effect.flip(rules.create(ann, { ...on("x", "word"), overrides: { x: "word", y: "b" } }))
      assert.match(extra.message, /"overrides\.y": Has no place/)
    }))

  test("suggests nothing for a missing filter when the other cannot be carried over", ({ rules }) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rules.create(ann, { ...both("word"), overrides: { x: "from:nasa" } }))
      assert.isFalse(error._tag === "InvalidArgument" && "suggestion" in error.issues[0])
    }))

  test("keeps a filter in canonical form, so that two spellings share one rule of the platform", ({ rules, x }) =>
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

  test("stops at the limit of the platform, for each account alone, and a deleted rule makes room", ({ rules }) =>
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
  test("two rules with one text share the platform's rule, which goes with the last of them", ({ rules, x }) =>
    Effect.gen(function* () {
      const mine = yield* rules.create(ann, on("x", "word"))
      const yours = yield* rules.create(bob, on("x", "word"))
      assert.strictEqual(mine.platforms.get("x")?.platformRuleId, yours.platforms.get("x")?.platformRuleId)
      yield* rules.delete(ann, mine.id)
      assert.deepStrictEqual([...x.texts], ["word"])
      yield* rules.delete(bob, yours.id)
      assert.deepStrictEqual([...x.texts], [])
    }))

  test("fails with RuleNotFound for a foreign, a deleted and a malformed id", ({ rules }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, on("x", "word"))
      assert.strictEqual((yield* Effect.flip(rules.delete(bob, id)))._tag, "RuleNotFound")
      assert.strictEqual(yield* rules.delete(ann, id), id)
      for (const gone of [id, "nonsense", ""]) {
        assert.strictEqual((yield* Effect.flip(rules.delete(ann, gone)))._tag, "RuleNotFound")
      }
    }))

  test("is done for the owner while the platform is away, and settle finishes it", ({ rules, x, store }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, on("x", "word"))
      x.state = "away"
      yield* rules.delete(ann, id)
      assert.deepStrictEqual(yield* rules.list(ann), [])
      assert.deepStrictEqual([...x.texts], ["word"])
      x.state = "up"
      yield* TestClock.adjust("61 seconds")
      yield* rules.settle
      assert.deepStrictEqual([...x.texts], [])
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
    }))

  test("of two at once, one succeeds", ({ rules }) =>
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

  test("and create at once of the same text leave the platform with it exactly when a rule wants it", ({ rules, x }) =>
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

describe("Rules.settle", () => {
  /** As far as a process gets that dies right after it has reserved the rule. */
  const reserved = (store: typeof RuleStore.Service, text: string) =>
    Effect.gen(function* () {
      const id = fromUuid("rule", "01890000-0000-7000-8000-000000000001")
      const createdAt = yield* Timestamp.now
      const filters = [{ platform: "x", text } as const, { platform: "firehose", text } as const]
      yield* store.reserve({ id, accountId: ann, name: "n", intent: "i", createdAt, filters }, new Map())
      return id
    })

  test("undoes a rule that a crash left pending, once it is older than a minute", ({ rules, x, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      assert.deepStrictEqual(yield* rules.list(ann), [])
      yield* TestClock.adjust("60 seconds")
      yield* rules.settle
      assert.lengthOf(yield* store.registrationsOn("x"), 1, "it may still be in the making")
      yield* TestClock.adjust("1 seconds")
      yield* rules.settle
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
      assert.deepStrictEqual(yield* store.registrationsOn("firehose"), [])
      assert.deepStrictEqual([...x.texts], [])
    }))

  test("takes back from the platforms what was registered before the crash", ({ rules, x, firehose, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      yield* x.platform.register("word")
      yield* TestClock.adjust("61 seconds")
      yield* rules.settle
      assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
    }))

  test("keeps for other rules the text that a crashed one shared with them", ({ rules, x, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      const { id } = yield* rules.create(bob, on("x", "word"))
      yield* TestClock.adjust("61 seconds")
      yield* rules.settle
      assert.deepStrictEqual([...x.texts], ["word"])
      assert.deepStrictEqual(
        (yield* rules.list(bob)).map((rule) => rule.id),
        [id]
      )
    }))

  test("undoes a crashed rule that the platform refuses", ({ rules, x, firehose, store }) =>
    Effect.gen(function* () {
      yield* reserved(store, "word")
      x.state = "refused"
      firehose.state = "refused"
      yield* TestClock.adjust("61 seconds")
      yield* rules.settle
      assert.deepStrictEqual(yield* store.registrationsOn("x"), [])
    }))

  test("finishes a removal that a crash cut off", ({ rules, x, firehose, store }) =>
    Effect.gen(function* () {
      const { id } = yield* rules.create(ann, both("word"))
      yield* store.hide(ann, id, yield* Timestamp.now)
      yield* TestClock.adjust("61 seconds")
      yield* rules.settle
      assert.deepStrictEqual([...x.texts, ...firehose.texts], [])
      assert.deepStrictEqual(yield* store.registrationsOn("firehose"), [])
    }))

  test("makes a platform that forgot everything watch its active rules again", ({ rules, x }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      x.forget()
      yield* rules.settle
      assert.deepStrictEqual([...x.texts], ["word"])
      const [rule] = yield* rules.list(ann)
      assert.strictEqual(rule?.platforms.x?.platform_rule_id, x.idOf("word"), "under the id it has there now")
    }))

  test("changes nothing when all is well", ({ rules, x }) =>
    Effect.gen(function* () {
      yield* rules.create(ann, on("x", "word"))
      const before = yield* rules.list(ann)
      yield* TestClock.adjust("1 hour")
      yield* rules.settle
      assert.deepStrictEqual(yield* rules.list(ann), before)
      assert.deepStrictEqual([...x.texts], ["word"])
    }))
})

// ---- helpers ----

/** A platform that does what the test tells it to. */
class FakePlatform {
  state: "up" | "refused" | "away" = "up"
  calls = 0
  private ids = new Map<string, string>()
  private minted = 0
  readonly platform: Platform

  constructor(id: PlatformId, limit: Option.Option<number>) {
    const unavailable = new PlatformUnavailable({ platform: id, reason: "away" })
    this.platform = {
      id,
      syntax: { platform: id, rule_type: "regular", summary: "", syntax: "", operators: [], examples: [], limits: {} },
      capabilities: { rulesPerAccount: limit },
      check: (text) => checkRule(id, text),
      register: (text) =>
        Effect.suspend((): ReturnType<Platform["register"]> => {
          this.calls++
          if (this.state === "away") return unavailable
          if (this.state === "refused") return new PlatformRefused({ platform: id, reason: "no" })
          const platformRuleId = this.ids.get(text) ?? `${id}-${++this.minted}`
          this.ids.set(text, platformRuleId)
          // Gives way, as a real platform does, so that others get their turn in between.
          return Effect.as(Effect.yieldNow(), { platformRuleId, translatedValue: text })
        }),
      unregister: (platformRuleId) =>
        Effect.suspend(() => {
          if (this.state === "away") return unavailable
          const text = [...this.ids].find(([, known]) => known === platformRuleId)?.[0]
          if (text !== undefined) this.ids.delete(text)
          return Effect.yieldNow()
        }),
      deliveries: Stream.never
    }
  }

  get texts(): Iterable<string> {
    return this.ids.keys()
  }

  idOf(text: string): string | undefined {
    return this.ids.get(text)
  }

  forget(): void {
    this.ids = new Map()
  }
}

interface World {
  readonly rules: typeof Rules.Service
  readonly store: typeof RuleStore.Service
  readonly x: FakePlatform
  readonly firehose: FakePlatform
}

class Fakes extends Context.Tag("test/Fakes")<Fakes, Pick<World, "x" | "firehose">>() {}

const fakes = Layer.scoped(
  Fakes,
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const x = new FakePlatform("x", Option.some(2))
    const firehose = new FakePlatform("firehose", Option.none())
    yield* platforms.register(x.platform)
    yield* platforms.register(firehose.platform)
    return { x, firehose }
  })
)

const layer = Rules.layer.pipe(
  Layer.provideMerge(fakes),
  Layer.provideMerge(Layer.merge(Platforms.layer, RuleStore.layerMemory)),
  Layer.provide(Ids.layer),
  Layer.provide(Entropy.layerCounting)
)

/** Each test has stores and platforms of its own. */
function test(title: string, body: (world: World) => Effect.Effect<void, unknown>): void {
  it.effect(title, () =>
    Effect.gen(function* () {
      yield* body({ ...(yield* Fakes), rules: yield* Rules, store: yield* RuleStore })
    }).pipe(Effect.provide(layer))
  )
}

function on(platform: PlatformId, text: string): RuleDraft {
  return { name: "n", intent: "i", platforms: [platform], overrides: { [platform]: text } }
}

function both(text: string): RuleDraft {
  return { name: "n", intent: "i", platforms: ["x", "firehose"], overrides: { x: text, firehose: text } }
}
