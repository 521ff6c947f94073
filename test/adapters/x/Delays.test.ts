/** How late posts are: what is claimed as watched depends on it. */
import { assert, describe, it } from "@effect/vitest"
import { Delays } from "../../../adapters/x/Delays.ts"

const MINUTE = 60_000

/** That many posts, all of them this late. */
const add = (delays: Delays, count: number, seconds: number, now: number) => {
  for (let i = 0; i < count; i++) delays.add(now - seconds * 1_000, now)
}

describe("Delays", () => {
  it("is 10 s while few posts have come, and more if one of them came later", () => {
    const delays = new Delays()
    assert.strictEqual(delays.millis, 10_000)
    add(delays, 50, 1, MINUTE)
    assert.strictEqual(delays.millis, 10_000)
    add(delays, 1, 14.2, MINUTE)
    assert.strictEqual(delays.millis, 15_000)
  })

  it("is the 99th percentile of the last hour, at least 2 s", () => {
    const delays = new Delays()
    add(delays, 989, 0.2, MINUTE)
    assert.strictEqual(delays.millis, 2_000)
    add(delays, 11, 6, MINUTE)
    assert.strictEqual(delays.millis, 6_000)
    add(delays, 200, 0.2, MINUTE)
    assert.strictEqual(delays.millis, 2_000)
  })

  it("is the delay of the last post while that is longer: a stream that falls behind may end at once", () => {
    const delays = new Delays()
    add(delays, 5_000, 0.2, MINUTE)
    add(delays, 1, 4.7, MINUTE)
    assert.strictEqual(delays.millis, 5_000)
    add(delays, 1, 0.2, MINUTE)
    assert.strictEqual(delays.millis, 2_000)
  })

  it("forgets posts after an hour", () => {
    const delays = new Delays()
    add(delays, 200, 6, 0)
    add(delays, 200, 1, 60 * MINUTE)
    assert.strictEqual(delays.millis, 6_000)
    add(delays, 1, 1, 61 * MINUTE)
    assert.strictEqual(delays.millis, 2_000)
  })

  it("takes a post from the future for one without delay", () => {
    const delays = new Delays()
    add(delays, 200, -400, 0)
    assert.strictEqual(delays.millis, 2_000)
  })
})
