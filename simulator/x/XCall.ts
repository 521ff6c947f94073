/** A call to X that passed authentication and the rate limit. */
import type { Call, Reply } from "../wire.ts"
import type { XState } from "./XState.ts"

export interface XCall {
  readonly state: XState
  readonly call: Call
  /** The reply for an invalid parameter of the query. */
  readonly refuse: (name: string, message: string) => Reply
  /** Gives the call back to the rate limit. */
  readonly refund: () => void
}
