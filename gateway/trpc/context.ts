/** What the procedures of a request share. */
import type { Runtime } from "effect"
import type { Caller } from "../../core/keys/Key.ts"
import type { MatchId } from "../../core/model/Ids.ts"
import type { Authentication } from "../auth.ts"
import type { Services } from "../operations/Handlers.ts"
import type { Splicer } from "../operations/pages.ts"

export interface Context {
  readonly caller: Caller
  readonly method: string
  readonly runtime: Runtime.Runtime<Services>
  readonly key: Authentication
  /** Calls of the request that have begun. */
  readonly calls: { begun: number }
  /** Sets the id from which a client resumes if it disconnects before the first match. */
  readonly setStartId: (id: MatchId) => void
  /** Marks the response: it has an answer that was given before. */
  readonly setReplayed: () => void
  readonly splicer: Splicer
}

/** The arguments of a resolver. */
export interface Resolved {
  readonly ctx: Context
  readonly input: unknown
  readonly signal: AbortSignal | undefined
}
