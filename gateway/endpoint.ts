/** The shape of an operation, and the use cases that operations call. */
import { Effect, Option, type Schema } from "effect"
import type { Accounts } from "../core/accounts/Accounts.ts"
import type { Backtests } from "../core/backtests/Backtests.ts"
import type { Explanations } from "../core/explanations/Explanations.ts"
import type { Answered, Idempotency } from "../core/idempotency/Idempotency.ts"
import type { Scope } from "../core/keys/Key.ts"
import type { Keys } from "../core/keys/Keys.ts"
import type { Matches } from "../core/matches/Matches.ts"
import type { CoreError } from "../core/model/Errors.ts"
import type { AccountId } from "../core/model/Ids.ts"
import type { Platforms } from "../core/platforms/Platform.ts"
import { Quotas } from "../core/quotas/Quotas.ts"
import type { Reapply } from "../core/reapply/Reapply.ts"
import type { Rules } from "../core/rules/Rules.ts"
import type { Shadows } from "../core/shadows/Shadows.ts"
import type { Status } from "../core/status/Status.ts"
import type { Webhooks } from "../core/webhooks/Webhooks.ts"
import { type Asked, once } from "./idempotency.ts"

export type Services =
  | Rules
  | Shadows
  | Reapply
  | Matches
  | Explanations
  | Platforms
  | Backtests
  | Status
  | Webhooks
  | Keys
  | Accounts
  | Quotas
  | Idempotency

/** `A` and `O` are the decoded input and output; `I` and `OI` are what the client sends and receives. */
export interface Operation<A, I, O, OI> {
  readonly name: string
  readonly scope: Scope
  readonly input: Schema.Schema<A, I>
  readonly output: Schema.Schema<O, OI>
  /** Whether it may take seconds: it waits for a match, a platform or a receiver, or has a limit of its own. */
  readonly isLong?: boolean
  /**
   * The field of the answer with a list of any length. `handle` answers one page of it, with `next_cursor` if there are
   * more; who asks without `limit` gets all pages, which the interfaces read and send one after the other.
   */
  readonly pagedField?: keyof O & string
  readonly handle: (account: AccountId, input: A) => Effect.Effect<O, CoreError, Services>
}

/** Runs an operation, with an idempotency key only once. An account has a few short ones at a time. */
export const perform = <A, I, O, OI>(
  { name, handle, isLong = false }: Operation<A, I, O, OI>,
  account: AccountId,
  { input, key }: Asked<A>
): Effect.Effect<Answered<O>, CoreError, Services> => {
  const request = { account: Option.some(account), operation: name, content: input, isLong }
  const run = once(key, request, handle(account, input))
  return isLong ? run : Effect.flatMap(Quotas, (quotas) => quotas.withSlot(account, run))
}

/** An operation with a REST path. */
export interface Endpoint<A, I, O, OI> extends Operation<A, I, O, OI> {
  readonly method: "GET" | "POST"
  readonly path: `/${string}`
  readonly tag: "rules" | "matches" | "platforms" | "webhooks" | "keys" | "account"
  /** All fields are optional, but not all can be absent. */
  readonly needsFields?: boolean
  /** It is answered a few times per minute beyond the limit on requests, too. */
  readonly showsLimits?: boolean
  readonly summary: string
  readonly description: string
  /** Without `request` if there is no body. */
  readonly example: { readonly request?: I; readonly response: OI }
}

// biome-ignore lint/suspicious/noExplicitAny: endpoints in a list have different types; each is typed at its definition
export type AnyEndpoint = Endpoint<any, any, any, any>

/** Whether the operation creates or changes something: then it accepts an idempotency key. */
export const changesState = ({ method, scope }: Pick<AnyEndpoint, "method" | "scope">): boolean =>
  method === "POST" && scope !== "read"

/** Infers the types of an endpoint from its schemas. */
export const endpoint = <A, I, O, OI>(definition: Endpoint<A, I, O, OI>): Endpoint<A, I, O, OI> => definition
