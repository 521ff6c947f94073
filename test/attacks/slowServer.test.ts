/** A server that other accounts keep busy: what an account asks for is limited by its own work, not by the time it waits. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream, TestClock } from "effect"
import { Backtests } from "../../core/backtests/Backtests.ts"
import type { LoggedEvent } from "../../core/backtests/EventLog.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import type { Turns } from "../../core/work/turns.ts"
import { ann } from "../core/world.ts"

const SEGMENTS = 20

/** It takes five seconds to get a turn for reading a segment. */
const busy = Layer.mock(RecentEvents, {
  keep: 1_000,
  newest: () =>
    Stream.range(1, SEGMENTS).pipe(
      Stream.rechunk(1),
      Stream.tap(() => TestClock.adjust("5 seconds")),
      Stream.map((n) => ({ events: [{ receivedAt: n, json: "{}" }], missed: 0 }))
    )
})

describe("a busy server", () => {
  it.effect("tests all events of a scan that waits for 100 seconds and works for none", () =>
    Effect.gen(function* () {
      let visited = 0
      const { scan } = yield* Backtests
      const visit = function* (events: ReadonlyArray<LoggedEvent>): Turns<void> {
        visited += events.length
      }
      const note = yield* scan({ account: ann, platform: "x", events: 1_000 }, { visit })
      assert.strictEqual(note._tag, "None")
      assert.strictEqual(visited, SEGMENTS)
    }).pipe(Effect.provide(Layer.provide(Backtests.layer, busy)))
  )
})
