/** API keys: `es_`, 32 random characters, 6 of checksum. Only the digest of a key is stored. */
import { Effect, FiberRef, Schema } from "effect"
import { AccountId, type GrantId, KeyId } from "../model/Ids.ts"
import { Timestamp } from "../model/Timestamp.ts"

/** From the least to the most. Each scope allows everything that the scopes before it allow. */
export const SCOPES = ["read", "write", "admin"] as const

export const Scope = Schema.Literal(...SCOPES).annotations({
  identifier: "Scope",
  description: "read: lists, streams and status. write: also rules, webhooks and events. admin: also keys."
})
export type Scope = typeof Scope.Type

export const allows = (scope: Scope, needed: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)

export const Key = Schema.Struct({
  id: KeyId,
  account_id: AccountId,
  account: Schema.String.annotations({ description: "Name of the account" }),
  name: Schema.String,
  scope: Scope,
  hint: Schema.String.annotations({ description: "The first characters of the secret, to recognize it by" }),
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp).annotations({
    description:
      "May be up to 65 seconds too early: to save writes it is updated at most once a minute; null: never used"
  }),
  expires_at: Schema.NullOr(Timestamp).annotations({ description: "The key stops working at this time; null: never" }),
  previous_secret_until: Schema.NullOr(Timestamp).annotations({
    description: "After a rotation: the previous secret works until this time"
  }),
  revoked_at: Schema.NullOr(Timestamp)
}).annotations({ identifier: "Key" })
export type Key = typeof Key.Type

/** Neither revoked nor expired. */
export const isActive = ({ revoked_at, expires_at }: Key, now: Timestamp): boolean =>
  revoked_at === null && (expires_at === null || expires_at > now)

/** Who sends a request, by the key or access token of the request. */
export interface Caller {
  readonly account: AccountId
  readonly scope: Scope
  /** Absent for a local caller, which needs none. */
  readonly key?: KeyId
  /** Of an access token: `key` is then the key that allowed it. */
  readonly grant?: { readonly id: GrantId; readonly client: string; readonly clientName: string }
}

/** A caller, or the service itself, which acts for no account. */
type Acting = Pick<Caller, "scope" | "key" | "grant"> & Partial<Pick<Caller, "account">>

/** Who makes the current request. Not a service, for the same reason as `RequestId`. */
export const Actor: FiberRef.FiberRef<Acting> = FiberRef.unsafeMake<Acting>({ scope: "admin" })

export const asActor = <A, E, R>(caller: Caller, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, Actor, caller)

export const hintOf = (secret: string): string => `${secret.slice(0, 8)}…`
