import { assert, describe, it } from "@effect/vitest"
import { asPeriodName, isShortest, periodUntil, trimmed, zoomed, zoomedIn } from "../../console/coverage/period.ts"
import { firstBarOf, type Histogram, linesOf, MAX_LINES, unitFor } from "../../console/coverage/volume.ts"

const HOUR = 3_600_000
const MINUTE = 60_000

describe("periodUntil", () => {
  it("is the same for some seconds", () => {
    const now = 1_794_920_835_000
    assert.deepStrictEqual(periodUntil(now, "hour"), { from: now - HOUR, to: now })
    assert.deepStrictEqual(periodUntil(now + 14_999, "hour"), periodUntil(now, "hour"))
  })

  it("is a day if the address names no known period", () => {
    assert.deepStrictEqual([asPeriodName("month"), asPeriodName("week"), asPeriodName(null)], ["month", "day", "day"])
  })
})

describe("zoomed", () => {
  const whole = { from: 0, to: 24 * HOUR }

  it("stays within the whole period", () => {
    assert.deepStrictEqual(zoomed({ from: -HOUR, to: HOUR }, whole), { from: 0, to: 2 * HOUR })
    assert.deepStrictEqual(zoomed({ from: 23 * HOUR, to: 25 * HOUR }, whole), { from: 22 * HOUR, to: 24 * HOUR })
    assert.deepStrictEqual(zoomed({ from: -HOUR, to: 30 * HOUR }, whole), whole)
  })

  it("is not shorter than five minutes", () => {
    const { from, to } = zoomed({ from: HOUR, to: HOUR + 10 }, whole)
    assert.strictEqual(to - from, 5 * 60_000)
  })
})

describe("zoomedIn", () => {
  it("keeps the end, until the period cannot be shorter", () => {
    const whole = { from: 0, to: 24 * HOUR }
    assert.deepStrictEqual(zoomedIn(whole, whole), { from: 12 * HOUR, to: 24 * HOUR })
    const shortest = zoomedIn({ from: 24 * HOUR - 6 * MINUTE, to: 24 * HOUR }, whole)
    assert.deepStrictEqual(shortest, { from: 24 * HOUR - 5 * MINUTE, to: 24 * HOUR })
    assert.deepStrictEqual([isShortest(shortest), isShortest(whole)], [true, false])
  })
})

describe("trimmed", () => {
  const day = { from: 0, to: 24 * HOUR }

  it("starts with the minute of the first watch, and is at least five minutes long", () => {
    assert.deepStrictEqual(trimmed(day, 20 * HOUR + 1, undefined), { from: 20 * HOUR, to: 24 * HOUR })
    assert.deepStrictEqual(trimmed(day, 24 * HOUR - 1, undefined), { from: 24 * HOUR - 5 * MINUTE, to: 24 * HOUR })
    assert.deepStrictEqual(trimmed(day, -HOUR, undefined), day)
  })

  it("keeps matches from before the first watch", () => {
    assert.strictEqual(trimmed(day, 20 * HOUR, { from: 10 * HOUR, to: 11 * HOUR }).from, 10 * HOUR)
    assert.strictEqual(trimmed(day, 20.5 * HOUR, { from: 20 * HOUR, to: 21 * HOUR }).from, 20.5 * HOUR)
  })
})

describe("firstBarOf", () => {
  it("is the bar of the oldest match of all series", () => {
    const series = [{ counts: [0, 0, 3] }, { counts: [0, 2, 0] }] as unknown as Histogram["series"]
    const from = new Date(0).toISOString()
    assert.deepStrictEqual(firstBarOf({ from, unit: "hour", series }), { from: HOUR, to: 2 * HOUR })
    assert.isUndefined(firstBarOf({ from, unit: "hour", series: [] }))
  })
})

describe("unitFor", () => {
  it("grows with the period", () => {
    const units = [1, 24, 24 * 30].map((hours) => unitFor({ from: 0, to: hours * HOUR }))
    assert.deepStrictEqual(units, ["minute", "hour", "day"])
  })
})

describe("linesOf", () => {
  const histogramOf = (totals: ReadonlyArray<number>): Pick<Histogram, "series"> => ({
    series: totals.map((total, i) => ({ rule_id: `rule_${i}` as never, total, counts: [total, 0] }))
  })

  it("puts the line with the most matches first", () => {
    const lines = linesOf(histogramOf([1, 3, 2]), [{ id: "rule_1", name: "Earthquakes" } as never])
    assert.deepStrictEqual(
      lines.map(({ label, total }) => [label, total]),
      [
        ["Earthquakes", 3],
        ["rule_2", 2],
        ["rule_0", 1]
      ]
    )
  })

  it("adds up the lines that have no place", () => {
    const lines = linesOf(histogramOf([9, 8, 7, 6, 5, 4, 3, 2]), [])
    assert.strictEqual(lines.length, MAX_LINES)
    assert.deepStrictEqual(lines.at(-1), { label: "3 other rules", total: 9, counts: [9, 0] })
  })
})
