/** The contract of `KeyStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { v7 } from "uuid"
import type { Key } from "../../core/keys/Key.ts"
import { KeyStore } from "../../core/keys/KeyStore.ts"
import { fromUuid } from "../../core/model/Ids.ts"
import { at, newKey } from "./samples.ts"

export const keyStoreContract = <E>(name: string, layer: Layer.Layer<KeyStore, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "120 seconds" })(`KeyStore on ${name}`, (it) => {
    it.effect("insert returns the stored key, and findByDigest finds it", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const key = newKey({ name: "Ünïcode 🔑" })
        const expected: Key = {
          id: key.id,
          account_id: key.account.id,
          account: key.account.name,
          name: key.name,
          hint: key.hint,
          created_at: key.createdAt,
          last_used_at: null,
          revoked_at: null
        }
        assert.deepStrictEqual(yield* keys.insert(key), expected)
        assert.deepStrictEqual(Option.getOrNull(yield* keys.findByDigest(key.digest)), expected)
        assert.isTrue(Option.isNone(yield* keys.findByDigest(`${key.digest}.`)))
      })
    )

    it.effect("insert reuses the account with the same name", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const first = newKey()
        const second = newKey({ account: { id: fromUuid("acct", v7()), name: first.account.name } })
        yield* keys.insert(first)
        const stored = yield* keys.insert(second)
        assert.strictEqual(stored.account_id, first.account.id)
        assert.strictEqual(stored.id, second.id)
      })
    )

    it.effect("account creates an account per name once, and insert uses it", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const key = newKey()
        const wanted = { ...key.account, createdAt: key.createdAt }
        const before = yield* keys.list
        const answers = yield* Effect.forEach(
          [wanted, { ...wanted, id: fromUuid("acct", v7()) }, { ...wanted, id: fromUuid("acct", v7()) }],
          keys.account,
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(answers).size, 1)
        assert.deepStrictEqual(yield* keys.list, before, "creates no key")
        const stored = yield* keys.insert({ ...key, account: { ...key.account, id: fromUuid("acct", v7()) } })
        assert.strictEqual(stored.account_id, answers[0])
        assert.strictEqual(yield* keys.account({ ...wanted, id: fromUuid("acct", v7()) }), answers[0])
      })
    )

    it.effect("insert does not change a key with the same digest", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const key = newKey()
        const stored = yield* keys.insert(key)
        const again = newKey({ digest: key.digest, name: "another name" })
        assert.deepStrictEqual(yield* keys.insert(again), stored)
        yield* keys.revoke(key.id, at(1))
        assert.strictEqual((yield* keys.insert(key)).revoked_at, at(1))
        assert.strictEqual((yield* keys.list).filter(({ id }) => id === key.id || id === again.id).length, 1)
      })
    )

    it.effect("concurrent inserts of one digest store one key on one account", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { digest, account } = newKey()
        const attempts = Array.from({ length: 10 }, () =>
          newKey({ digest, account: { id: fromUuid("acct", v7()), name: account.name } })
        )
        const stored = yield* Effect.forEach(attempts, keys.insert, { concurrency: "unbounded" })
        assert.strictEqual(new Set(stored.map(({ id }) => id)).size, 1)
        assert.strictEqual(new Set(stored.map(({ account_id }) => account_id)).size, 1)
      })
    )

    it.effect("list returns every key, including revoked ones, oldest first", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const [first, second, third] = [newKey(), newKey(), newKey()]
        for (const key of [second, third, first]) yield* keys.insert(key)
        yield* keys.revoke(second.id, at(1))
        const ours = [first.id, second.id, third.id]
        assert.deepStrictEqual(
          (yield* keys.list).map(({ id }) => id).filter((id) => ours.includes(id)),
          ours
        )
      })
    )

    it.effect("revoke returns the key, keeps the first time, and returns none for an unknown id", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const key = newKey()
        const other = newKey()
        const stored = yield* keys.insert(key)
        yield* keys.insert(other)
        assert.deepStrictEqual(Option.getOrNull(yield* keys.revoke(key.id, at(1))), { ...stored, revoked_at: at(1) })
        assert.deepStrictEqual(Option.getOrNull(yield* keys.revoke(key.id, at(2))), { ...stored, revoked_at: at(1) })
        assert.deepStrictEqual(Option.getOrNull(yield* keys.findByDigest(key.digest)), { ...stored, revoked_at: at(1) })
        assert.isNull(Option.getOrThrow(yield* keys.findByDigest(other.digest)).revoked_at)
        assert.isTrue(Option.isNone(yield* keys.revoke(fromUuid("key", v7()), at(1))))
      })
    )

    it.effect("touch sets the last use of one key", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const key = newKey()
        const other = newKey()
        yield* keys.insert(key)
        yield* keys.insert(other)
        yield* keys.touch(key.id, at(7))
        yield* keys.touch(fromUuid("key", v7()), at(7))
        assert.strictEqual(Option.getOrThrow(yield* keys.findByDigest(key.digest)).last_used_at, at(7))
        assert.isNull(Option.getOrThrow(yield* keys.findByDigest(other.digest)).last_used_at)
      })
    )
  })
