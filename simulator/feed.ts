/** Publishes generated events at the rates of the settings, with the generators of the demo feed. */
import { Clock, Effect, type Scope } from "effect"
import { blueskyPosts } from "../adapters/demo/blueskyPosts.ts"
import { changes } from "../adapters/demo/changes.ts"
import { items } from "../adapters/demo/items.ts"
import { pages } from "../adapters/demo/pages.ts"
import { posts } from "../adapters/demo/posts.ts"
import type { JsonObject } from "../core/text/json.ts"
import type { Settings } from "./settings.ts"
import type { World } from "./World.ts"

export interface Publishers {
  readonly x: (payload: JsonObject, now: number) => unknown
  readonly firehose: (payload: JsonObject, now: number) => unknown
  readonly bluesky: (payload: JsonObject, now: number) => unknown
  readonly wikimedia: (payload: JsonObject, now: number) => unknown
  readonly feeds: (payload: JsonObject, now: number) => unknown
}

/** Runs until the scope closes. The same seed and the same times give the same events. */
export const startFeed = (world: World, seed: number, publish: Publishers): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const makePost = posts(seed)
    const makePage = pages(seed + 1)
    const makeBlueskyPost = blueskyPosts(seed + 2)
    const makeChange = changes(seed + 3)
    const makeItem = items(seed + 4)
    const run = (rate: (settings: Settings) => number, emit: (now: number) => void) =>
      Effect.forkScoped(emitAtRate(world, rate, emit))
    yield* run(
      ({ feed }) => feed.posts_per_second,
      (now) => publish.x(makePost(now), now)
    )
    yield* run(
      ({ feed }) => feed.pages_per_second,
      (now) => publish.firehose(makePage(now), now)
    )
    yield* run(
      ({ feed }) => feed.bluesky_per_second,
      (now) => publish.bluesky(makeBlueskyPost(now), now)
    )
    yield* run(
      ({ feed }) => feed.changes_per_second,
      (now) => publish.wikimedia(makeChange(now), now)
    )
    yield* run(
      ({ feed }) => feed.items_per_second,
      (now) => publish.feeds(makeItem(now), now)
    )
  })

// ---- helpers ----

/** Above 50 events per second, events are emitted in batches to save timers. */
const MIN_WAIT_MILLIS = 20

const emitAtRate = (world: World, rate: (settings: Settings) => number, emit: (now: number) => void) =>
  Effect.gen(function* () {
    const latch = Effect.unsafeMakeLatch(false)
    yield* Effect.acquireRelease(
      Effect.sync(() => world.onChange(() => latch.unsafeOpen())),
      (unsubscribe) => Effect.sync(unsubscribe)
    )
    // The runtime's clock, not the simulator's: advancing the simulator's clock must not emit events.
    let startedAt = yield* Clock.currentTimeMillis
    let perSecond = 0
    let emitted = 0
    for (;;) {
      latch.unsafeClose()
      const at = yield* Clock.currentTimeMillis
      if (rate(world.settings) !== perSecond) {
        perSecond = rate(world.settings)
        startedAt = at
        emitted = 0
      }
      const now = yield* world.now
      for (; emitted < Math.floor(((at - startedAt) * perSecond) / 1_000); emitted++) emit(now)
      const next = startedAt + ((emitted + 1) * 1_000) / perSecond
      const wait = Effect.timeoutOption(latch.await, Math.max(MIN_WAIT_MILLIS, Math.ceil(next - at)))
      yield* perSecond === 0 ? latch.await : wait
    }
  }).pipe(Effect.scoped)
