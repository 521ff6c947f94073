/** The operations on keys, for the account of the caller. */
import { Schema } from "effect"
import { Key } from "../core/keys/Key.ts"
import { KeyDraft, overlapSeconds } from "../core/keys/Keys.ts"
import { contract } from "./Contract.ts"

const EXAMPLE_ID = "key_01kzyn2d7pe4xv9b3m6t8r0c5w"

const exampleKey = {
  id: EXAMPLE_ID,
  account_id: "acct_01kzyn2b1se8q9w3n5y7h0v4dz",
  account: "default",
  name: "dashboard",
  scope: "read",
  hint: "es_7Kq2m…",
  created_at: "2026-11-15T08:30:30.000Z",
  last_used_at: null,
  expires_at: "2027-02-15T00:00:00.000Z",
  previous_secret_until: null,
  revoked_at: null
} as const

const EXAMPLE_SECRET = "es_7Kq2mVx8LrT4nWc9YbP1dZs6HgJ3fQaE0uKt5o"

const WithSecret = Schema.Struct({
  key: Key,
  secret: Schema.String.annotations({ description: "The API key itself. Shown only in this response" })
})

export const keys = {
  create: contract({
    method: "POST",
    path: "/keys/create",
    name: "createKey",
    scope: "admin",
    tag: "keys",
    summary: "Create a key",
    description:
      "Creates an API key of the account. read allows lists, streams and status; write allows rules, webhooks and events too; admin allows keys too.",
    input: KeyDraft,
    output: WithSecret,
    example: {
      request: { name: "dashboard", scope: "read", expires_at: "2027-02-15T00:00:00Z" },
      response: { key: exampleKey, secret: EXAMPLE_SECRET }
    }
  }),

  list: contract({
    method: "GET",
    path: "/keys",
    name: "listKeys",
    scope: "admin",
    tag: "keys",
    summary: "List the keys",
    description: "All keys of the account, oldest first, including expired and revoked ones. Secrets are never shown.",
    input: Schema.Struct({}),
    output: Schema.Struct({ keys: Schema.Array(Key) }),
    example: { response: { keys: [exampleKey] } }
  }),

  revoke: contract({
    method: "POST",
    path: "/keys/revoke",
    name: "revokeKey",
    scope: "admin",
    tag: "keys",
    summary: "Revoke a key",
    description:
      "The key stops working at once; other servers on the same database reject it within five seconds. The last active admin key of an account cannot be revoked: create another one first. The operator of the server can revoke it with `earshot keys revoke --force`.",
    input: Schema.Struct({ key_id: Schema.String }),
    output: Schema.Struct({ key: Key }),
    example: {
      request: { key_id: EXAMPLE_ID },
      response: { key: { ...exampleKey, revoked_at: "2026-11-15T09:00:00.000Z" } }
    }
  }),

  rotate: contract({
    method: "POST",
    path: "/keys/rotate",
    name: "rotateKey",
    scope: "admin",
    tag: "keys",
    summary: "Replace the secret of a key",
    description:
      "Returns a new secret. The previous one works for `overlap_seconds` more, so that programs can change over without a break; 0 ends it at once. Name, scope and expiry stay.",
    input: Schema.Struct({ key_id: Schema.String, overlap_seconds: overlapSeconds }),
    output: WithSecret,
    example: {
      request: { key_id: EXAMPLE_ID, overlap_seconds: 3_600 },
      response: {
        key: { ...exampleKey, previous_secret_until: "2026-11-15T10:00:00.000Z" },
        secret: EXAMPLE_SECRET
      }
    }
  })
}
