/** Authenticated calls to Firehose. */
import type { Call } from "../wire.ts"
import type { FirehoseState } from "./FirehoseState.ts"
import type { Tap } from "./Tap.ts"

/** A call with the management key. */
export interface ManagementCall {
  readonly state: FirehoseState
  readonly call: Call
  /** Last segment of the path; empty if the route has none. */
  readonly id: string
}

/** A call with a tap's token. */
export interface TapCall extends ManagementCall {
  readonly tap: Tap
}
