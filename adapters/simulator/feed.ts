/** Made-up events at the rate that the settings say, from the same generators as the demo feed. */
import { Clock, Effect, type Scope } from "effect"
import type { JsonObject } from "../../core/syntax/json.ts"
import { pages } from "../demo/pages.ts"
import { posts } from "../demo/posts.ts"
import type { Settings } from "./settings.ts"
import type { World } from "./World.ts"

export interface Outlets {
  readonly x: (payload: JsonObject, now: number) => unknown
  readonly firehose: (payload: JsonObject, now: number) => unknown
}

/** Runs for as long as the scope is open. The same seed and the same times give the same events. */
export const startFeed = (world: World, seed: number, outlets: Outlets): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const makePost = posts(seed)
    const makePage = pages(seed + 1)
    const run = (rate: (settings: Settings) => number, emit: (now: number) => void) =>
      Effect.forkScoped(emitting(world, rate, emit))
    yield* run(
      ({ feed }) => feed.posts_per_second,
      (now) => outlets.x(makePost(now), now)
    )
    yield* run(
      ({ feed }) => feed.pages_per_second,
      (now) => outlets.firehose(makePage(now), now)
    )
  })

// ---- helpers ----

/** Fast rates come in small bunches: more timers would cost more than they tell. */
const SHORTEST_WAIT_MILLIS = 20

const emitting = (world: World, rate: (settings: Settings) => number, emit: (now: number) => void) =>
  Effect.gen(function* () {
    const latch = Effect.unsafeMakeLatch(false)
    yield* Effect.acquireRelease(
      Effect.sync(() => world.onChange(() => latch.unsafeOpen())),
      (forget) => Effect.sync(forget)
    )
    // Not the simulator's own clock: advancing it makes no events.
    let began = yield* Clock.currentTimeMillis
    let perSecond = 0
    let made = 0
    for (;;) {
      latch.unsafeClose()
      const at = yield* Clock.currentTimeMillis
      if (rate(world.settings) !== perSecond) {
        perSecond = rate(world.settings)
        began = at
        made = 0
      }
      const now = yield* world.now
      for (; made < Math.floor(((at - began) * perSecond) / 1_000); made++) emit(now)
      const next = began + ((made + 1) * 1_000) / perSecond
      const wait = Effect.timeoutOption(latch.await, Math.max(SHORTEST_WAIT_MILLIS, Math.ceil(next - at)))
      yield* perSecond === 0 ? latch.await : wait
    }
  }).pipe(Effect.scoped)
