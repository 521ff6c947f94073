/** The local feed for several servers: an event meets every rule that some server had activated before it came. */
import { Clock, Effect, Layer } from "effect"
import { LocalFeed } from "../platforms/LocalFeed.ts"
import { Registrations } from "./Registrations.ts"

export const layer: Layer.Layer<LocalFeed, never, LocalFeed | Registrations> = Layer.effect(
  LocalFeed,
  Effect.gen(function* () {
    const { publish } = yield* LocalFeed
    const { catchUp } = yield* Registrations
    return LocalFeed.of({
      publish: (events, sender) =>
        Effect.gen(function* () {
          const asOf = yield* Clock.currentTimeMillis
          yield* catchUp
          return yield* publish(events, sender, asOf)
        })
    })
  })
)
