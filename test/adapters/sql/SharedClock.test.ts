import { assert, describe, it } from "@effect/vitest"
import { offsetAfter } from "../../../adapters/sql/SharedClock.ts"

describe("the clock of several servers", () => {
  it("takes the middle of a quick answer", () => {
    assert.strictEqual(offsetAfter(0, { before: 61_000, answer: 1_020, after: 61_040 }), -60_000)
  })

  it("corrects what a slow answer proves wrong, also the first one", () => {
    assert.strictEqual(offsetAfter(0, { before: 61_000, answer: 1_100, after: 61_400 }), -59_900)
    assert.strictEqual(offsetAfter(0, { before: 1_000, answer: 61_100, after: 1_400 }), 59_700)
  })

  it("keeps what an answer allows", () => {
    assert.strictEqual(offsetAfter(-60_000, { before: 61_000, answer: 1_390, after: 61_400 }), -60_000)
    assert.strictEqual(offsetAfter(-60_000, { before: 61_000, answer: 1_040, after: 61_040 }), -60_000)
    assert.strictEqual(offsetAfter(0, { before: 1_000, answer: 1_000.4, after: 1_090 }), 0, "one clock")
    assert.strictEqual(offsetAfter(0, { before: 1_000, answer: 999.9, after: 1_000 }), 0, "rounded")
  })
})
