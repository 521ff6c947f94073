/** The contract of `ClaimStore`, and of the stores that keep an answer with their write. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { v7 } from "uuid"
import { ClaimStore, type NewClaim } from "../../core/idempotency/ClaimStore.ts"
import { afterCommit } from "../../core/idempotency/CommitHooks.ts"
import type { KeyStore } from "../../core/keys/KeyStore.ts"
import { fromMillis } from "../../core/model/Timestamp.ts"
import { LimitStore } from "../../core/quotas/LimitStore.ts"
import { newAccount } from "./samples.ts"

const NOW = Date.UTC(2026, 10, 15)
const DAY = 86_400_000

export const claimStoreContract = <E>(name: string, layer: Layer.Layer<ClaimStore | LimitStore | KeyStore, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`ClaimStore on ${name}`, (it) => {
    it.effect("begin gives a key to one attempt, and the others what it has left", () =>
      Effect.gen(function* () {
        const store = yield* ClaimStore
        const digest = v7()
        const begun = yield* Effect.all(
          Array.from({ length: 10 }, () => store.begin(claim(digest))),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(begun.filter(Option.isNone), 1)
        for (const found of begun.flatMap(Option.toArray)) {
          assert.deepInclude(found, { request: "request", answer: Option.none() })
        }
      })
    )

    it.effect("keep stores the answer of the attempt that holds the key", () =>
      Effect.gen(function* () {
        const store = yield* ClaimStore
        const own = claim(v7())
        yield* store.begin(own)
        yield* store.keep(own, "first")
        const found = yield* store.begin(claim(own.digest))
        assert.deepStrictEqual(
          Option.map(found, ({ answer }) => answer),
          Option.some(Option.some("first"))
        )
        const error = yield* Effect.flip(store.keep(claim(own.digest), "second"))
        assert.strictEqual(error._tag, "StoreUnavailable")
      })
    )

    it.effect("release lets the next attempt run, but keeps an answer", () =>
      Effect.gen(function* () {
        const store = yield* ClaimStore
        const own = claim(v7())
        yield* store.begin(own)
        yield* store.release(claim(own.digest))
        assert.isTrue(Option.isSome(yield* store.begin(claim(own.digest))), "another attempt cannot release it")
        yield* store.release(own)
        const next = claim(own.digest)
        assert.isTrue(Option.isNone(yield* store.begin(next)))
        yield* store.keep(next, "answer")
        yield* store.release(next)
        assert.isTrue(Option.isSome(yield* store.begin(claim(own.digest))))
      })
    )

    it.effect("begin starts again after the key has expired, and expire deletes such keys", () =>
      Effect.gen(function* () {
        const store = yield* ClaimStore
        const own = claim(v7(), NOW - DAY)
        yield* store.begin(own)
        yield* store.keep(own, "old")
        assert.isTrue(Option.isSome(yield* store.begin(claim(own.digest, NOW))))
        const later = claim(own.digest, NOW + 1)
        assert.isTrue(Option.isNone(yield* store.begin(later)))
        assert.isTrue(Option.isSome(yield* store.begin(claim(own.digest, NOW + 1))), "it runs again, without an answer")
        yield* Effect.repeat(store.expire(fromMillis(NOW + 2), 1), { until: (deleted) => deleted === 0 })
        assert.isTrue(Option.isNone(yield* store.begin(claim(own.digest, NOW))))
      })
    )

    it.effect("releaseAll ends every attempt without an answer", () =>
      Effect.gen(function* () {
        const store = yield* ClaimStore
        const [running, done] = [claim(v7()), claim(v7())]
        yield* store.begin(running)
        yield* store.begin(done)
        yield* store.keep(done, "answer")
        yield* store.releaseAll
        assert.isTrue(Option.isNone(yield* store.begin(claim(running.digest))))
        assert.isTrue(Option.isSome(yield* store.begin(claim(done.digest))))
      })
    )

    it.effect("atomically runs what waits for the end of the transaction, once", () =>
      Effect.gen(function* () {
        const store = yield* ClaimStore
        const limits = yield* LimitStore
        const account = yield* newAccount
        const seen: Array<unknown> = []
        const write = Effect.gen(function* () {
          yield* limits.setLimit(account, "requests", Option.some(7))
          yield* afterCommit(Effect.map(Effect.orDie(limits.limitsOf(account)), (found) => seen.push(...found)))
          return "written"
        })
        assert.strictEqual(yield* store.atomically(write), "written")
        assert.deepStrictEqual(seen, [["requests", 7]])
      })
    )

    if (name === "memory") return

    it.effect("atomically undoes the effect of an attempt that was replaced", () =>
      Effect.gen(function* () {
        const store = yield* ClaimStore
        const limits = yield* LimitStore
        const account = yield* newAccount
        const own = claim(v7(), NOW - DAY)
        yield* store.begin(own)
        assert.isTrue(Option.isNone(yield* store.begin(claim(own.digest, NOW + 1))), "another attempt takes over")
        let hasRun = false
        const late = Effect.gen(function* () {
          yield* limits.setLimit(account, "requests", Option.some(7))
          yield* afterCommit(
            Effect.sync(() => {
              hasRun = true
            })
          )
          yield* store.keep(own, "late")
        })
        const error = yield* Effect.flip(store.atomically(late))
        assert.strictEqual(error._tag, "StoreUnavailable")
        assert.strictEqual((yield* limits.limitsOf(account)).size, 0)
        assert.isFalse(hasRun)
      })
    )
  })

// ---- helpers ----

const claim = (digest: string, at = NOW): NewClaim => ({
  digest,
  attempt: v7(),
  request: "request",
  at: fromMillis(at),
  expiredBefore: fromMillis(at - DAY)
})
