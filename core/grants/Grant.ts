/** Grants: what a person allowed an OAuth client, and the request to allow it. */
import { Schema } from "effect"
import { AccountId, GrantId, KeyId } from "../model/Ids.ts"
import { Timestamp } from "../model/Timestamp.ts"

/** From the least to the most. Keys cannot be managed with a grant. */
export const GRANT_SCOPES = ["read", "write"] as const

export const GrantScope = Schema.Literal(...GRANT_SCOPES)
export type GrantScope = typeof GrantScope.Type

export const isWithin = (scope: GrantScope, most: GrantScope): boolean => scope === "read" || most === "write"

/** `reuse`: a code or a refresh token was used a second time, so that somebody may have stolen it. */
export const GrantEnd = Schema.Literal("revoked", "client", "reuse", "key")
export type GrantEnd = typeof GrantEnd.Type

export const Grant = Schema.Struct({
  id: GrantId,
  account_id: AccountId,
  client_id: Schema.String.annotations({
    description: "Address of the document that describes the client; of a client that registered itself, a digest"
  }),
  client_name: Schema.String.annotations({ description: "What the client calls itself. Nobody has verified it" }),
  redirect_host: Schema.String.annotations({ description: "Where the browser was sent after the decision" }),
  scope: GrantScope,
  resource: Schema.String.annotations({ description: "The address that the tokens are valid for" }),
  key_id: KeyId.annotations({ description: "The key that allowed it. The grant ends with the key" }),
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp).annotations({
    description: "May be up to 65 seconds too early: to save writes it is updated at most once a minute; null: never"
  }),
  expires_at: Timestamp.annotations({ description: "The grant ends at this time, unless the client renews it" }),
  ended_at: Schema.NullOr(Timestamp),
  ended_by: Schema.NullOr(GrantEnd).annotations({
    jsonSchema: {
      type: ["string", "null"],
      enum: [...GrantEnd.literals, null],
      description:
        "revoked: by the account; client: by the client; reuse: a code or refresh token was used twice; key: the key that allowed it was revoked or has expired"
    }
  })
}).annotations({ identifier: "Grant" })
export type Grant = typeof Grant.Type

/** Neither ended nor expired. */
export const isActive = ({ ended_at, expires_at }: Grant, now: Timestamp): boolean =>
  (ended_at === null || ended_at > now) && expires_at > now

/** How a client told what it is. `known`: its description is part of Earshot. */
export const ClientKind = Schema.Literal("known", "document", "registered")
export type ClientKind = typeof ClientKind.Type

/** A valid request of a client, which waits for the decision of a person. */
export const AccessRequest = Schema.Struct({
  client: Schema.Struct({ id: Schema.String, name: Schema.String, kind: ClientKind }),
  redirectUri: Schema.String,
  /** SHA-256 of the client's secret, in base64url. */
  challenge: Schema.String,
  state: Schema.NullOr(Schema.String),
  /** The most that the client asks for. */
  scope: GrantScope
})
export type AccessRequest = typeof AccessRequest.Type

/** The request as the person sees it. */
export const ShownRequest = Schema.Struct({
  client_id: Schema.String,
  client_name: Schema.String.annotations({ description: "What the client calls itself" }),
  client_kind: ClientKind.annotations({
    description:
      "known: Earshot knows this client; document: it is described by the document at client_id; registered: nothing about it is verified"
  }),
  redirect_host: Schema.String.annotations({ description: "Where the browser goes after the decision" }),
  is_local: Schema.Boolean.annotations({ description: "It goes to a program on the computer of the browser" }),
  scopes: Schema.Array(GrantScope).annotations({ description: "What can be allowed" }),
  resource: Schema.String
}).annotations({ identifier: "AccessRequest" })
export type ShownRequest = typeof ShownRequest.Type
