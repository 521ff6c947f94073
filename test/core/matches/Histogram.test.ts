import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { barsOf, checkWork, type HistogramQuery, histogramOf, MAX_BARS } from "../../../core/matches/Histogram.ts"
import { fromUuid } from "../../../core/model/Ids.ts"
import { fromMillis } from "../../../core/model/Timestamp.ts"

const NOW = Date.parse("2026-11-15T08:30:30.500Z")

const query = (from: string, to: string, unit: HistogramQuery["unit"]): HistogramQuery => ({
  from: fromMillis(Date.parse(from)),
  to: fromMillis(Date.parse(to)),
  unit
})

describe("Histogram", () => {
  it.effect("barsOf covers the time asked for with whole bars", () =>
    Effect.gen(function* () {
      for (const [from, to, unit, start, count] of [
        ["2026-11-15T08:00Z", "2026-11-15T08:10Z", "minute", "2026-11-15T08:00Z", 10],
        ["2026-11-15T08:00:59.999Z", "2026-11-15T08:10:00.001Z", "minute", "2026-11-15T08:00Z", 11],
        ["2026-11-14T23:59Z", "2026-11-15T00:01Z", "hour", "2026-11-14T23:00Z", 2],
        ["2026-11-14T23:59Z", "2026-11-15T00:01Z", "day", "2026-11-14T00:00Z", 2],
        // The future has no matches.
        ["2026-11-15T08:00Z", "2999-01-01T00:00Z", "hour", "2026-11-15T08:00Z", 1]
      ] as const) {
        const bars = yield* barsOf(query(from, to, unit), NOW)
        assert.deepStrictEqual(bars, { unit, from: Date.parse(start), count })
      }
      assert.deepStrictEqual(yield* barsOf({ unit: "hour" }, NOW), {
        unit: "hour",
        from: Date.parse("2026-11-14T08:00Z"),
        count: 25
      })
    })
  )

  it.effect("barsOf allows as many bars as documented, and no more", () =>
    Effect.gen(function* () {
      const hours = (count: number) => query("2026-01-01T00:00Z", fromMillis(Date.UTC(2026, 0, 1, count)), "hour")
      assert.strictEqual((yield* barsOf(hours(MAX_BARS), NOW)).count, MAX_BARS)
      const error = yield* Effect.flip(barsOf(hours(MAX_BARS + 1), NOW))
      assert.match(error.message, /There would be 1501 bars, and at most 1500 are allowed: use the unit "day"/)
    })
  )

  it.effect("checkWork refuses to count too many rules over too many hours, and says what is possible", () =>
    Effect.gen(function* () {
      const month = { unit: "day", from: 0, count: 30 } as const
      yield* checkWork(month, 347)
      const error = yield* Effect.flip(checkWork(month, 1_000))
      assert.match(error.message, /too many rules .* over 720 hours: ask for at most 250 hours, or for one rule$/)
      const minutes = { unit: "minute", from: 0, count: 1_440 } as const
      yield* checkWork(minutes, 173)
      assert.match(
        (yield* Effect.flip(checkWork(minutes, 1_000))).message,
        /over 1440 minutes: ask for at most 250 minutes, or/
      )
      assert.match((yield* Effect.flip(checkWork(month, 1_000_000))).message, /over 720 hours: ask for one rule$/)
    })
  )

  it("histogramOf has one number per bar, and series in the order of ids", () => {
    const [one, two] = ["1", "2"].map((digit) => fromUuid("rule", `01900000-0000-7000-8000-00000000000${digit}`))
    const bars = { unit: "minute", from: NOW, count: 3 } as const
    const counted = [
      { rule: two, platform: "x", start: NOW + 120_000, matches: 5 },
      { rule: one, platform: "x", start: NOW, matches: 1 },
      { rule: one, platform: "firehose", start: NOW, matches: 2 }
    ] as Parameters<typeof histogramOf>[0]
    assert.deepStrictEqual(histogramOf(counted, bars, "rule").series, [
      { rule_id: one, total: 3, counts: [3, 0, 0] },
      { rule_id: two, total: 5, counts: [0, 0, 5] }
    ] as ReturnType<typeof histogramOf>["series"])
    assert.deepStrictEqual(histogramOf(counted, bars, undefined).series, [{ total: 8, counts: [3, 0, 5] }])
    assert.deepStrictEqual(histogramOf([], bars, undefined).series, [{ total: 0, counts: [0, 0, 0] }])
    assert.deepStrictEqual(histogramOf([], bars, "platform").series, [])
  })
})
