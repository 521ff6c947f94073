/** A host that counts its events anew knows nothing of what came before: what it has not sent is a gap, and stays one. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { ANN, simulated } from "./simulated.ts"

describe("a host that counts anew", () => {
  it.scopedLive("is read from then on at once, and the time before is a gap that is not recovered", () =>
    Effect.gen(function* () {
      const { jetstream, start, post, untilOpen } = yield* simulated
      const { create, untilMatched, stop } = yield* start
      assert.strictEqual((yield* create("storm")).status, 200)
      yield* untilOpen
      yield* post(ANN, "1", "a storm")
      yield* untilMatched("1")
      yield* stop
      const lostAt = yield* Clock.currentTimeMillis
      yield* post(ANN, "lost", "a storm that nobody sends again")
      jetstream.inject({ countAnew: true }, 0)
      yield* Effect.sleep("20 millis")
      yield* post(ANN, "2", "another storm")
      const again = yield* start
      yield* again.untilMatched("1 2")
      yield* post(ANN, "3", "one more storm")
      yield* again.untilMatched("1 2 3")
      const gaps = (yield* again.matches).ofAllRules
      const gap = gaps.find(({ from, to }) => Date.parse(String(from)) <= lostAt && Date.parse(String(to)) >= lostAt)
      assert.strictEqual(String(gap?.["recovered"]), "false", JSON.stringify(gaps))
    })
  )
})
