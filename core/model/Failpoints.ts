/** Failpoints: named steps at which tests kill the process. */
import { Context, Effect } from "effect"

/** In the order in which create and delete hit them. */
export const RULE_FAILPOINTS = [
  "create.reserved",
  "create.registered-first",
  "create.registered",
  "create.activated",
  "delete.hidden",
  "delete.unregistered-first",
  "delete.unregistered",
  "delete.removed"
] as const

/** After the filters of a rule were replaced, and before the old ones are removed. */
export const CHANGE_FAILPOINTS = ["update.changed"] as const

/** Before anything is written, and after the write but before the acknowledgement. */
export const INGEST_FAILPOINTS = ["ingest.taken", "ingest.stored"] as const

/** When a receiver has answered, and when that is stored. */
const WEBHOOK_FAILPOINTS = ["webhook.sent", "webhook.settled"] as const

/** Before the operation of a new idempotency key starts, and when its answer is kept but not sent yet. */
const IDEMPOTENCY_FAILPOINTS = ["idempotency.claimed", "idempotency.kept"] as const

export const FAILPOINTS = [
  ...RULE_FAILPOINTS,
  ...CHANGE_FAILPOINTS,
  ...INGEST_FAILPOINTS,
  ...WEBHOOK_FAILPOINTS,
  ...IDEMPOTENCY_FAILPOINTS
] as const
export type Failpoint = (typeof FAILPOINTS)[number]

/** Does nothing by default. */
export class Failpoints extends Context.Reference<Failpoints>()("core/Failpoints", {
  defaultValue: (): { readonly hit: (failpoint: Failpoint) => Effect.Effect<void> } => ({ hit: () => Effect.void })
}) {}
