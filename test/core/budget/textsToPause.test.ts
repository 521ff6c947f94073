/** Which filters are paused for a budget. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type Outlook, textsToPause } from "../../../core/budget/textsToPause.ts"

const outlook = (used: number, rates: Readonly<Record<string, number>>, more: Partial<Outlook> = {}): Outlook => {
  const texts = Object.entries(rates).map(([text, perHour]) => ({ text, perHour }))
  return {
    budget: 100,
    used,
    hoursLeft: 10,
    texts,
    perHour: texts.reduce((sum, { perHour }) => sum + perHour, 0),
    ...more
  }
}

describe("textsToPause", () => {
  it("pauses nothing below 80 %, or if the rest of the month fits", () => {
    assert.deepStrictEqual(textsToPause(outlook(79, { loud: 50 })), [])
    assert.deepStrictEqual(textsToPause(outlook(80, { loud: 1.5, quiet: 0.5 })), [])
    assert.deepStrictEqual(textsToPause(outlook(99, { loud: 0.05, none: 0 })), [])
  })

  it("pauses the filters with the most posts until the rest fits", () => {
    assert.deepStrictEqual(textsToPause(outlook(80, { quiet: 1, loud: 8, middle: 2 })), ["loud", "middle"])
    assert.deepStrictEqual(textsToPause(outlook(80, { quiet: 1, loud: 8 })), ["loud"])
  })

  it("does not count posts twice that several filters match", () => {
    assert.deepStrictEqual(textsToPause(outlook(80, { one: 2, other: 2 }, { perHour: 2 })), [])
  })

  it("pauses all filters when the budget is used up, also those without posts", () => {
    assert.deepStrictEqual(textsToPause(outlook(100, { loud: 1, none: 0 })), ["loud", "none"])
  })

  it("leaves a rest that fits, and would not fit with the last one that it pauses", () => {
    const rate = fc.integer({ min: 0, max: 50 })
    fc.assert(
      fc.property(fc.integer({ min: 80, max: 99 }), fc.dictionary(fc.string(), rate), (used, rates) => {
        const plan = outlook(used, rates)
        const paused = textsToPause(plan)
        const restOf = (without: ReadonlyArray<string>) =>
          plan.texts.filter(({ text }) => !without.includes(text)).reduce((sum, { perHour }) => sum + perHour, 0)
        assert.isAtMost(used + restOf(paused) * plan.hoursLeft, plan.budget)
        if (paused.length > 0) assert.isAbove(used + restOf(paused.slice(0, -1)) * plan.hoursLeft, plan.budget)
        const quietest = Math.min(...paused.map((text) => rates[text] ?? 0))
        const others = plan.texts.filter(({ text }) => !paused.includes(text))
        assert.isTrue(others.every(({ perHour }) => perHour <= quietest))
      })
    )
  })
})
