import { assert, describe, it } from "@effect/vitest"
import {
  coverageOfRule,
  describeCoverage,
  gapsIn,
  type PlatformCoverage,
  startedIn,
  watchedIn,
  watchOf
} from "../../console/coverage/coverage.ts"

const HOUR = 3_600_000
const START = Date.parse("2026-11-15T00:00:00.000Z")
const period = { from: START, to: START + 10 * HOUR }

const at = (hours: number): string => new Date(START + hours * HOUR).toISOString()

const coverage = (gaps: PlatformCoverage["gaps"] = [], others: Partial<PlatformCoverage> = {}): PlatformCoverage => ({
  platform: "x",
  watched_since: at(-24),
  watched_until: at(10),
  gaps,
  more_gaps: false,
  suspected: [],
  ...others
})

const gap = (from: number, to: number | undefined, others: Partial<PlatformCoverage["gaps"][number]> = {}) => ({
  from: at(from),
  ...(to !== undefined && { to: at(to) }),
  cause: "outage" as const,
  detail: "The connection failed",
  recovered: false,
  ...others
})

describe("gapsIn", () => {
  it("tells lost, open, recovered and suspected gaps and those without rules apart", () => {
    const gaps = [
      gap(9, undefined),
      gap(7, 8, { cause: "no_rules", detail: "No rules to watch" }),
      gap(5, 6, { recovered: true }),
      gap(3, 4),
      gap(2, undefined, { cause: "paused" })
    ]
    const suspected = [{ from: at(1), to: at(2), detail: "Unusually quiet" }]
    const kinds = gapsIn(coverage(gaps, { suspected }), period).map(({ kind }) => kind)
    assert.deepStrictEqual(kinds, ["open", "off", "recovered", "lost", "off", "suspected"])
  })

  it("cuts gaps to the period and leaves out the others", () => {
    const shown = gapsIn(coverage([gap(9, 12), gap(-2, 1), gap(-4, -3)]), period)
    assert.deepStrictEqual(
      shown.map(({ from, to }) => [(from - START) / HOUR, (to - START) / HOUR]),
      [
        [9, 10],
        [0, 1]
      ]
    )
  })
})

describe("gapsIn of gaps that touch", () => {
  const pause = { cause: "paused", detail: "The account paused the rule", rule_id: "rule_1" as never } as const

  it("joins those of the same rule and cause", () => {
    const [joined, ...others] = gapsIn(coverage([gap(6, undefined, pause), gap(4, 6, pause)]), period)
    assert.deepStrictEqual(others, [])
    assert.include(joined, { from: START + 4 * HOUR, to: period.to, isOpen: true })
    assert.strictEqual(joined?.cause, "The account paused the rule")
  })

  it("keeps other rules, causes and states apart", () => {
    const ofOther = { ...pause, rule_id: "rule_2" as never }
    const gaps = [gap(6, 7, { recovered: true }), gap(5, 6), gap(4, 5, { cause: "stall" }), gap(6, 7, ofOther)]
    assert.strictEqual(gapsIn(coverage([...gaps, gap(4, 6, pause), gap(8, 9, pause)]), period).length, 6)
  })
})

describe("coverageOfRule of a new rule", () => {
  it("has neither gaps nor suspicions from before the rule was created", () => {
    const suspected = [
      { from: at(1), to: at(3), detail: "Unusually quiet" },
      { from: at(0), to: at(1), detail: "Unusually quiet" }
    ]
    const found = coverageOfRule(coverage([gap(1, 4)], { suspected }), { id: "rule_1", created_at: at(2) })
    assert.deepStrictEqual(
      [...found.gaps, ...found.suspected].map(({ from, to }) => [from, to]),
      [
        [at(2), at(4)],
        [at(2), at(3)]
      ]
    )
  })
})

describe("watchedIn", () => {
  it("separates what is stored from what is not confirmed yet", () => {
    const watched = watchedIn(coverage([], { watched_since: at(2), watched_until: at(9) }), period)
    assert.deepStrictEqual(watched, { from: START + 2 * HOUR, to: period.to, confirmed: START + 9 * HOUR })
  })

  it("is absent if the watch began after the period", () => {
    assert.isUndefined(watchedIn(coverage([], { watched_since: at(11) }), period))
  })
})

describe("startedIn", () => {
  it("leaves out the time before the first watch or gap, of all platforms", () => {
    const late = coverage([], { watched_since: at(8) })
    assert.deepStrictEqual(startedIn([late], period), { from: START + 8 * HOUR, to: period.to })
    assert.strictEqual(startedIn([coverage([gap(7, 8)], { watched_since: at(8) })], period).from, START + 7 * HOUR)
    assert.strictEqual(startedIn([late, coverage([], { watched_since: at(5) })], period).from, START + 5 * HOUR)
    assert.deepStrictEqual(startedIn([coverage()], period), period)
  })

  it("is the whole period if nothing was watched", () => {
    assert.deepStrictEqual(startedIn([{ platform: "x", gaps: [], more_gaps: false, suspected: [] }], period), period)
  })
})

describe("watchOf", () => {
  it("counts overlapping gaps once, and recovered ones as watched", () => {
    const watch = watchOf(coverage([gap(1, 3), gap(2, 4), gap(6, 7, { recovered: true })]), period)
    assert.deepStrictEqual(watch, { wanted: 10 * HOUR, share: 0.7 })
  })

  it("leaves out the time without rules, and gaps of single rules", () => {
    const gaps = [gap(0, 5, { cause: "no_rules" }), gap(6, 8, { rule_id: "rule_1" as never })]
    assert.deepStrictEqual(watchOf(coverage(gaps), period), { wanted: 5 * HOUR, share: 1 })
  })

  it("is absent if nothing was to be watched", () => {
    assert.isUndefined(watchOf({ platform: "x", gaps: [], more_gaps: false, suspected: [] }, period))
  })
})

describe("coverageOfRule", () => {
  it("has the gaps of the platform since the rule was created, and those of the rule", () => {
    const rule = { id: "rule_1", created_at: at(4) } as never
    const gaps = [
      gap(8, 9, { rule_id: "rule_2" as never }),
      gap(6, 7, { rule_id: "rule_1" as never }),
      gap(3, 5),
      gap(1, 2)
    ]
    const ofRule = coverageOfRule(coverage(gaps), rule)
    assert.deepStrictEqual(ofRule.gaps, [gap(6, 7), gap(4, 5)])
    assert.strictEqual(ofRule.watched_since, at(4))
    assert.strictEqual(describeCoverage(ofRule, period), "watched 66.66 % of 6 h; 2 gaps, not recovered (2 h)")
  })
})

describe("describeCoverage", () => {
  it("says how long was watched, and what is lost", () => {
    assert.strictEqual(describeCoverage(coverage(), period), "watched 100 %, no gaps")
    assert.strictEqual(
      describeCoverage(coverage([gap(9, undefined), gap(5, 6, { recovered: true })]), period),
      "watched 90 %; 2 gaps, 1 not recovered (1 h), one is open now"
    )
    assert.strictEqual(
      describeCoverage(coverage([gap(7, 8)], { watched_since: at(6) }), period),
      "watched 75 % of 4 h; 1 gap, not recovered (1 h)"
    )
  })

  it("names pauses and gaps of single rules, too", () => {
    const paused = gap(4, 5, { cause: "paused" })
    assert.strictEqual(describeCoverage(coverage([paused]), period), "watched 100 % of 9 h; nothing to watch for 1 h")
    const ofRule = { ...paused, rule_id: "rule_1" as never }
    assert.strictEqual(describeCoverage(coverage([ofRule]), period), "watched 100 %; gaps only in single rules")
    assert.strictEqual(
      describeCoverage(coverage([ofRule, gap(7, 8)]), period),
      "watched 90 %; 1 gap, not recovered (1 h); more gaps in single rules"
    )
  })

  it("never rounds up to 100 %", () => {
    assert.match(describeCoverage(coverage([gap(5, 5.0001)]), period), /^watched 99\.99 %/)
  })
})
