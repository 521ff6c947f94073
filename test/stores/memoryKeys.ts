/** `KeyStore` in memory. */
import { Effect, Layer, Option } from "effect"
import { isActive, type Key } from "../../core/keys/Key.ts"
import { type KeySelector, KeyStore, type NewKey, type StoredAccount } from "../../core/keys/KeyStore.ts"
import { LastAdminKey } from "../../core/model/Errors.ts"
import type { AccountId, KeyId } from "../../core/model/Ids.ts"
import type { Timestamp } from "../../core/model/Timestamp.ts"

export const memoryKeys: Layer.Layer<KeyStore> = Layer.sync(KeyStore, () => {
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
    Option.filter(Option.fromNullable(keys.get(id)), (key) => !Option.exists(account, (own) => own !== key.account_id))

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
