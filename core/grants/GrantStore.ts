/** Storage port for grants and the digests of their tokens. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, GrantId } from "../model/Ids.ts"
import type { Timestamp } from "../model/Timestamp.ts"
import type { Grant, GrantEnd } from "./Grant.ts"

export interface NewGrant
  extends Omit<Grant, "last_used_at" | "expires_at" | "ended_at" | "ended_by">,
    Pick<StoredCode, "redirectUri" | "challenge" | "expiresAt"> {
  readonly codeDigest: string
}

export interface StoredGrant extends Grant {
  /** False until the client has its first tokens. */
  readonly isExchanged: boolean
  /** When the key that allowed it was revoked or expires. A grant that has ended for this reason has it as its end. */
  readonly keyEndsAt: Timestamp | null
}

export interface StoredCode {
  readonly grant: StoredGrant
  readonly redirectUri: string
  readonly challenge: string
  readonly expiresAt: Timestamp
}

/** Refresh tokens are numbered within their grant: those that replace one have the next number. */
export interface StoredToken {
  readonly grant: StoredGrant
  readonly kind: "access" | "refresh"
  readonly generation: number
  readonly expiresAt: Timestamp
}

/** Digests of an access token and a refresh token. The grant lasts as long as the refresh token. */
export interface NewTokens {
  readonly access: { readonly digest: string; readonly expiresAt: Timestamp }
  readonly refresh: { readonly digest: string; readonly expiresAt: Timestamp }
}

/** A grant, of this account if one is given. */
export interface GrantSelector {
  readonly id: GrantId
  readonly account: Option.Option<AccountId>
}

export class GrantStore extends Context.Tag("core/GrantStore")<
  GrantStore,
  {
    /**
     * Deletes all grants of the account but the newest ones, if they are not active. False if there is one with this id:
     * nothing is stored then.
     */
    readonly insert: (grant: NewGrant) => Effect.Effect<boolean, StoreUnavailable>
    readonly findByCode: (digest: string, at: Timestamp) => Effect.Effect<Option.Option<StoredCode>, StoreUnavailable>
    readonly findByToken: (digest: string, at: Timestamp) => Effect.Effect<Option.Option<StoredToken>, StoreUnavailable>
    /** Of one account or of all, oldest first, including ended and expired ones. */
    readonly list: (
      account: Option.Option<AccountId>,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<StoredGrant>, StoreUnavailable>
    /** Adds the first tokens. False if the grant has some already, or has ended. Of concurrent calls one succeeds. */
    readonly exchange: (id: GrantId, tokens: NewTokens, at: Timestamp) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Adds the tokens that replace a refresh token of `generation`. Of the last one, further tokens may replace it until
     * `graceMillis` after the first. False if it was replaced before, or the grant has ended.
     */
    readonly rotate: (
      id: GrantId,
      generation: number,
      tokens: NewTokens,
      options: { readonly at: Timestamp; readonly graceMillis: number }
    ) => Effect.Effect<boolean, StoreUnavailable>
    /** Deletes its tokens. None for an unknown id. A second call keeps the first end. */
    readonly end: (
      grant: GrantSelector,
      options: { readonly at: Timestamp; readonly by: GrantEnd }
    ) => Effect.Effect<Option.Option<StoredGrant>, StoreUnavailable>
    readonly touch: (id: GrantId, at: Timestamp) => Effect.Effect<void, StoreUnavailable>
    /** The secret of this store. The first call stores its own. */
    readonly secret: (own: string) => Effect.Effect<string, StoreUnavailable>
  }
>() {}

/** How many grants of an account are kept at least: the active ones, and the newest of the others. */
export const KEPT_GRANTS = 200

/** More tokens of a grant are never kept: the oldest go first. The use of one that is gone is refused, but ends nothing. */
export const KEPT_TOKENS = 200

/** Applies the end of the key, which is not written to the grant. */
export const withKeyEnd = (grant: StoredGrant, at: Timestamp): StoredGrant => {
  const { keyEndsAt, ended_at } = grant
  const isOver = keyEndsAt !== null && keyEndsAt <= at && (ended_at === null || keyEndsAt < ended_at)
  return isOver ? { ...grant, ended_at: keyEndsAt, ended_by: "key" } : grant
}
