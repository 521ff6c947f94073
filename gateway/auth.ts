/** Who is calling: the key of a request, before anything else of it is read. */
import { Effect } from "effect"
import { Keys } from "../core/keys/Keys.ts"
import { type StorageUnavailable, Unauthenticated } from "../core/model/Errors.ts"
import type { AccountId } from "../core/model/Ids.ts"

/** Whose a key is, if it is one. It can be asked again, when the request is gone. */
export type Authentication = Effect.Effect<AccountId, Unauthenticated | StorageUnavailable, Keys>

export const authenticate = (request: Request): Authentication => authenticateBy(request.headers.get("authorization"))

/** By the value of an `Authorization` header. */
export const authenticateBy = (authorization: string | null): Authentication => {
  const secret = bearer(authorization)
  return secret === undefined ? new Unauthenticated() : Effect.flatMap(Keys, (keys) => keys.authenticate(secret))
}

// ---- helpers ----

/** The scheme's name is compared without regard to case, as HTTP has it. */
const bearer = (header: string | null): string | undefined => /^bearer +([!-~]{1,512})$/i.exec(header ?? "")?.[1]
