/** Storage port for accounts and keys, with an in-memory layer. */
import { Context, Effect, Layer, Option } from "effect"
import { LastAdminKey, type StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, KeyId } from "../model/Ids.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import { isActive, type Key, type Scope } from "./Key.ts"

export interface StoredAccount {
  readonly id: AccountId
  readonly name: string
  readonly createdAt: Timestamp
}

export interface NewKey {
  readonly id: KeyId
  readonly accountId: AccountId
  readonly name: string
  readonly scope: Scope
  readonly hint: string
  readonly digest: string
  readonly createdAt: Timestamp
  readonly expiresAt: Option.Option<Timestamp>
}

/** A key, of this account if one is given. */
export interface KeySelector {
  readonly id: KeyId
  readonly account: Option.Option<AccountId>
}

export class KeyStore extends Context.Tag("core/KeyStore")<
  KeyStore,
  {
    /** The account must exist. Returns the stored key if the digest is already known. */
    readonly insert: (key: NewKey) => Effect.Effect<Key, StoreUnavailable>
    /** None if the store has any key. Of concurrent calls for one account only one inserts, also in several processes. */
    readonly insertFirst: (key: NewKey) => Effect.Effect<Option.Option<Key>, StoreUnavailable>
    /** Finds the account by name, or creates it with the given id. */
    readonly account: (account: StoredAccount) => Effect.Effect<AccountId, StoreUnavailable>
    /** One account or all, oldest first. */
    readonly accounts: (id: Option.Option<AccountId>) => Effect.Effect<ReadonlyArray<StoredAccount>, StoreUnavailable>
    /** Includes revoked and expired keys. Finds a previous secret until its time is over. */
    readonly findByDigest: (digest: string, at: Timestamp) => Effect.Effect<Option.Option<Key>, StoreUnavailable>
    /** Of one account or of all, oldest first, including revoked and expired keys. */
    readonly list: (account: Option.Option<AccountId>) => Effect.Effect<ReadonlyArray<Key>, StoreUnavailable>
    /**
     * None for an unknown id. A second call keeps the first revocation time. Fails with `LastAdminKey` if the account
     * would have no active admin key left, unless `force`.
     */
    readonly revoke: (
      key: KeySelector,
      options: { readonly at: Timestamp; readonly force: boolean }
    ) => Effect.Effect<Option.Option<Key>, LastAdminKey | StoreUnavailable>
    /** Replaces the secret of an active key. The present secret becomes the previous one. None for any other key. */
    readonly rotate: (
      key: KeySelector,
      to: { readonly digest: string; readonly hint: string; readonly at: Timestamp; readonly previousUntil: Timestamp }
    ) => Effect.Effect<Option.Option<Key>, StoreUnavailable>
    readonly touch: (id: KeyId, at: Timestamp) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  static readonly layerMemory: Layer.Layer<KeyStore> = Layer.sync(KeyStore, () => {
    const keys = new Map<KeyId, Key>()
    const digests = new Map<string, KeyId>()
    const previousDigests = new Map<string, { readonly id: KeyId; readonly until: Timestamp }>()
    /** By name. */
    const accounts = new Map<string, StoredAccount>()
    const accountsOf = (wanted: Option.Option<AccountId>) =>
      [...accounts.values()].filter(({ id }) => !Option.exists(wanted, (one) => one !== id))
    const nameOf = (account: AccountId) => accountsOf(Option.some(account))[0]?.name ?? ""

    const account = (wanted: StoredAccount) => {
      const known = accounts.get(wanted.name) ?? wanted
      accounts.set(known.name, known)
      return known.id
    }

    const insert = (key: NewKey) =>
      Effect.sync(() => {
        const existing = keys.get(digests.get(key.digest) ?? key.id)
        if (existing !== undefined) return existing
        const stored: Key = {
          id: key.id,
          account_id: key.accountId,
          account: nameOf(key.accountId),
          name: key.name,
          scope: key.scope,
          hint: key.hint,
          created_at: key.createdAt,
          last_used_at: null,
          expires_at: Option.getOrNull(key.expiresAt),
          previous_secret_until: null,
          revoked_at: null
        }
        digests.set(key.digest, key.id)
        keys.set(key.id, stored)
        return stored
      })

    const select = ({ id, account }: KeySelector) =>
      Option.filter(
        Option.fromNullable(keys.get(id)),
        (key) => !Option.exists(account, (own) => own !== key.account_id)
      )

    const replace = (key: Key) => {
      keys.set(key.id, key)
      return Option.some(key)
    }

    const isLastAdmin = (key: Key, at: Timestamp) =>
      key.scope === "admin" &&
      isActive(key, at) &&
      ![...keys.values()].some(
        (other) =>
          other.id !== key.id && other.account_id === key.account_id && other.scope === "admin" && isActive(other, at)
      )

    return KeyStore.of({
      insert,
      insertFirst: (key) => Effect.suspend(() => (keys.size > 0 ? Effect.succeedNone : Effect.asSome(insert(key)))),
      account: (wanted) => Effect.sync(() => account(wanted)),
      accounts: (wanted) => Effect.sync(() => accountsOf(wanted).sort((a, b) => (a.id < b.id ? -1 : 1))),
      findByDigest: (digest, at) =>
        Effect.sync(() => {
          const current = Option.fromNullable(digests.get(digest))
          const previous = Option.filter(Option.fromNullable(previousDigests.get(digest)), ({ until }) => until > at)
          return Option.orElse(current, () => Option.map(previous, ({ id }) => id)).pipe(
            Option.flatMapNullable((id) => keys.get(id))
          )
        }),
      list: (account) =>
        Effect.sync(() =>
          [...keys.values()]
            .filter(({ account_id }) => !Option.exists(account, (own) => own !== account_id))
            .sort((a, b) => (a.id < b.id ? -1 : 1))
        ),
      revoke: (selector, { at, force }) =>
        Effect.suspend(() => {
          const key = Option.getOrUndefined(select(selector))
          if (key === undefined) return Effect.succeedNone
          if (!force && isLastAdmin(key, at)) return new LastAdminKey({ keyId: key.id })
          return Effect.succeed(replace({ ...key, revoked_at: key.revoked_at ?? at }))
        }),
      rotate: (selector, { digest, hint, at, previousUntil }) =>
        Effect.sync(() =>
          Option.flatMap(
            Option.filter(select(selector), (key) => isActive(key, at)),
            (key) => {
              for (const [old, { id }] of previousDigests) if (id === key.id) previousDigests.delete(old)
              for (const [old, id] of digests) {
                if (id !== key.id) continue
                digests.delete(old)
                previousDigests.set(old, { id, until: previousUntil })
              }
              digests.set(digest, key.id)
              return replace({ ...key, hint, previous_secret_until: previousUntil })
            }
          )
        ),
      touch: (id, at) =>
        Effect.sync(() => {
          const key = keys.get(id)
          if (key !== undefined) replace({ ...key, last_used_at: at })
        })
    })
  })
}
