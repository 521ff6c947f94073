/** Routes and replies of the gateway. */
import type { Effect, Either } from "effect"
import type { Answered } from "../../core/idempotency/Idempotency.ts"
import { toJson } from "../../core/matches/Payload.ts"
import type { Caller, Scope } from "../../core/keys/Key.ts"
import type { PushBody } from "../../core/work/push.ts"
import type { DoorFailure, WireError } from "../errors.ts"
import { REPLAYED } from "../operations/idempotency.ts"

/** Becomes a `Response` in the handler. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream | PushBody | null
}

/** Handles a request that was read. The caller is its `Actor`. */
export type Work<R> = (caller: Caller) => Effect.Effect<Reply, DoorFailure, R>

/** Requires a key with the scope, which is checked before `read` is called. */
export interface KeyedRoute<R> {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly scope: Scope
  /** It is answered a few times per minute beyond the limit on requests, too. */
  readonly showsLimits?: boolean
  /** Further headers of an error. */
  readonly errorHeaders?: (failure: DoorFailure) => Readonly<Record<string, string>>
  readonly read: (
    request: Request
  ) => Either.Either<Work<R>, DoorFailure> | Promise<Either.Either<Work<R>, DoorFailure>>
}

/** Requires no key. */
export interface OpenRoute<R> {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly reply: (request: Request) => Effect.Effect<Reply, DoorFailure, R>
}

/** Requires no key: the caller of the handler has checked that the request is the operator's. */
export interface OperatorRoute<R> {
  readonly method: "POST"
  readonly path: string
  readonly readOperators: (
    request: Request
  ) => Promise<Either.Either<Effect.Effect<Reply, DoorFailure, R>, DoorFailure>>
}

export type Route<R> = KeyedRoute<R> | OpenRoute<R> | OperatorRoute<R>

/** Handles all paths below a prefix and all methods. */
export interface Mount<R> {
  readonly prefix: string
  readonly handle: (request: Request) => Effect.Effect<Reply, DoorFailure, R>
}

export const NO_STORE = { "cache-control": "no-store" }

export const json = (status: number, body: unknown): Reply => ({
  status,
  headers: JSON_HEADERS,
  body: toJson(body)
})

/** Marks an answer that was given before. */
export const replyOf = ({ answer, isReplayed }: Answered<unknown>): Reply => {
  const reply = json(200, answer)
  return isReplayed ? { ...reply, headers: { ...reply.headers, ...REPLAYED } } : reply
}

export const errorReply = ({ status, code, message, details, headers }: WireError): Reply => ({
  status,
  headers: { ...JSON_HEADERS, ...headers },
  body: JSON.stringify({ code, message, details })
})

// ---- helpers ----

/** Most answers have data of an account, which no cache may keep. */
const JSON_HEADERS = { "content-type": "application/json", ...NO_STORE }
