/** What an operation of the service is. */
import type { Effect, Schema } from "effect"
import type { CoreError } from "../core/model/Errors.ts"
import type { AccountId } from "../core/model/Ids.ts"
import type { Services } from "./operations.ts"

/** `A` reaches the use case, `I` is sent by the client; `O` comes back and `OI` is what the client receives. */
export interface Operation<A, I, O, OI> {
  readonly name: string
  readonly input: Schema.Schema<A, I>
  readonly output: Schema.Schema<O, OI>
  readonly handle: (account: AccountId, input: A) => Effect.Effect<O, CoreError, Services>
}

/** An operation that also has a documented path of its own. */
export interface Endpoint<A, I, O, OI> extends Operation<A, I, O, OI> {
  readonly method: "GET" | "POST"
  readonly path: `/${string}`
  readonly tag: "rules" | "matches" | "platforms" | "webhooks"
  readonly summary: string
  readonly description: string
  /** `request` is absent where nothing is sent. */
  readonly example: { readonly request?: I; readonly response: OI }
}

/** An endpoint whose types only it knows. */
// biome-ignore lint/suspicious/noExplicitAny: a table of endpoints has no common input; each is typed where it is defined
export type AnyEndpoint = Endpoint<any, any, any, any>

/** Infers the types of an endpoint from its schemas. */
export const endpoint = <A, I, O, OI>(definition: Endpoint<A, I, O, OI>): Endpoint<A, I, O, OI> => definition
