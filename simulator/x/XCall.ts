/** A call to X that passed authentication and the rate limit. */
import type { Call } from "../wire.ts"
import type { XState } from "./XState.ts"

export interface XCall {
  readonly state: XState
  readonly call: Call
  /** Rate-limit headers, sent with every reply. */
  readonly headers: Readonly<Record<string, string>>
  /** Gives the call back to the rate limit. */
  readonly refund: () => void
}
