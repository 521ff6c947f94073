/** Calls operations for tools: in this process, or on a remote server. */
import { Effect, type Either, Predicate, type Schema } from "effect"
import { asActor, type Caller } from "../../core/keys/Key.ts"
import type { InvalidArgument } from "../../core/model/Errors.ts"
import { checkScope } from "../auth.ts"
import { type Endpoint, perform, type Services } from "../endpoint.ts"
import { toWire } from "../errors.ts"

/** The documented error shape. */
export interface CallError {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** `args` are not decoded yet. */
export type Call<R> = <A, I, O, OI>(callee: Callee<A, I, O, OI>, args: unknown) => Effect.Effect<O, CallError, R>

export interface Callee<A, I, O, OI> {
  readonly endpoint: Endpoint<A, I, O, OI>
  readonly decode: (args: unknown) => Either.Either<A, InvalidArgument>
}

export const callAs =
  (caller: Caller): Call<Services> =>
  ({ endpoint, decode }, args) =>
    Effect.gen(function* () {
      yield* checkScope(caller, endpoint.scope)
      const input = yield* decode(args)
      return yield* asActor(caller, perform(endpoint, caller.account, input))
    }).pipe(Effect.mapError(toWire))

/** A client of a running Earshot. */
export type RemoteRequest = <A, I>(call: {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> }
  readonly answer: Schema.Schema<A, I>
}) => Effect.Effect<A, CallError | { readonly _tag: "RemoteUnreachable"; readonly message: string }>

/** The server decodes the arguments and knows the account by the client's key. */
export const callRemote =
  (request: RemoteRequest): Call<never> =>
  ({ endpoint: { method, path, output } }, args) =>
    request(
      method === "GET"
        ? { method, path: `${path}?${queryOf(args)}`, answer: output }
        : {
            method,
            path,
            body: { type: "application/json", content: new TextEncoder().encode(JSON.stringify(args)) },
            answer: output
          }
    ).pipe(
      Effect.mapError((failure) =>
        "code" in failure ? failure : { code: "unavailable", message: failure.message, details: {} }
      )
    )

// ---- helpers ----

/** Sends unknown arguments too, so that the server can report them. */
const queryOf = (args: unknown): string =>
  new URLSearchParams(
    Object.entries(Predicate.isRecord(args) ? args : {}).map(([name, value]) => [
      name,
      typeof value === "string" ? value : (JSON.stringify(value) ?? "")
    ])
  ).toString()
