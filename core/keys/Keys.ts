/** The key use cases: who is calling, and how keys come and go. */
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Entropy } from "../model/Entropy.ts"
import { KeyNotFound, type StorageUnavailable, Unauthenticated } from "../model/Errors.ts"
import { type AccountId, Ids, KeyId } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { hintOf, isMistyped, type Key, makeSecret } from "./Key.ts"
import { KeyStore } from "./KeyStore.ts"

/** A key in the one moment in which its secret is known. */
export interface IssuedKey {
  readonly key: Key
  readonly secret: Redacted.Redacted
}

/** The account that the first key of a store belongs to. */
export const DEFAULT_ACCOUNT = "default"

/** How long another process may go on accepting a key after its revocation. */
const REMEMBER_MILLIS = 5_000
/** The time of last use is kept this exact and no more: it is a write. */
const TOUCH_MILLIS = 60_000
const REMEMBER_AT_MOST = 10_000
const NEVER = "1970-01-01T00:00:00.000Z"

export class Keys extends Context.Tag("core/Keys")<
  Keys,
  {
    /** The account that the secret opens. */
    readonly authenticate: (secret: string) => Effect.Effect<AccountId, Unauthenticated | StorageUnavailable>
    /** Creates the account if there is none of that name. */
    readonly create: (options: {
      readonly account: string
      readonly name: string
    }) => Effect.Effect<IssuedKey, StorageUnavailable>
    /** The account of that name; created if there is none. For who needs no key, being on the same machine. */
    readonly account: (name: string) => Effect.Effect<AccountId, StorageUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<Key>, StorageUnavailable>
    /** `id` may be any text: what is not an id of a key is not found. */
    readonly revoke: (id: string) => Effect.Effect<Key, KeyNotFound | StorageUnavailable>
    /** The first key of an empty store; none when the store has keys. */
    readonly issueFirst: Effect.Effect<Option.Option<IssuedKey>, StorageUnavailable>
    /** Makes a secret of the operator's own a key of the default account. Harmless to repeat. */
    readonly adopt: (secret: Redacted.Redacted) => Effect.Effect<Key, StorageUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Keys, never, KeyStore | Ids | Entropy> = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const store = yield* KeyStore
      const ids = yield* Ids
      const entropy = yield* Entropy
      // By the secret itself, for seconds: a digest for each request would cost more than the rest of the check.
      const remembered = new Map<string, { readonly key: Key; readonly until: number }>()

      const lookUp = (secret: string, now: number) =>
        Effect.gen(function* () {
          const found = yield* store.findByDigest(entropy.sha256(secret))
          if (Option.isNone(found) || found.value.revoked_at !== null) {
            remembered.delete(secret)
            return yield* new Unauthenticated()
          }
          if (remembered.size >= REMEMBER_AT_MOST) remembered.clear()
          remembered.set(secret, { key: found.value, until: now + REMEMBER_MILLIS })
          if (now - Date.parse(found.value.last_used_at ?? NEVER) > TOUCH_MILLIS) {
            yield* store.touch(found.value.id, Timestamp.fromMillis(now))
          }
          return found.value.account_id
        })

      const authenticate = (secret: string) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const known = remembered.get(secret)
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
        remembered.clear()
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
