/** Made-up posts and pages at a steady rate, so that a first rule has something to meet within seconds. */
import { Clock, Duration, Effect, Layer, Schedule } from "effect"
import { LocalFeed, sentEvents } from "../../core/platforms/LocalFeed.ts"
import { pages } from "../demo/pages.ts"
import { posts } from "../demo/posts.ts"

export const POSTS_PER_SECOND = 2
export const PAGES_PER_SECOND = 1

/** Runs for as long as its scope is open. */
export const layer: Layer.Layer<never, never, LocalFeed> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const feed = yield* LocalFeed
    // Each start has its own run of posts; that of a test clock is always the same.
    const seed = yield* Clock.currentTimeMillis

    const run = (make: (now: number) => unknown, perSecond: number) => {
      const handIn = Effect.flatMap(Clock.currentTimeMillis, (now) => feed.publish(sentEvents([make(now)])))
      return handIn.pipe(
        Effect.catchAllDefect(Effect.fail),
        Effect.tapError((error) => Effect.logWarning("The demo feed leaves out what it could not hand in", error)),
        Effect.retry(untilItWorks),
        // A run that took longer than its turn is not made up for: nothing piles up.
        Effect.repeat(Schedule.fixed(Duration.millis(1_000 / perSecond)))
      )
    }

    yield* Effect.forkScoped(run(posts(seed), POSTS_PER_SECOND))
    yield* Effect.forkScoped(run(pages(seed + 1), PAGES_PER_SECOND))
  })
)

// ---- helpers ----

/** Each try hands in something new. */
const untilItWorks = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))
