/** The status of an in-process platform. */

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, TestClock } from "effect"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { LocalFeed, sentEvents } from "../../../core/platforms/LocalFeed.ts"
import { Platforms } from "../../../core/platforms/Platform.ts"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { localPlatforms } from "../../platforms.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { memoryRules } from "../../stores/memoryRules.ts"

describe("Local", () => {
  it.scoped("status has the time of the last published event, also without a match", () =>
    Effect.gen(function* () {
      const feed = yield* LocalFeed
      const platforms = yield* Platforms
      const lastEvents = Effect.map(
        Effect.forEach(PLATFORM_IDS, (id) => Effect.flatMap(platforms.get(id), ({ status }) => status)),
        (all) => all.map(({ lastEventAt }) => Option.getOrNull(lastEventAt))
      )
      yield* TestClock.adjust("7 seconds")
      assert.deepStrictEqual(yield* lastEvents, [null, null])
      yield* feed.publish(sentEvents([{ data: { id: "1", text: "nothing in particular" } }]))
      assert.deepStrictEqual(yield* lastEvents, [7_000, null])
    }).pipe(Effect.provide(local))
  )
})

// ---- helpers ----

const services = Layer.mergeAll(
  Platforms.layer,
  memoryRules,
  Layer.provideMerge(Layer.provide(RecentEvents.layerWith({ keep: 10 }), memoryEvents), Entropy.layerCounting)
)

const local = Layer.provideMerge(localPlatforms(), services)
