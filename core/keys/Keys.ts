/** The key use cases: authenticate, create, list and revoke. */
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Entropy } from "../model/Entropy.ts"
import { KeyNotFound, type StoreUnavailable, Unauthenticated } from "../model/Errors.ts"
import { type AccountId, Ids, KeyId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { hintOf, isMistyped, type Key, makeSecret } from "./Key.ts"
import { KeyStore } from "./KeyStore.ts"

/** A new key with its secret, which is not stored. */
export interface IssuedKey {
  readonly key: Key
  readonly secret: Redacted.Redacted
}

/** The account of the first key and of the bootstrap key. */
export const DEFAULT_ACCOUNT = "default"

/** Another process may accept a revoked key for this long. */
const CACHE_MILLIS = 5_000
/** Precision of the last-used time: each update is a write. */
const TOUCH_INTERVAL_MILLIS = 60_000
const CACHE_LIMIT = 10_000
const NEVER = "1970-01-01T00:00:00.000Z"

export class Keys extends Context.Tag("core/Keys")<
  Keys,
  {
    readonly authenticate: (secret: string) => Effect.Effect<AccountId, Unauthenticated | StoreUnavailable>
    /** Creates the account if no account has that name. */
    readonly create: (options: {
      readonly account: string
      readonly name: string
    }) => Effect.Effect<IssuedKey, StoreUnavailable>
    /** Finds or creates the account by name. For local callers, which need no key. */
    readonly account: (name: string) => Effect.Effect<AccountId, StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<Key>, StoreUnavailable>
    /** `id` may be any text; fails with `KeyNotFound` if it is not the id of a key. */
    readonly revoke: (id: string) => Effect.Effect<Key, KeyNotFound | StoreUnavailable>
    /** None when the store already has keys. */
    readonly issueFirst: Effect.Effect<Option.Option<IssuedKey>, StoreUnavailable>
    /** Stores the operator's own secret as a key of the default account. Idempotent. */
    readonly adopt: (secret: Redacted.Redacted) => Effect.Effect<Key, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Keys, never, KeyStore | Ids | Entropy> = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const store = yield* KeyStore
      const ids = yield* Ids
      const entropy = yield* Entropy
      // Keyed by the secret itself: a digest per request would cost more than the rest of the check.
      const cache = new Map<string, { readonly key: Key; readonly until: number }>()

      const lookUp = (secret: string, now: number) =>
        Effect.gen(function* () {
          const found = yield* store.findByDigest(entropy.sha256(secret))
          if (Option.isNone(found) || found.value.revoked_at !== null) {
            cache.delete(secret)
            return yield* new Unauthenticated()
          }
          if (cache.size >= CACHE_LIMIT) cache.clear()
          cache.set(secret, { key: found.value, until: now + CACHE_MILLIS })
          if (now - Date.parse(found.value.last_used_at ?? NEVER) > TOUCH_INTERVAL_MILLIS) {
            yield* store.touch(found.value.id, Timestamp.fromMillis(now))
          }
          return found.value.account_id
        })

      const authenticate = (secret: string) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const known = cache.get(secret)
          if (known !== undefined && now < known.until) return Effect.succeed(known.key.account_id)
          return isMistyped(secret) ? new Unauthenticated() : lookUp(secret, now)
        })

      const insert = (secret: Redacted.Redacted, account: string, name: string) =>
        Effect.gen(function* () {
          return yield* store.insert({
            id: yield* ids.key,
            account: { id: yield* ids.account, name: account },
            name,
            hint: hintOf(Redacted.value(secret)),
            digest: entropy.sha256(Redacted.value(secret)),
            createdAt: yield* Timestamp.now
          })
        })

      const account = (name: string) =>
        Effect.gen(function* () {
          return yield* store.account({ id: yield* ids.account, name, createdAt: yield* Timestamp.now })
        })

      const create = Effect.fn("Keys.create")(function* (options: { account: string; name: string }) {
        const secret = Redacted.make(makeSecret(entropy.bytes))
        return { secret, key: yield* insert(secret, options.account, options.name) }
      })

      const revoke = Effect.fn("Keys.revoke")(function* (id: string) {
        const keyId = asKeyId(id)
        const revoked = Option.isSome(keyId) ? yield* store.revoke(keyId.value, yield* Timestamp.now) : Option.none()
        cache.clear()
        return Option.isSome(revoked) ? revoked.value : yield* new KeyNotFound({ keyId: id })
      })

      const issueFirst = Effect.gen(function* () {
        const existing = yield* store.list
        if (existing.length > 0) return Option.none()
        return Option.some(yield* create({ account: DEFAULT_ACCOUNT, name: "first key" }))
      })

      const adopt = (secret: Redacted.Redacted) => insert(secret, DEFAULT_ACCOUNT, "bootstrap key")

      return Keys.of({ authenticate, create, account, list: store.list, revoke, issueFirst, adopt })
    })
  )
}

// ---- helpers ----

const asKeyId = Schema.decodeUnknownOption(KeyId)
