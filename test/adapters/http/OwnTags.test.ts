import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ownTags } from "../../../adapters/http/OwnTags.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { memoryRules } from "../../stores/memoryRules.ts"

const OURS = { isOurs: true }
const NEWER = { isOurs: false, isNewer: true }
const FOREIGN = { isOurs: false }

describe("ownTags", () => {
  it.scoped("knows the tags of its own store, of other servers on it, and of earlier versions", () =>
    Effect.gen(function* () {
      const store = yield* newStore()
      const [one, other] = [yield* ownTags(store, "x"), yield* ownTags(store, "firehose")]
      const tags = [yield* one.next, yield* one.next, yield* other.next, "earshot:memory"]
      assert.strictEqual(new Set(tags).size, 4)
      assert.strictEqual(tags[0], "earshot:memory:254a6f94.1", "four bytes of Entropy, then the number")
      const restarted = yield* ownTags(store, "x")
      for (const { origins } of [one, restarted]) {
        const originOf = yield* origins
        for (const tag of tags) assert.deepStrictEqual(originOf(tag), OURS, tag)
        for (const tag of [undefined, "", 7, "earshot:memory2:00000000.1", "earshot:other", "mine"]) {
          assert.deepStrictEqual(originOf(tag), FOREIGN, String(tag))
        }
      }
    }).pipe(Effect.provide(Entropy.layerCounting))
  )

  it.scoped("a tag has at most 255 characters, which X and Firehose accept", () =>
    Effect.gen(function* () {
      const store = yield* newStore()
      const deployment = Effect.succeed("01890a5d-ac96-774b-bcce-b302099a8057")
      const last = Effect.succeed(Number.MAX_SAFE_INTEGER)
      const tags = yield* ownTags({ ...store, deployment, nextOfGeneration: () => last }, "x")
      assert.isAtMost((yield* tags.next).length, 100)
    }).pipe(Effect.provide(Entropy.layerCounting))
  )

  it.scoped(
    "a copy of the store does not know what was registered since, nor the original what the copy registers",
    () =>
      Effect.gen(function* () {
        const store = yield* newStore()
        const original = yield* ownTags(store, "x")
        const before = yield* original.next
        const backup = yield* store.generations
        const since = yield* original.next

        const copied = yield* newStore(backup)
        const copy = yield* ownTags(copied, "x")
        const ofCopy = yield* copy.next
        const [onOriginal, onCopy] = [yield* original.origins, yield* copy.origins]
        assert.deepStrictEqual([before, since, ofCopy].map(onOriginal), [OURS, OURS, NEWER])
        // The copy has registered something itself by now, which must not make it forget.
        assert.deepStrictEqual([before, since, ofCopy].map(onCopy), [OURS, NEWER, OURS])
        assert.deepStrictEqual(onCopy("earshot:memory:a form of a later version"), NEWER)

        const takeOver = yield* (yield* ownTags(copied, "x", { takesOver: true })).origins
        assert.deepStrictEqual([before, since, ofCopy, "earshot:other"].map(takeOver), [OURS, OURS, OURS, FOREIGN])
      }).pipe(Effect.provide(Entropy.layerCounting))
  )
})

// ---- helpers ----

/** Its generations have these last numbers. */
const newStore = (generations: ReadonlyMap<string, number> = new Map()) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(Layer.fresh(memoryRules))
    const store = yield* Effect.provide(RuleStore, context)
    for (const [generation, last] of generations) {
      yield* Effect.repeatN(store.nextOfGeneration(generation), last - 1)
    }
    return store
  })
