/** The documents with which clients find the sign-in: RFC 9728 and RFC 8414. */
import { Effect } from "effect"
import { GRANT_SCOPES } from "../../core/grants/Grant.ts"
import type { Issuer } from "../../core/grants/Grants.ts"
import { json, type OpenRoute } from "../http/route.ts"

export const AUTHORIZE_PATH = "/oauth/authorize"
export const TOKEN_PATH = "/oauth/token"
export const REVOKE_PATH = "/oauth/revoke"
export const REGISTER_PATH = "/oauth/register"

const WELL_KNOWN = "/.well-known/oauth-protected-resource"

/** Of `/mcp`. */
export const RESOURCE_METADATA = `${WELL_KNOWN}/mcp`

export const metadataRoutes = ({ issuer, resource }: Issuer): ReadonlyArray<OpenRoute<never>> => {
  const ofResource = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: GRANT_SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "Earshot"
  }
  const ofServer = {
    issuer,
    authorization_endpoint: issuer + AUTHORIZE_PATH,
    token_endpoint: issuer + TOKEN_PATH,
    registration_endpoint: issuer + REGISTER_PATH,
    revocation_endpoint: issuer + REVOKE_PATH,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: GRANT_SCOPES,
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true
  }
  return [
    // Some clients look at the root only.
    document(WELL_KNOWN, ofResource),
    document(RESOURCE_METADATA, ofResource),
    document("/.well-known/oauth-authorization-server", ofServer)
  ]
}

// ---- helpers ----

const document = (path: string, content: object): OpenRoute<never> => ({
  method: "GET",
  path,
  reply: () => Effect.succeed(json(200, content))
})
