/** The contract of `KeyStore`. */
import { assert, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { v7 } from "uuid"
import type { Key } from "../../core/keys/Key.ts"
import { KeyStore, type NewKey } from "../../core/keys/KeyStore.ts"
import { type AccountId, fromUuid, type KeyId } from "../../core/model/Ids.ts"
import { at, newAccount, newKey } from "./samples.ts"

/** After all times in these tests. */
const LATER = at(1_000)
const FORCED = { at: at(1), force: true }

const ofAny = (id: KeyId) => ({ id, account: Option.none() })
const of = (id: KeyId, account: AccountId) => ({ id, account: Option.some(account) })

/** Stored, with its digest. */
const storedKey = (overrides: Partial<NewKey> = {}) =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const key = newKey({ accountId: yield* newAccount, ...overrides })
    return { ...(yield* keys.insert(key)), digest: key.digest }
  })

const found = (digest: string, time = LATER) =>
  Effect.flatMap(KeyStore, (keys) => Effect.map(keys.findByDigest(digest, time), Option.getOrNull))

export const keyStoreContract = <E>(name: string, layer: Layer.Layer<KeyStore, E>) =>
  withLayer(layer, { excludeTestServices: true, timeout: "240 seconds" })(`KeyStore on ${name}`, (it) => {
    it.effect("insert returns the stored key, and findByDigest finds it", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const accountId = yield* keys.account({ id: fromUuid("acct", v7()), name: `Ünïcode ${v7()}`, createdAt: at(0) })
        const key = newKey({ accountId, name: "Ünïcode 🔑", scope: "read", expiresAt: Option.some(at(9)) })
        const stored = yield* keys.insert(key)
        const { account, ...rest } = stored
        assert.match(account, /^Ünïcode /)
        assert.deepStrictEqual(rest, {
          id: key.id,
          account_id: accountId,
          name: key.name,
          scope: "read",
          hint: key.hint,
          created_at: key.createdAt,
          last_used_at: null,
          expires_at: at(9),
          previous_secret_until: null,
          revoked_at: null
        } satisfies Omit<Key, "account">)
        assert.deepStrictEqual(yield* found(key.digest), stored)
        assert.isNull(yield* found(`${key.digest}.`))
      })
    )

    it.effect("insertFirst stores nothing when the store has a key, also of another account", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        yield* storedKey()
        const key = newKey({ accountId: yield* newAccount })
        assert.isTrue(Option.isNone(yield* keys.insertFirst(key)))
        assert.isNull(yield* found(key.digest))
      })
    )

    it.effect("account creates an account per name once", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const wanted = { name: `account ${v7()}`, createdAt: at(0) }
        const before = yield* keys.list(Option.none())
        const answers = yield* Effect.forEach(
          Array.from({ length: 3 }, () => ({ ...wanted, id: fromUuid("acct", v7()) })),
          keys.account,
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(answers).size, 1)
        assert.deepStrictEqual(yield* keys.list(Option.none()), before, "creates no key")
        assert.strictEqual(yield* keys.account({ ...wanted, id: fromUuid("acct", v7()) }), answers[0])
        const [id = fromUuid("acct", v7())] = answers
        assert.deepStrictEqual(yield* keys.accounts(Option.some(id)), [{ ...wanted, id }])
        const all = (yield* keys.accounts(Option.none())).map((one) => one.id)
        assert.include(all, id)
        assert.deepStrictEqual(all, all.toSorted())
        assert.deepStrictEqual(yield* keys.accounts(Option.some(fromUuid("acct", v7()))), [])
      })
    )

    it.effect("insert does not change a key with the same digest", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const key = newKey({ accountId: yield* newAccount })
        const stored = yield* keys.insert(key)
        const again = newKey({ accountId: key.accountId, digest: key.digest, name: "another name" })
        assert.deepStrictEqual(yield* keys.insert(again), stored)
        yield* keys.revoke(ofAny(key.id), FORCED)
        assert.strictEqual((yield* keys.insert(key)).revoked_at, at(1))
        assert.lengthOf(yield* keys.list(Option.some(key.accountId)), 1)
      })
    )

    it.effect("concurrent inserts of one digest store one key", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { digest, accountId } = newKey({ accountId: yield* newAccount })
        const attempts = Array.from({ length: 10 }, () => newKey({ digest, accountId }))
        const stored = yield* Effect.forEach(attempts, keys.insert, { concurrency: "unbounded" })
        assert.strictEqual(new Set(stored.map(({ id }) => id)).size, 1)
      })
    )

    it.effect("list returns every key of an account or of all, including revoked ones, oldest first", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const accountId = yield* newAccount
        const other = yield* storedKey()
        const [first, second, third] = [newKey({ accountId }), newKey({ accountId }), newKey({ accountId })]
        for (const key of [second, third, first]) yield* keys.insert(key)
        yield* keys.revoke(ofAny(second.id), FORCED)
        const ours = [first.id, second.id, third.id]
        assert.deepStrictEqual(
          (yield* keys.list(Option.some(accountId))).map(({ id }) => id),
          ours
        )
        const all = (yield* keys.list(Option.none())).map(({ id }) => id)
        assert.deepStrictEqual(
          all.filter((id) => ours.includes(id) || id === other.id),
          [other.id, ...ours]
        )
      })
    )

    it.effect("revoke returns the key, keeps the first time, and returns none for an unknown or foreign id", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { digest, ...stored } = yield* storedKey()
        const other = yield* storedKey()
        assert.isTrue(Option.isNone(yield* keys.revoke(of(stored.id, other.account_id), FORCED)))
        assert.isNull((yield* found(digest))?.revoked_at)
        const revoked = { ...stored, revoked_at: at(1) }
        assert.deepStrictEqual(Option.getOrNull(yield* keys.revoke(of(stored.id, stored.account_id), FORCED)), revoked)
        assert.deepStrictEqual(
          Option.getOrNull(yield* keys.revoke(ofAny(stored.id), { at: at(2), force: false })),
          revoked
        )
        assert.deepStrictEqual(yield* found(digest), revoked)
        assert.isNull((yield* found(other.digest))?.revoked_at)
        assert.isTrue(Option.isNone(yield* keys.revoke(ofAny(fromUuid("key", v7())), FORCED)))
      })
    )

    it.effect("revoke keeps one active admin key per account, unless forced", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const accountId = yield* newAccount
        const options = { at: at(5), force: false }
        const [one, two] = [yield* storedKey({ accountId }), yield* storedKey({ accountId })]
        yield* storedKey({ accountId, scope: "write" })
        yield* storedKey({ accountId, expiresAt: Option.some(at(5)) })
        yield* storedKey()
        assert.isTrue(Option.isSome(yield* keys.revoke(ofAny(one.id), options)))
        const error = yield* Effect.flip(keys.revoke(ofAny(two.id), options))
        assert.strictEqual(error._tag, "LastAdminKey")
        assert.isNull((yield* found(two.digest))?.revoked_at)
        assert.isTrue(Option.isSome(yield* keys.revoke(ofAny(two.id), { ...options, force: true })))
      })
    )

    it.effect("of two concurrent revocations of the last two admin keys, one fails", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const accountId = yield* newAccount
        const both = [yield* storedKey({ accountId }), yield* storedKey({ accountId })]
        const results = yield* Effect.forEach(
          both,
          ({ id }) => Effect.either(keys.revoke(ofAny(id), { at: at(1), force: false })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(results.map(({ _tag }) => _tag).sort(), ["Left", "Right"])
      })
    )

    it.effect("rotate replaces the secret, and the previous one is found until its time is over", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const { digest, ...stored } = yield* storedKey()
        const to = { digest: `second ${v7()}`, hint: "es_22222…", at: at(1), previousUntil: at(3) }
        const rotated = { ...stored, hint: to.hint, previous_secret_until: at(3) }
        assert.isTrue(Option.isNone(yield* keys.rotate(of(stored.id, yield* newAccount), to)))
        assert.deepStrictEqual(Option.getOrNull(yield* keys.rotate(of(stored.id, stored.account_id), to)), rotated)
        assert.deepStrictEqual(yield* found(to.digest), rotated)
        assert.deepStrictEqual(yield* found(digest, at(2)), rotated)
        assert.isNull(yield* found(digest, at(3)))
        // A second rotation ends the first secret, even within its time.
        yield* keys.rotate(ofAny(stored.id), { ...to, digest: `third ${v7()}` })
        assert.isNull(yield* found(digest, at(2)))
        assert.strictEqual((yield* found(to.digest, at(2)))?.id, stored.id)
      })
    )

    it.effect("rotate changes no revoked or expired key", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const revoked = yield* storedKey()
        yield* keys.revoke(ofAny(revoked.id), FORCED)
        const expired = yield* storedKey({ expiresAt: Option.some(at(1)) })
        for (const { id, digest } of [revoked, expired]) {
          const to = { digest: v7(), hint: "", at: at(1), previousUntil: at(3) }
          assert.isTrue(Option.isNone(yield* keys.rotate(ofAny(id), to)))
          assert.strictEqual((yield* found(digest))?.id, id)
        }
      })
    )

    it.effect("touch sets the last use of one key", () =>
      Effect.gen(function* () {
        const keys = yield* KeyStore
        const [key, other] = [yield* storedKey(), yield* storedKey()]
        yield* keys.touch(key.id, at(7))
        yield* keys.touch(fromUuid("key", v7()), at(7))
        assert.strictEqual((yield* found(key.digest))?.last_used_at, at(7))
        assert.isNull((yield* found(other.digest))?.last_used_at)
      })
    )
  })
