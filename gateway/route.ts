/** What the gateway is made of: routes, and what they reply. */
import type { Effect, Either } from "effect"
import type { AccountId } from "../core/model/Ids.ts"
import type { DoorFailure, WireError } from "./errors.ts"

/** What a door answers, before it becomes a `Response`. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream | null
}

/** What is left to do once the request is read. */
export type Work<R> = (account: AccountId) => Effect.Effect<Reply, DoorFailure, R>

/** For whoever has a key: it is checked before `read` is called, and nothing of the body is read before that. */
export interface KeyedRoute<R> {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly read: (request: Request) => Promise<Either.Either<Work<R>, DoorFailure>>
}

/** For everybody, and without a body. */
export interface OpenRoute<R> {
  readonly method: "GET"
  readonly path: string
  readonly reply: Effect.Effect<Reply, DoorFailure, R>
}

export type Route<R> = KeyedRoute<R> | OpenRoute<R>

/** Everything below a prefix, whatever the method: for a door with a protocol of its own. */
export interface Mount<R> {
  readonly prefix: string
  readonly handle: (request: Request) => Effect.Effect<Reply, DoorFailure, R>
}

export const json = (status: number, body: unknown): Reply => ({
  status,
  headers: JSON_HEADERS,
  body: JSON.stringify(body)
})

export const errorReply = ({ status, code, message, details, headers }: WireError): Reply => ({
  status,
  headers: { ...JSON_HEADERS, ...headers },
  body: JSON.stringify({ code, message, details })
})

// ---- helpers ----

const JSON_HEADERS = { "content-type": "application/json" }
