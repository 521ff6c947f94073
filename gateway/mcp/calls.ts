/** Calls operations for tools: in this process, or on a remote server. */
import { Effect, type Either, Option, Predicate } from "effect"
import { type Contract, changesState } from "../../api/Contract.ts"
import { type Send, uncheckedCall, withKey } from "../../api/calls.ts"
import { asActor, type Caller } from "../../core/keys/Key.ts"
import type { InvalidArgument } from "../../core/model/Errors.ts"
import { checkScope, type ScopeCheck } from "../auth.ts"
import { toWire } from "../errors.ts"
import type { Services } from "../operations/Handlers.ts"
import { splitKey } from "../operations/idempotency.ts"
import { perform } from "../operations/perform.ts"

/** The documented error shape. */
export interface CallError {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** `args` are not decoded yet. */
export type Call<R> = <A, I, O, OI>(callee: Callee<A, I, O, OI>, args: unknown) => Effect.Effect<O, CallError, R>

export interface Callee<A, I, O, OI> {
  readonly contract: Contract<A, I, O, OI>
  readonly decode: (args: unknown) => Either.Either<A, InvalidArgument>
}

export const callAs =
  (caller: Caller, check: ScopeCheck = (needed) => checkScope(caller, needed)): Call<Services> =>
  ({ contract, decode }, args) =>
    Effect.gen(function* () {
      yield* check(contract.scope)
      const asked = splitKey(yield* decode(args))
      return (yield* asActor(caller, perform(contract, caller.account, asked))).answer
    }).pipe(Effect.mapError(toWire))

/** The server decodes the arguments and knows the account by the client's key. */
export const callRemote =
  (send: Send): Call<never> =>
  ({ contract }, args) => {
    const { key, input } =
      changesState(contract) && Predicate.isRecord(args) ? splitKey(args) : { key: Option.none(), input: args }
    return send(withKey(uncheckedCall(contract, input), Option.map(key, String))).pipe(
      Effect.mapError((failure) =>
        "code" in failure ? failure : { code: "unavailable", message: failure.message, details: {} }
      )
    )
  }
