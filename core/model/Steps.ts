/** Named places in the middle of work that must survive the end of the process at any of them. */
import { Context, Effect } from "effect"

/** Where creating and deleting a rule can be cut off, in the order in which they are reached. */
export const RULE_STEPS = [
  "create.reserved",
  "create.registered-first",
  "create.registered",
  "create.activated",
  "delete.hidden",
  "delete.unregistered-first",
  "delete.unregistered",
  "delete.removed"
] as const

/** Where storing events can be cut off: with nothing written, and with all written but not yet acknowledged. */
export const INGEST_STEPS = ["ingest.taken", "ingest.stored"] as const

export const STEPS = [...RULE_STEPS, ...INGEST_STEPS] as const
export type Step = (typeof STEPS)[number]

/** Told of every step as it is reached. Does nothing unless someone is there to end the process, as tests are. */
export class Steps extends Context.Reference<Steps>()("core/Steps", {
  defaultValue: (): { readonly reached: (step: Step) => Effect.Effect<void> } => ({ reached: () => Effect.void })
}) {}
