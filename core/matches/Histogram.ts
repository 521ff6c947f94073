/** Counts of matches over time, in bars of one length, with the coverage of that time: what a chart shows. */
import { Effect, Schema } from "effect"
import { Coverage } from "../coverage/Coverage.ts"
import { InvalidArgument } from "../model/Errors.ts"
import { RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { type Bars, endOf, UNIT_MILLIS, Unit } from "./Bars.ts"
import type { BarCount } from "./MatchStore.ts"

const By = Schema.Literal("rule", "platform")

export const HistogramQuery = Schema.Struct({
  rule_id: optional(Schema.String.annotations({ description: "Only matches of this rule" })),
  platform: optional(PlatformId),
  from: optional(
    Timestamp.FromRequest.annotations({ description: "Without it: 24 hours before `to`. Rounded down to the unit" })
  ),
  to: optional(
    Timestamp.FromRequest.annotations({
      description: "Without it, or if it is in the future: now. Rounded up to the unit"
    })
  ),
  unit: Schema.optionalWith(
    Unit.annotations({ jsonSchema: { type: "string", enum: ["minute", "hour", "day"], default: "hour" } }),
    { exact: true, default: () => "hour" as const }
  ),
  by: optional(
    By.annotations({
      jsonSchema: {
        type: "string",
        enum: By.literals,
        description: "One series per rule or per platform. Without it: one series with all matches"
      }
    })
  )
})
export type HistogramQuery = typeof HistogramQuery.Type

const Count = Schema.Number.annotations({ jsonSchema: { type: "integer", minimum: 0 } })

const Series = Schema.Struct({
  rule_id: optional(RuleId, "With `by` rule"),
  platform: optional(PlatformId, "With `by` platform"),
  total: Count.annotations({ description: "The sum of the counts" }),
  counts: Schema.Array(Count).annotations({
    description: "One number per bar, the oldest first: the bar with index i begins i units after `from`"
  })
}).annotations({ identifier: "HistogramSeries" })

export const Histogram = Schema.Struct({
  unit: Unit,
  from: Timestamp.Timestamp.annotations({ description: "The start of the first bar" }),
  to: Timestamp.Timestamp.annotations({ description: "The end of the last bar" }),
  series: Schema.Array(Series).annotations({
    description:
      "With `by`, a rule or platform without matches in this time has no series. Otherwise there is exactly one series"
  }),
  coverage: Schema.propertySignature(Coverage).annotations({
    description: "When the platforms were watched in this time: no matches may mean that nobody listened"
  })
})
export type Histogram = typeof Histogram.Type

export const MAX_BARS = 1_500

export const barsOf = ({ from, to, unit }: HistogramQuery, now: number): Effect.Effect<Bars, InvalidArgument> => {
  const end = to === undefined ? now : Math.min(Date.parse(to), now)
  const start = Math.max(0, from === undefined ? end - Timestamp.DAY_MILLIS : Date.parse(from))
  if (start >= end) return refused("from", "Expected a time before `to` and before now")
  const barsIn = (unit: Unit) => {
    const first = Math.floor(start / UNIT_MILLIS[unit])
    return { first, count: Math.ceil(end / UNIT_MILLIS[unit]) - first }
  }
  const { first, count } = barsIn(unit)
  if (count <= MAX_BARS) {
    return Effect.succeed({ unit, from: first * UNIT_MILLIS[unit], count })
  }
  const fitting = units.find((other) => barsIn(other).count <= MAX_BARS)
  const remedy =
    fitting === undefined ? "ask for a shorter time" : `use the unit "${fitting}", or ask for a shorter time`
  return refused("unit", `There would be ${count} bars, and at most ${MAX_BARS} are allowed: ${remedy}`)
}

/**
 * Bounds the work if all rules of an account are counted. `registrations` is the number of its rules on each platform
 * asked for, together.
 */
export const checkWork = (bars: Bars, registrations: number): Effect.Effect<void, InvalidArgument> => {
  const counter = bars.unit === "minute" ? "minute" : "hour"
  const counters = (endOf(bars) - bars.from) / UNIT_MILLIS[counter]
  if (registrations * counters <= MAX_COUNTERS) return Effect.void
  const allowed = Math.floor(MAX_COUNTERS / registrations)
  const remedy = allowed > 0 ? `ask for at most ${allowed} ${counter}s, or for one rule` : "ask for one rule"
  return refused(
    "rule_id",
    `The account has too many rules to count all of them over ${counters} ${counter}s: ${remedy}`
  )
}

/** Series are in the order of ids. */
export const histogramOf = (
  counted: ReadonlyArray<BarCount>,
  bars: Bars,
  by: HistogramQuery["by"]
): Omit<Histogram, "coverage"> => {
  const groups = new Map<string, { readonly first: Partial<BarCount>; readonly counts: Array<number> }>()
  const groupOf = (key: string, first: Partial<BarCount>) => {
    const group = groups.get(key) ?? { first, counts: Array<number>(bars.count).fill(0) }
    groups.set(key, group)
    return group
  }
  if (by === undefined) groupOf("", {})
  for (const bar of counted) {
    const { counts } = groupOf(by === undefined ? "" : (bar[by] ?? ""), bar)
    const index = (bar.start - bars.from) / UNIT_MILLIS[bars.unit]
    counts[index] = (counts[index] ?? 0) + bar.matches
  }
  return {
    unit: bars.unit,
    from: Timestamp.fromMillis(bars.from),
    to: Timestamp.fromMillis(endOf(bars)),
    series: [...groups]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { first, counts }]) => ({
        ...(by === "rule" && first.rule !== undefined && { rule_id: first.rule }),
        ...(by === "platform" && first.platform !== undefined && { platform: first.platform }),
        total: counts.reduce((sum, count) => sum + count, 0),
        counts
      }))
  }
}

// ---- helpers ----

const units = ["minute", "hour", "day"] as const

/** That one query may read. There is one per minute and one per hour, for each rule and platform. */
const MAX_COUNTERS = 250_000

const refused = (path: string, message: string) => new InvalidArgument({ issues: [{ path, message }] })
