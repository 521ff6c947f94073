/** Who is calling: the key of a request, before anything else of it is read. */
import { Effect } from "effect"
import { type StorageUnavailable, Unauthenticated } from "../core/Errors.ts"
import type { AccountId } from "../core/Ids.ts"
import { Keys } from "../core/Keys.ts"

export const authenticate = (
  request: Request
): Effect.Effect<AccountId, Unauthenticated | StorageUnavailable, Keys> => {
  const secret = bearer(request.headers.get("authorization"))
  return secret === undefined ? new Unauthenticated() : Effect.flatMap(Keys, (keys) => keys.authenticate(secret))
}

// ---- helpers ----

/** The scheme's name is compared without regard to case, as HTTP has it. */
const bearer = (header: string | null): string | undefined => /^bearer +([!-~]{1,512})$/i.exec(header ?? "")?.[1]
