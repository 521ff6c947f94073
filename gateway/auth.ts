/** Authentication by API key, and what its scope allows. */
import { Effect, Either, type Option } from "effect"
import { allows, type Caller, type Scope } from "../core/keys/Key.ts"
import { Keys } from "../core/keys/Keys.ts"
import {
  InvalidArgument,
  type LimitReached,
  PermissionDenied,
  type StoreUnavailable,
  Unauthenticated
} from "../core/model/Errors.ts"
import type { AccountId } from "../core/model/Ids.ts"
import { Quotas, type Rate } from "../core/quotas/Quotas.ts"

/** Live streams run it again to notice a revoked key. */
export type Authentication = Effect.Effect<Caller, Unauthenticated | StoreUnavailable, Keys>

export const authenticate = (request: Request): Authentication =>
  authenticateHeader(request.headers.get("authorization"))

/** `authorization` is the value of the header. */
export const authenticateHeader = (authorization: string | null): Authentication => {
  if (authorization === null || authorization === "") return new Unauthenticated({ key: "missing" })
  const secret = bearer(authorization)
  return secret === undefined
    ? new Unauthenticated({ key: "unreadable" })
    : Effect.flatMap(Keys, (keys) => keys.authenticate(secret))
}

/** A caller whose request was counted. */
export interface Admission {
  readonly caller: Caller
  readonly rate: Option.Option<Rate>
}

/**
 * Authenticates and counts a request. Fails if the account has sent too many, after a delay that slows a flood.
 * `showsLimits`: a few more are admitted, so that a client can learn what its limits are.
 */
export const admit = (
  authentication: Authentication,
  showsLimits: boolean
): Effect.Effect<Admission, Unauthenticated | LimitReached | StoreUnavailable, Keys | Quotas> =>
  Effect.flatMap(authentication, (caller) =>
    Effect.flatMap(Quotas, (quotas) =>
      Effect.matchEffect(quotas.admit(caller.account, showsLimits ? BEYOND_LIMIT : 0), {
        onFailure: (error) => Effect.delay(error, REFUSAL_DELAY),
        onSuccess: (rate) => Effect.succeed({ caller, rate })
      })
    )
  )

/** Calls in one request. */
const MAX_CALLS = 20

/** Fails if a batch has too many calls, before any of them runs. */
export const checkBatch = (calls: number): Either.Either<void, InvalidArgument> =>
  calls <= MAX_CALLS
    ? Either.void
    : Either.left(
        new InvalidArgument({
          issues: [
            {
              path: "",
              message: `A batch has at most ${MAX_CALLS} calls, this one has ${calls}: send several requests`
            }
          ]
        })
      )

/** Counts a further call of a batch as a request: the first one was counted with the request itself. */
export const admitCall = (account: AccountId): Effect.Effect<void, LimitReached, Quotas> =>
  Effect.flatMap(Quotas, (quotas) => quotas.admit(account))

/** Whether the caller of a request may do what needs the scope. */
export type ScopeCheck = (needed: Scope) => Either.Either<void, PermissionDenied>

/** Before the request is read: the answer must not depend on what it asks for. */
export const checkScope = ({ scope }: Caller, needed: Scope): Either.Either<void, PermissionDenied> =>
  allows(scope, needed) ? Either.void : Either.left(new PermissionDenied({ scope, needed }))

/** The key in the value of the header. HTTP scheme names are case-insensitive. */
export const bearer = (header: string | null): string | undefined => /^bearer +([!-~]{1,512})$/i.exec(header ?? "")?.[1]

// ---- helpers ----

/** Requests per minute. */
const BEYOND_LIMIT = 10

/** Connections of a client that ignores the limit then cost almost nothing. */
const REFUSAL_DELAY = "1 second"
