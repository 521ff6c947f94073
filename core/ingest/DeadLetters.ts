/** The dead letter use case: read the events that could not be stored. */
import { Context, Effect, Layer } from "effect"
import { type DeadLetter, StreamStore } from "../coverage/StreamStore.ts"
import type { StoreUnavailable } from "../model/Errors.ts"

export class DeadLetters extends Context.Tag("core/DeadLetters")<
  DeadLetters,
  {
    /** Newest first. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<DeadLetter>, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<DeadLetters, never, StreamStore> = Layer.effect(
    DeadLetters,
    Effect.map(StreamStore, ({ deadLetters }) => DeadLetters.of({ list: deadLetters }))
  )
}
