/** Keys: format, authentication and revocation. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Ref, TestClock } from "effect"
import * as fc from "fast-check"
import * as RuntimeEntropy from "../../../adapters/runtimes/entropy.ts"
import { KeyStore } from "../../../core/keys/KeyStore.ts"
import { EVERY_ACCOUNT, Keys } from "../../../core/keys/Keys.ts"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { fromUuid, Ids, KeyId } from "../../../core/model/Ids.ts"
import { isMistyped, makeSecret } from "../../../core/model/secretText.ts"
import { memoryKeys } from "../../stores/memoryKeys.ts"

const runtime = Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)
const layer = Keys.layer.pipe(Layer.provideMerge(memoryKeys), Layer.provide(runtime))

const FORCED = { ...EVERY_ACCOUNT, force: true }

/** Another process on the same store. */
const otherProcess = Effect.gen(function* () {
  const store = yield* KeyStore
  return yield* Keys.pipe(
    Effect.provide(Layer.fresh(Keys.layer).pipe(Layer.provide(Layer.succeed(KeyStore, store)), Layer.provide(runtime)))
  )
})

const create = (account = "default") =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const { key, secret } = yield* keys.create(yield* keys.account(account), { name: "test", scope: "admin" })
    return { key, secret: Redacted.value(secret) }
  })

describe("makeSecret", () => {
  const BASE62 = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"]
  const secrets = fc
    .infiniteStream(fc.integer({ min: 0, max: 255 }))
    .map((stream) => makeSecret((length) => Uint8Array.from({ length }, () => stream.next().value ?? 0)))

  it("returns es_, 32 characters and 6 of checksum", () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        assert.match(secret, /^es_[0-9A-Za-z]{38}$/)
        assert.isFalse(isMistyped(secret))
      })
    )
  })

  it("returns a key in which a changed character is detected", () => {
    fc.assert(
      fc.property(secrets, fc.integer({ min: 3, max: 40 }), fc.constantFrom(...BASE62), (secret, at, put) => {
        fc.pre(secret[at] !== put)
        assert.isTrue(isMistyped(secret.slice(0, at) + put + secret.slice(at + 1)))
      }),
      { numRuns: 500 }
    )
  })

  it("returns a key in which two swapped characters are detected", () => {
    fc.assert(
      fc.property(secrets, fc.integer({ min: 3, max: 39 }), (secret, at) => {
        const [a = "", b = ""] = [secret[at], secret[at + 1]]
        fc.pre(a !== b)
        assert.isTrue(isMistyped(secret.slice(0, at) + b + a + secret.slice(at + 2)))
      })
    )
  })
})

describe("Keys", () => {
  it.effect("authenticate returns the account of a key, and keys with the same account name share it", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const [first, second, other] = [yield* create("ann"), yield* create("ann"), yield* create("bob")]
      assert.strictEqual((yield* keys.authenticate(first.secret)).account, first.key.account_id)
      assert.strictEqual((yield* keys.authenticate(second.secret)).account, first.key.account_id)
      assert.notStrictEqual((yield* keys.authenticate(other.secret)).account, first.key.account_id)
    }).pipe(Effect.provide(layer))
  )

  it.effect("authenticate fails with the same error for an empty, an unknown and a changed key", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const { secret } = yield* create()
      for (const wrong of ["", "abc", secret.slice(0, -1), `${secret}0`, secret.toUpperCase(), ` ${secret}`]) {
        assert.strictEqual((yield* Effect.flip(keys.authenticate(wrong)))._tag, "Unauthenticated")
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("authenticate queries the store every five seconds, and never for a mistyped key", () =>
    Effect.gen(function* () {
      const store = yield* KeyStore
      const queries = yield* Ref.make(0)
      const counting = KeyStore.of({
        ...store,
        findByDigest: (...args) =>
          Effect.zipRight(
            Ref.update(queries, (n) => n + 1),
            store.findByDigest(...args)
          )
      })
      yield* Effect.gen(function* () {
        const keys = yield* Keys
        const { secret } = yield* create()
        yield* Effect.replicateEffect(keys.authenticate(secret), 3)
        assert.strictEqual(yield* Ref.get(queries), 1)
        yield* TestClock.adjust("5 seconds")
        yield* keys.authenticate(secret)
        assert.strictEqual(yield* Ref.get(queries), 2)
        yield* Effect.flip(keys.authenticate(`es_${"0".repeat(38)}`))
        assert.strictEqual(yield* Ref.get(queries), 2)
      }).pipe(Effect.provide(Keys.layer.pipe(Layer.provide(Layer.succeed(KeyStore, counting)), Layer.provide(runtime))))
    }).pipe(Effect.provide(memoryKeys))
  )

  it.effect("revoke takes effect at once here, and within five seconds in other processes", () =>
    Effect.gen(function* () {
      const here = yield* Keys
      const other = yield* otherProcess
      const { key, secret } = yield* create()
      assert.strictEqual((yield* other.authenticate(secret)).account, key.account_id)
      yield* here.authenticate(secret)
      const revoked = yield* here.revoke(key.id, FORCED)
      assert.isNotNull(revoked.revoked_at)

      assert.strictEqual((yield* Effect.flip(here.authenticate(secret)))._tag, "Unauthenticated")
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual((yield* other.authenticate(secret)).account, key.account_id, "still cached")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Effect.flip(other.authenticate(secret)))._tag, "Unauthenticated")
    }).pipe(Effect.provide(layer))
  )

  it.effect("revoke affects only one key of an account and keeps the first revocation time", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const [one, two] = [yield* create("ann"), yield* create("ann")]
      const first = yield* keys.revoke(one.key.id, FORCED)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* keys.revoke(one.key.id, FORCED)).revoked_at, first.revoked_at)
      assert.strictEqual((yield* keys.authenticate(two.secret)).account, two.key.account_id)
    }).pipe(Effect.provide(layer))
  )

  it.effect("revoke fails with KeyNotFound for an unknown key", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const unknown = KeyId.make(fromUuid("key", "01890000-0000-7000-8000-000000000000"))
      assert.strictEqual((yield* Effect.flip(keys.revoke(unknown, FORCED)))._tag, "KeyNotFound")
    }).pipe(Effect.provide(layer))
  )

  it.effect("issueFirst returns a key only once", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const issued = yield* keys.issueFirst
      assert.isTrue(Option.isSome(issued))
      assert.isTrue(Option.isNone(yield* keys.issueFirst))
    }).pipe(Effect.provide(layer))
  )

  it.effect("adopt is idempotent and does not restore a revoked key", () =>
    Effect.gen(function* () {
      const keys = yield* Keys
      const secret = Redacted.make("a key of the operator")
      const adopted = yield* keys.adopt(secret)
      assert.strictEqual((yield* keys.adopt(secret)).id, adopted.id)
      assert.lengthOf(yield* keys.list(EVERY_ACCOUNT), 1)
      yield* keys.revoke(adopted.id, FORCED)
      yield* keys.adopt(secret)
      assert.strictEqual((yield* Effect.flip(keys.authenticate(Redacted.value(secret))))._tag, "Unauthenticated")
    }).pipe(Effect.provide(layer))
  )

  it.effect("the store gets only the digest and the first characters of a secret", () =>
    Effect.gen(function* () {
      const store = yield* KeyStore
      const seen = yield* Ref.make("")
      const spying = KeyStore.of({
        ...store,
        insert: (key) => Effect.zipRight(Ref.set(seen, JSON.stringify(key)), store.insert(key))
      })
      const { secret } = yield* create().pipe(
        Effect.provide(Keys.layer.pipe(Layer.provide(Layer.succeed(KeyStore, spying)), Layer.provide(runtime)))
      )
      assert.notInclude(yield* Ref.get(seen), secret.slice(0, 12))
    }).pipe(Effect.provide(memoryKeys))
  )

  it.effect(
    "authenticate writes the last use at most once a minute, and fails with StoreUnavailable while the store is down",
    () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const { secret } = yield* create()
        yield* keys.authenticate(secret)
        assert.isNull((yield* keys.list(EVERY_ACCOUNT))[0]?.last_used_at)
        yield* TestClock.adjust("61 seconds")
        yield* keys.authenticate(secret)
        assert.strictEqual((yield* keys.list(EVERY_ACCOUNT))[0]?.last_used_at, "1970-01-01T00:01:01.000Z")

        const down = Effect.fail(new StoreUnavailable({ operation: "test", cause: "down" }))
        const failing = Keys.layer.pipe(
          Layer.provide(Layer.mock(KeyStore, { findByDigest: () => down })),
          Layer.provide(runtime)
        )
        const error = yield* Effect.flip(
          Effect.flatMap(Keys, (other) => other.authenticate(secret)).pipe(Effect.provide(failing))
        )
        assert.strictEqual(error._tag, "StoreUnavailable")
      }).pipe(Effect.provide(layer))
  )
})
