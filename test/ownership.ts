/** Ownership for tests of processes that share a store. */
import { Effect, Layer } from "effect"
import { Ownership } from "../core/ownership/Ownership.ts"

/** Another process may use the store. This one owns everything. */
export const oneOfSeveral = Layer.effect(
  Ownership,
  Effect.map(Ownership, (alone) => ({ ...alone, isAlone: false }))
)
