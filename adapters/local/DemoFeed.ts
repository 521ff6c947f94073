/** Made-up events at a steady rate, so that a first rule matches within seconds. */
import { Clock, Duration, Effect, Layer, Schedule } from "effect"
import { LocalFeed, sentEvents } from "../../core/platforms/LocalFeed.ts"
import type { DemoEvents } from "../../core/platforms/Platform.ts"

/** Runs for as long as its scope is open. */
export const layerWith = (
  sources: ReadonlyArray<Pick<DemoEvents, "perSecond" | "make">>
): Layer.Layer<never, never, LocalFeed> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const feed = yield* LocalFeed
      // Each start makes its own events; under a test clock they are always the same.
      const seed = yield* Clock.currentTimeMillis

      const run = (make: (now: number) => unknown, perSecond: number) => {
        const publish = Effect.flatMap(Clock.currentTimeMillis, (now) => feed.publish(sentEvents([make(now)])))
        return publish.pipe(
          Effect.catchAllDefect(Effect.fail),
          Effect.tapError((error) =>
            Effect.logWarning("The demo feed skips an event that could not be published", error)
          ),
          Effect.retry(untilItWorks),
          // `fixed` skips the runs that a slow one overlapped: events never pile up.
          Effect.repeat(Schedule.fixed(Duration.millis(1_000 / perSecond)))
        )
      }

      for (const [index, { make, perSecond }] of sources.entries()) {
        yield* Effect.forkScoped(run(make(seed + index), perSecond))
      }
    })
  )

// ---- helpers ----

/** Each try publishes a new event. */
const untilItWorks = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))
