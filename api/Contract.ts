/** What travels for one operation. Every interface derives from it. */
import type { Schema } from "effect"
import type { Scope } from "../core/keys/Key.ts"
import type { PlatformId } from "../core/model/PlatformId.ts"

/** `A` and `O` are the decoded input and output; `I` and `OI` are what the client sends and receives. */
export interface Contract<A, I, O, OI, M extends Method = Method, S extends Scope = Scope> {
  readonly name: string
  readonly method: M
  readonly path: `/${string}`
  readonly scope: S
  readonly tag: "rules" | "matches" | "platforms" | "webhooks" | "keys" | "grants" | "account" | "feeds"
  readonly summary: string
  readonly description: string
  readonly input: Schema.Schema<A, I>
  readonly output: Schema.Schema<O, OI>
  /** Without this platform the operation does not exist. Absent: every server has it. */
  readonly platform?: PlatformId
  /** Without `request` if there is no body. */
  readonly example: { readonly request?: I; readonly response: OI }
  /** Whether it may take seconds: it waits for a match, a platform or a receiver, or has a limit of its own. */
  readonly isLong?: boolean
  /**
   * The field of the answer with a list of any length. A handler answers one page of it, with `next_cursor` if there
   * are more; who asks without `limit` gets all pages, which the interfaces read and send one after the other.
   */
  readonly pagedField?: keyof O & string
  /** All fields are optional, but not all can be absent. */
  readonly needsFields?: boolean
  /** It is answered a few times per minute beyond the limit on requests, too. */
  readonly showsLimits?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: contracts in a list have different types; each is typed at its definition
export type AnyContract = Contract<any, any, any, any>

/** Infers the types of a contract from its schemas. */
export const contract = <A, I, O, OI, const M extends Method, const S extends Scope>(
  definition: Contract<A, I, O, OI, M, S>
): Contract<A, I, O, OI, M, S> => definition

/** Whether the operation creates or changes something: then it accepts an idempotency key. */
export const changesState = ({ method, scope }: Pick<AnyContract, "method" | "scope">): boolean =>
  method === "POST" && scope !== "read"

// ---- helpers ----

type Method = "GET" | "POST"
