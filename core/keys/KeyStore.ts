/** Storage port for accounts and keys, with an in-memory layer. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, KeyId } from "../model/Ids.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { Key } from "./Key.ts"

export interface NewAccount {
  readonly id: AccountId
  readonly name: string
  readonly createdAt: Timestamp
}

export interface NewKey {
  readonly id: KeyId
  readonly account: Pick<NewAccount, "id" | "name">
  readonly name: string
  readonly hint: string
  readonly digest: string
  readonly createdAt: Timestamp
}

export class KeyStore extends Context.Tag("core/KeyStore")<
  KeyStore,
  {
    /** Creates the account if no account has that name. Returns the stored key if the digest is already known. */
    readonly insert: (key: NewKey) => Effect.Effect<Key, StoreUnavailable>
    /** Finds the account by name, or creates it with the given id. */
    readonly account: (account: NewAccount) => Effect.Effect<AccountId, StoreUnavailable>
    /** Includes revoked keys. */
    readonly findByDigest: (digest: string) => Effect.Effect<Option.Option<Key>, StoreUnavailable>
    /** Oldest first, including revoked keys. */
    readonly list: Effect.Effect<ReadonlyArray<Key>, StoreUnavailable>
    /** None for an unknown id. A second call keeps the first revocation time. */
    readonly revoke: (id: KeyId, at: Timestamp) => Effect.Effect<Option.Option<Key>, StoreUnavailable>
    readonly touch: (id: KeyId, at: Timestamp) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<KeyStore> = Layer.sync(KeyStore, () => {
    const keys = new Map<KeyId, Key>()
    const digests = new Map<string, KeyId>()
    const accounts = new Map<string, AccountId>()

    const account = ({ id, name }: Pick<NewAccount, "id" | "name">) => {
      const known = accounts.get(name) ?? id
      accounts.set(name, known)
      return known
    }

    const insert = (key: NewKey) =>
      Effect.sync(() => {
        const existing = keys.get(digests.get(key.digest) ?? key.id)
        if (existing !== undefined) return existing
        const accountId = account(key.account)
        const stored: Key = {
          id: key.id,
          account_id: accountId,
          account: key.account.name,
          name: key.name,
          hint: key.hint,
          created_at: key.createdAt,
          last_used_at: null,
          revoked_at: null
        }
        digests.set(key.digest, key.id)
        keys.set(key.id, stored)
        return stored
      })

    const change = (id: KeyId, f: (key: Key) => Key) =>
      Effect.sync(() => {
        const key = keys.get(id)
        if (key === undefined) return Option.none()
        keys.set(id, f(key))
        return Option.some(f(key))
      })

    return KeyStore.of({
      insert,
      account: (wanted) => Effect.sync(() => account(wanted)),
      findByDigest: (digest) =>
        Effect.sync(() => Option.flatMapNullable(Option.fromNullable(digests.get(digest)), (id) => keys.get(id))),
      list: Effect.sync(() => [...keys.values()].sort((a, b) => (a.id < b.id ? -1 : 1))),
      revoke: (id, at) => change(id, (key) => ({ ...key, revoked_at: key.revoked_at ?? at })),
      touch: (id, at) => Effect.asVoid(change(id, (key) => ({ ...key, last_used_at: at })))
    })
  })
}
