/** Storage port for accounts and keys. */
import { Context, type Effect, type Option } from "effect"
import type { LastAdminKey, StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, KeyId } from "../model/Ids.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { Key, Scope } from "./Key.ts"

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
>() {}
