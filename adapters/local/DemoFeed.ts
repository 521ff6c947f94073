/** Publishes generated events at a steady rate, so that a first rule matches within seconds. */
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
      // Other events on each start; the same ones on a test clock.
      const seed = yield* Clock.currentTimeMillis

      const run = (make: (now: number) => unknown, perSecond: number) => {
        const publish = Effect.flatMap(Clock.currentTimeMillis, (now) => feed.publish(sentEvents([make(now)])))
        return publish.pipe(
          Effect.catchAllDefect(Effect.fail),
          Effect.tapError((error) => Effect.logWarning("The demo feed drops an event: publishing failed", error)),
          Effect.retry(backoff),
          // `fixed` skips runs that overlap a slow one, so there is no backlog.
          Effect.repeat(Schedule.fixed(Duration.millis(1_000 / perSecond)))
        )
      }

      for (const [index, { make, perSecond }] of sources.entries()) {
        yield* Effect.forkScoped(run(make(seed + index), perSecond))
      }
    })
  )

// ---- helpers ----

/** Retries forever. Each retry publishes a new event. */
const backoff = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))
