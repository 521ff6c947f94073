/** The operations on grants: what OAuth clients may do for the account of the caller. */
import { Schema } from "effect"
import { GRANT_SCOPES, Grant, ShownRequest } from "../core/grants/Grant.ts"
import { contract } from "./Contract.ts"

const EXAMPLE_ID = "grant_01kzyn7h2qe5tv8b4m6r9s0d1x"

const EXAMPLE_REQUEST = "pX0mZ3k2…"

const RESOURCE = "https://earshot.example.com/mcp"

const exampleGrant = {
  id: EXAMPLE_ID,
  account_id: "acct_01kzyn2b1se8q9w3n5y7h0v4dz",
  client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
  client_name: "Claude",
  redirect_host: "claude.ai",
  scope: "write",
  resource: RESOURCE,
  key_id: "key_01kzyn2d7pe4xv9b3m6t8r0c5w",
  created_at: "2026-11-15T08:40:00.000Z",
  last_used_at: "2026-11-15T08:41:12.000Z",
  expires_at: "2026-12-15T08:40:00.000Z",
  ended_at: null,
  ended_by: null
} as const

const requestField = Schema.String.pipe(Schema.maxLength(8_000)).annotations({
  jsonSchema: { type: "string", maxLength: 8_000, description: "The text that the console got from /oauth/authorize" }
})

export const grants = {
  list: contract({
    method: "GET",
    path: "/grants",
    name: "listGrants",
    scope: "admin",
    tag: "grants",
    summary: "List the grants",
    description:
      "What OAuth clients, such as assistants, may do for the account, oldest first, including grants that have ended or expired. Tokens are never shown.",
    input: Schema.Struct({}),
    output: Schema.Struct({ grants: Schema.Array(Grant) }),
    example: { response: { grants: [exampleGrant] } }
  }),

  revoke: contract({
    method: "POST",
    path: "/grants/revoke",
    name: "revokeGrant",
    scope: "admin",
    tag: "grants",
    summary: "Revoke a grant",
    description:
      "The tokens of the client stop working at once; other servers on the same database reject them within five seconds. The client can ask for access again.",
    input: Schema.Struct({ grant_id: Schema.String }),
    output: Schema.Struct({ grant: Grant }),
    example: {
      request: { grant_id: EXAMPLE_ID },
      response: { grant: { ...exampleGrant, ended_at: "2026-11-15T09:00:00.000Z", ended_by: "revoked" } }
    }
  }),

  request: contract({
    method: "POST",
    path: "/grants/request",
    name: "readAccessRequest",
    scope: "read",
    tag: "grants",
    summary: "Read the request of an OAuth client",
    description: "What a client asks for, to show it to a person. A request is valid for ten minutes.",
    input: Schema.Struct({ request: requestField }),
    output: ShownRequest,
    example: {
      request: { request: EXAMPLE_REQUEST },
      response: {
        client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
        client_name: "Claude",
        client_kind: "known",
        redirect_host: "claude.ai",
        is_local: false,
        scopes: ["read", "write"],
        resource: RESOURCE
      }
    }
  }),

  decide: contract({
    method: "POST",
    path: "/grants/decide",
    name: "decideAccessRequest",
    scope: "write",
    tag: "grants",
    summary: "Allow or deny what an OAuth client asks for",
    description:
      "Returns the address of the client to which the browser must go with the decision. Only a person with an API key can decide: an access token cannot. The grant ends with the key.",
    input: Schema.Struct({
      request: requestField,
      decision: Schema.Literal("deny", ...GRANT_SCOPES).annotations({
        description: "deny, or what the client may do: read, or write, which includes read"
      })
    }),
    output: Schema.Struct({ redirect_uri: Schema.String }),
    example: {
      request: { request: EXAMPLE_REQUEST, decision: "write" as const },
      response: {
        redirect_uri:
          "https://claude.ai/api/mcp/auth_callback?code=eac_…&state=6f1c&iss=https%3A%2F%2Fearshot.example.com"
      }
    }
  })
}
