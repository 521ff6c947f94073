/** How a tool reaches the operations: in this process, or on a server elsewhere. */
import { Effect, type Either, Predicate, type Schema } from "effect"
import type { InvalidArgument } from "../../core/model/Errors.ts"
import type { AccountId } from "../../core/model/Ids.ts"
import type { Endpoint } from "../endpoint.ts"
import { toWire } from "../errors.ts"
import type { Services } from "../operations.ts"

/** Why an operation did not do what it was asked, as every door says it. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Calls an operation with whatever the caller sent. */
export type Call<R> = <A, I, O, OI>(callee: Callee<A, I, O, OI>, args: unknown) => Effect.Effect<O, Refusal, R>

export interface Callee<A, I, O, OI> {
  readonly endpoint: Endpoint<A, I, O, OI>
  /** For the platforms of this server. */
  readonly decode: (args: unknown) => Either.Either<A, InvalidArgument>
}

/** On behalf of the account, in this process. */
export const callAs =
  (account: AccountId): Call<Services> =>
  ({ endpoint, decode }, args) =>
    Effect.gen(function* () {
      const input = yield* decode(args)
      return yield* endpoint.handle(account, input)
    }).pipe(Effect.mapError(toWire))

/** A client of a running Earshot. */
export type RemoteRequest = <A, I>(call: {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> }
  readonly answer: Schema.Schema<A, I>
}) => Effect.Effect<A, Refusal | { readonly _tag: "RemoteUnreachable"; readonly message: string }>

/** On behalf of whoever the key of the client belongs to. */
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

/** Not to be lost on the way: the server is to say what it does not know. */
const queryOf = (args: unknown): string =>
  new URLSearchParams(
    Object.entries(Predicate.isRecord(args) ? args : {}).map(([name, value]) => [name, JSON.stringify(value) ?? ""])
  ).toString()
