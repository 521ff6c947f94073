/** Calls operations for tools: in this process, or on a remote server. */
import { Effect, type Either, Option, Predicate, type Schema } from "effect"
import { type Contract, changesState } from "../../api/Contract.ts"
import { asActor, type Caller } from "../../core/keys/Key.ts"
import type { InvalidArgument } from "../../core/model/Errors.ts"
import { checkScope } from "../auth.ts"
import type { Services } from "../operations/Handlers.ts"
import { perform } from "../operations/perform.ts"
import { toWire } from "../errors.ts"
import { splitKey } from "../idempotency.ts"

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
  (caller: Caller): Call<Services> =>
  ({ contract, decode }, args) =>
    Effect.gen(function* () {
      yield* checkScope(caller, contract.scope)
      const asked = splitKey(yield* decode(args))
      return (yield* asActor(caller, perform(contract, caller.account, asked))).answer
    }).pipe(Effect.mapError(toWire))

/** A client of a running Earshot. */
export type RemoteRequest = <A, I>(call: {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> }
  readonly idempotencyKey?: string
  readonly answer: Schema.Schema<A, I>
}) => Effect.Effect<A, CallError | { readonly _tag: "RemoteUnreachable"; readonly message: string }>

/** The server decodes the arguments and knows the account by the client's key. */
export const callRemote =
  (request: RemoteRequest): Call<never> =>
  ({ contract }, args) =>
    request(
      contract.method === "GET"
        ? { method: "GET", path: `${contract.path}?${queryOf(args)}`, answer: contract.output }
        : post(contract, args)
    ).pipe(
      Effect.mapError((failure) =>
        "code" in failure ? failure : { code: "unavailable", message: failure.message, details: {} }
      )
    )

// ---- helpers ----

const post = <A, I, O, OI>({ method, path, scope, output }: Contract<A, I, O, OI>, args: unknown) => {
  const { key, input } =
    changesState({ method, scope }) && Predicate.isRecord(args) ? splitKey(args) : { key: Option.none(), input: args }
  return {
    method,
    path,
    body: { type: "application/json", content: new TextEncoder().encode(JSON.stringify(input)) },
    ...(Option.isSome(key) && { idempotencyKey: String(key.value) }),
    answer: output
  }
}

/** Sends unknown arguments too, so that the server can report them. */
const queryOf = (args: unknown): string =>
  new URLSearchParams(
    Object.entries(Predicate.isRecord(args) ? args : {}).map(([name, value]) => [
      name,
      typeof value === "string" ? value : (JSON.stringify(value) ?? "")
    ])
  ).toString()
