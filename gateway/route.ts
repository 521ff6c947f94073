/** What the gateway is made of: routes, and what they reply. */
import type { Effect } from "effect"
import type { DoorFailure, WireError } from "./errors.ts"

/** What a door answers, before it becomes a `Response`. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream | null
}

export interface Route<R> {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly handle: (request: Request) => Effect.Effect<Reply, DoorFailure, R>
}

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
