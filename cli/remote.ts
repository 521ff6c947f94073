/** The port to a running Earshot, for commands that ask something of one. */
import { HelpDoc, Span } from "@effect/cli"
import type { Effect, Schema } from "effect"

/** For the help of every command that asks a server. */
export const remoteSettings: HelpDoc.HelpDoc = HelpDoc.descriptionList([
  [Span.code("EARSHOT_URL"), HelpDoc.p("Address of the server (default: http://127.0.0.1:8787)")],
  [Span.code("EARSHOT_API_KEY"), HelpDoc.p("A key that the server takes (default: none)")]
])

export interface Remote {
  /** Gives the answer, decoded. */
  readonly request: <A, I>(call: RemoteCall<A, I>) => Effect.Effect<A, RemoteFailure>
}

export interface RemoteCall<A, I> {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> }
  readonly answer: Schema.Schema<A, I>
}

export type RemoteFailure = RemoteRefused | RemoteUnreachable

/** It said no. The first three fields are as it sent them. */
export interface RemoteRefused extends Error {
  readonly _tag: "RemoteRefused"
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** How long it asks to wait before trying again. */
  readonly retryAfterSeconds: number | undefined
}

/** Nothing answered, or something that is no Earshot. */
export interface RemoteUnreachable extends Error {
  readonly _tag: "RemoteUnreachable"
  readonly message: string
}
