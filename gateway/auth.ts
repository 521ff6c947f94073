/** Authentication by API key. */
import { Effect } from "effect"
import { Keys } from "../core/keys/Keys.ts"
import { type StoreUnavailable, Unauthenticated } from "../core/model/Errors.ts"
import type { AccountId } from "../core/model/Ids.ts"

/** Live streams run it again to notice a revoked key. */
export type Authentication = Effect.Effect<AccountId, Unauthenticated | StoreUnavailable, Keys>

export const authenticate = (request: Request): Authentication =>
  authenticateHeader(request.headers.get("authorization"))

/** `authorization` is the value of the header. */
export const authenticateHeader = (authorization: string | null): Authentication => {
  const secret = bearer(authorization)
  return secret === undefined ? new Unauthenticated() : Effect.flatMap(Keys, (keys) => keys.authenticate(secret))
}

// ---- helpers ----

/** HTTP scheme names are case-insensitive. */
const bearer = (header: string | null): string | undefined => /^bearer +([!-~]{1,512})$/i.exec(header ?? "")?.[1]
