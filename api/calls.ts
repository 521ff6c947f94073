/** How clients call an operation over HTTP, and how a call fails. */
import { Data, type Effect, Option, Predicate, type Schema } from "effect"
import type { Contract } from "./Contract.ts"

/** A request, and the schema of its answer. */
export interface Call<A, I> {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> | string }
  readonly idempotencyKey?: string
  readonly answer: Schema.Schema<A, I>
}

/** Returns the decoded answer. */
export type Send = <A, I>(call: Call<A, I>) => Effect.Effect<A, RemoteFailure>

export type RemoteFailure = RemoteRefused | RemoteUnreachable

/** The server answered with an error. The first three fields are those of its error body. */
export class RemoteRefused extends Data.TaggedError("RemoteRefused")<{
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined
}> {}

/** There was no response, or it is not from Earshot. */
export class RemoteUnreachable extends Data.TaggedError("RemoteUnreachable")<{ readonly message: string }> {}

/** The call of an operation. */
export const callOf = <A, I, O, OI>(
  contract: Contract<A, I, O, OI>,
  ...[input]: Record<never, never> extends I ? [input?: I] : [input: I]
): Call<O, OI> => uncheckedCall(contract, input)

/** The server checks the input. */
export const uncheckedCall = <A, I, O, OI>(
  { method, path, output }: Pick<Contract<A, I, O, OI>, "method" | "path" | "output">,
  input: unknown
): Call<O, OI> =>
  method === "GET"
    ? { method, path: `${path}${queryOf(input)}`, answer: output }
    : { method, path, body: { type: "application/json", content: JSON.stringify(input ?? {}) }, answer: output }

/** The same call with the idempotency key, if there is one. */
export const withKey = <A, I>(call: Call<A, I>, key: Option.Option<string>): Call<A, I> =>
  Option.match(key, { onNone: () => call, onSome: (idempotencyKey) => ({ ...call, idempotencyKey }) })

// ---- helpers ----

const queryOf = (input: unknown): string => {
  const fields = Object.entries(Predicate.isRecord(input) ? input : {})
  const text = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
  return fields.length === 0 ? "" : `?${new URLSearchParams(fields.map(([name, value]) => [name, text(value)]))}`
}
