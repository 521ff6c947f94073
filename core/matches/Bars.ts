/** The bars of a histogram: periods of one length, in UTC. */
import { Schema } from "effect"
import { DAY_MILLIS } from "../model/Timestamp.ts"

export const Unit = Schema.Literal("minute", "hour", "day").annotations({
  identifier: "HistogramUnit",
  description: "The length of a bar. Bars begin at a full minute, hour or day in UTC"
})
export type Unit = typeof Unit.Type

export const UNIT_MILLIS: Readonly<Record<Unit, number>> = { minute: 60_000, hour: 3_600_000, day: DAY_MILLIS }

/** `from` is the start of the first bar, in milliseconds. */
export interface Bars {
  readonly unit: Unit
  readonly from: number
  readonly count: number
}

export const endOf = ({ unit, from, count }: Bars): number => from + count * UNIT_MILLIS[unit]
