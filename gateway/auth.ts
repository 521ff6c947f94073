/** Authentication by API key, and what its scope allows. */
import { Effect, Either } from "effect"
import { allows, type Caller, type Scope } from "../core/keys/Key.ts"
import { Keys } from "../core/keys/Keys.ts"
import { PermissionDenied, type StoreUnavailable, Unauthenticated } from "../core/model/Errors.ts"

/** Live streams run it again to notice a revoked key. */
export type Authentication = Effect.Effect<Caller, Unauthenticated | StoreUnavailable, Keys>

export const authenticate = (request: Request): Authentication =>
  authenticateHeader(request.headers.get("authorization"))

/** `authorization` is the value of the header. */
export const authenticateHeader = (authorization: string | null): Authentication => {
  const secret = bearer(authorization)
  return secret === undefined ? new Unauthenticated() : Effect.flatMap(Keys, (keys) => keys.authenticate(secret))
}

/** Before the request is read: the answer must not depend on what it asks for. */
export const checkScope = ({ scope }: Caller, needed: Scope): Either.Either<void, PermissionDenied> =>
  allows(scope, needed) ? Either.void : Either.left(new PermissionDenied({ scope, needed }))

/** The key in the value of the header. HTTP scheme names are case-insensitive. */
export const bearer = (header: string | null): string | undefined => /^bearer +([!-~]{1,512})$/i.exec(header ?? "")?.[1]
