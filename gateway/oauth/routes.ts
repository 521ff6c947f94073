/** Sign-in with OAuth 2.1: its routes, and what `/mcp` answers to requests without a valid token. */
import { Effect, Either } from "effect"
import type { Clients } from "../../core/grants/Clients.ts"
import type { Grants, Issuer } from "../../core/grants/Grants.ts"
import type { Quotas } from "../../core/quotas/Quotas.ts"
import { type DoorFailure, RequestError } from "../errors.ts"
import type { OpenRoute } from "../http/route.ts"
import { authorizeRoute } from "./authorize.ts"
import { metadataRoutes, RESOURCE_METADATA } from "./metadata.ts"
import { registerRoute } from "./register.ts"
import { tokenRoutes } from "./token.ts"

/** Left: why sign-in is off. The routes then say so. */
export type SignIn = Either.Either<Issuer, string>

export const oauthRoutes = (signIn: SignIn): ReadonlyArray<OpenRoute<Grants | Clients | Quotas>> =>
  Either.match(signIn, {
    onLeft: (reason) => routesOf(UNUSED).map(({ method, path }) => ({ method, path, reply: () => signInOff(reason) })),
    onRight: routesOf
  })

/** Tells a client where to sign in, and for what. Empty for other failures, and if sign-in is off. */
export const challengeOf =
  (signIn: SignIn) =>
  (failure: DoorFailure): Readonly<Record<string, string>> => {
    if (Either.isLeft(signIn)) return {}
    const metadata = `resource_metadata="${signIn.right.issuer}${RESOURCE_METADATA}"`
    switch (failure._tag) {
      case "Unauthenticated": {
        const error = failure.key === "missing" ? "" : ', error="invalid_token"'
        return { "www-authenticate": `Bearer ${metadata}, scope="read write"${error}` }
      }
      case "PermissionDenied":
        return failure.needed === "write"
          ? { "www-authenticate": `Bearer ${metadata}, scope="read write", error="insufficient_scope"` }
          : {}
      default:
        return {}
    }
  }

// ---- helpers ----

const routesOf = (issuer: Issuer): ReadonlyArray<OpenRoute<Grants | Clients | Quotas>> => [
  ...metadataRoutes(issuer),
  authorizeRoute(issuer),
  registerRoute(),
  ...tokenRoutes()
]

/** For the paths alone. */
const UNUSED: Issuer = { issuer: "", resource: "" }

const signInOff = (reason: string) =>
  Effect.fail(
    new RequestError({
      status: 404,
      code: "not_found",
      message: `Sign-in with OAuth is off: ${reason}. Use an API key: send it as the header Authorization: Bearer <API_KEY>`,
      details: {}
    })
  )
