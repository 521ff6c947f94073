import { assert, layer as withLayer } from "@effect/vitest"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { Redactions } from "../../core/compliance/Redactions.ts"
import { StreamStore } from "../../core/coverage/StreamStore.ts"
import { MatchStore } from "../../core/matches/MatchStore.ts"
import { Entropy } from "../../core/model/Entropy.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import { fakes } from "../core/world.ts"
import { storesOfDoors } from "../stores.ts"
import { newAccount, newMatch, visibleRule } from "./samples.ts"

for (const [name, stores] of storesOfDoors) {
  const layer = Redactions.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(RecentEvents.layerWith({ keep: 100 }), Layer.provideMerge(fakes, Platforms.layer))
    ),
    Layer.provideMerge(Layer.merge(stores, Entropy.layerCounting))
  )
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`Redactions on ${name}`, (it) => {
    it.effect("redact removes a post from matches and recent events, written or buffered, and nothing else", () =>
      Effect.gen(function* () {
        const redactions = yield* Redactions
        const recent = yield* RecentEvents
        const store = yield* MatchStore
        const account = yield* newAccount
        const rules = yield* Effect.forEach(Array.from({ length: 3 }), () => visibleRule(account))
        const posts = ["71", "72"].map((id) => ({ data: { id, text: "cats, such as 71 and 72" } }))
        yield* store.insert(
          rules.flatMap(({ id }) =>
            posts.map((payload) => newMatch(id, { platform_post_id: payload.data.id, payload }))
          )
        )
        const logged = Effect.map(Stream.runCollect(recent.newest(["x"], 100)), (segments) =>
          Chunk.toReadonlyArray(segments).flatMap(({ events }) => events.map(({ json }) => JSON.parse(json)))
        )
        yield* recent.record("x", posts)
        assert.deepStrictEqual(yield* logged, posts)
        yield* recent.record("x", posts)
        const request = { platform: "x", platform_post_ids: ["71", "71", "unknown"], reason: "withheld" } as const
        assert.deepStrictEqual(yield* redactions.redact(request), { redacted: 3 })
        assert.deepStrictEqual(yield* logged, [posts[1], posts[1]])
        const page = { account, rules: Option.none(), platforms: PLATFORM_IDS, before: Option.none(), limit: 50 }
        for (const { platform_post_id, payload, redacted } of (yield* store.list(page)).items) {
          const expected = platform_post_id === "71" ? { payload: {}, reason: "withheld" } : { payload: posts[1] }
          assert.deepStrictEqual<unknown>(
            { payload: payload.value, ...(redacted && { reason: redacted.reason }) },
            expected
          )
        }
        assert.deepStrictEqual(yield* redactions.redact(request), { redacted: 0 })
      })
    )

    it.effect("redact redacts more matches than fit in one transaction", () =>
      Effect.gen(function* () {
        const redactions = yield* Redactions
        const store = yield* MatchStore
        const account = yield* newAccount
        const rule = (yield* visibleRule(account)).id
        const ids = Array.from({ length: 501 }, (_, i) => `80${i}`)
        yield* store.insert(ids.map((platform_post_id) => newMatch(rule, { platform_post_id })))
        const request = { platform: "x", platform_post_ids: ids, reason: "operator" } as const
        assert.deepStrictEqual(yield* redactions.redact(request), { redacted: 501 })
      })
    )

    it.effect("redact fails for a platform that is not there", () =>
      Effect.gen(function* () {
        const redactions = yield* Redactions
        const request = { platform: "third", platform_post_ids: ["80"], reason: "operator" } as const
        assert.strictEqual((yield* Effect.flip(redactions.redact(request)))._tag, "PlatformNotConfigured")
      })
    )

    // The memory layer keeps dead letters in another store.
    if (name === "memory") return
    it.effect("redact deletes the dead letters of a post", () =>
      Effect.gen(function* () {
        const redactions = yield* Redactions
        const streams = yield* StreamStore
        for (const platformPostId of ["90", "91"]) {
          yield* streams.addDeadLetter({ platform: "x", platformPostId, at: 0, reason: "broken", payload: "{}" })
        }
        yield* redactions.redact({ platform: "x", platform_post_ids: ["90"], reason: "deleted" })
        assert.deepStrictEqual(
          (yield* streams.deadLetters(10)).map(({ platformPostId }) => platformPostId),
          ["91"]
        )
      })
    )
  })
}
