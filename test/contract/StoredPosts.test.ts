/** The contract of `StoredPosts`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { StoredPosts } from "../../core/compliance/StoredPosts.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import { everyStore } from "../stores.ts"

const NOBODY = { postIds: [], authors: [] }

for (const [name, layer] of everyStore) {
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`StoredPosts on ${name}`, (it) => {
    it.effect("find returns the noted ones of the posts, and those of the accounts until a time", () =>
      Effect.gen(function* () {
        const posts = yield* StoredPosts
        const [early, late, other] = [
          { postId: "ann/1\u0000", author: "ann", at: 1_000 },
          { postId: "ann/2", author: "ann", at: 2_000 },
          { postId: "ben/1", author: "ben", at: 1_000 }
        ] as const
        yield* posts.note("a", [early, late, other, late])
        yield* posts.note("a", [{ ...late, at: 9_000 }])
        yield* posts.note("b", [{ ...early, postId: "elsewhere" }])
        const find = (wanted: object, limit = 10) =>
          Effect.map(posts.find("a", { ...NOBODY, ...wanted }, limit), (found) => found.toSorted())
        assert.deepStrictEqual(yield* find({}), [])
        assert.deepStrictEqual(yield* find({ postIds: ["ben/1", "elsewhere", "unknown"] }), ["ben/1"])
        assert.lengthOf(yield* find({ authors: [{ author: "ann", until: 1_999 }] }), 1)
        assert.lengthOf(yield* find({ authors: [{ author: "ann", until: 2_000 }], postIds: ["ann/2", "ben/1"] }), 3)
        assert.lengthOf(yield* find({ authors: [{ author: "ann", until: 2_000 }] }, 1), 1)
        yield* posts.forget("a", ["ann/2"])
        assert.lengthOf(yield* find({ authors: [{ author: "ann", until: 2_000 }] }), 1)
      })
    )

    it.effect("trim forgets what was noted before a time", () =>
      Effect.gen(function* () {
        const posts = yield* StoredPosts
        yield* posts.note("c", [{ postId: "1", author: "ann", at: 0 }])
        const now = yield* Clock.currentTimeMillis
        yield* posts.trim(Timestamp.fromMillis(now - 60_000))
        assert.lengthOf(yield* posts.find("c", { ...NOBODY, postIds: ["1"] }, 10), 1)
        yield* posts.trim(Timestamp.fromMillis(now + 60_000))
        assert.lengthOf(yield* posts.find("c", { ...NOBODY, postIds: ["1"] }, 10), 0)
      })
    )
  })
}
