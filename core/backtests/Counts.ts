/** A platform's own count of recent events that match a filter, and the price of a month that follows from it. */
import { Effect, Schema } from "effect"
import { optional } from "../model/optional.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Platform, RecentCount } from "../platforms/Platform.ts"

export const Counts = Schema.Struct({
  total: Schema.Number.annotations({
    jsonSchema: { type: "integer", minimum: 0 },
    description: "How many events the platform counted"
  }),
  per_hour: Schema.Number.annotations({ description: "The average over the counted period" }),
  from: Timestamp.Timestamp.annotations({ description: "Start of the counted period" }),
  to: Timestamp.Timestamp.annotations({ description: "End of the counted period" }),
  bound: optional(Schema.Literal("upper"), "upper: operators were left out, so the filter matches at most this many"),
  without: optional(
    Schema.Array(Schema.String),
    "The operators that the platform cannot count by, and that were left out"
  ),
  note: optional(Schema.String, "Why the stream may deliver more or less than was counted")
}).annotations({ identifier: "Counts", description: "The platform's own count of recent events, with ask_platforms" })
export type Counts = typeof Counts.Type

export const Price = Schema.Struct({
  per_month: Schema.Number.annotations({ description: "For 30 days, at the counted rate" }),
  currency: Schema.Literal("USD")
}).annotations({
  identifier: "Price",
  description:
    "What the platform charges for the events of this filter, by counts and the price per event in the settings. Events that another rule of this server also matches cost nothing more. An upper bound if counts is one"
})
export type Price = typeof Price.Type

export interface Estimate {
  readonly counts?: Counts
  readonly counts_reason?: string
  readonly price?: Price
}

/** Empty if the platform does not count. A failure to count is part of the estimate. */
export const estimateOf = ({ countRecent, capabilities }: Platform, text: string): Effect.Effect<Estimate> =>
  countRecent === undefined
    ? Effect.succeed({})
    : Effect.match(countRecent(text), {
        onFailure: ({ reason }) => ({ counts_reason: reason }),
        onSuccess: (counted) => estimate(counted, capabilities.pricePerEvent)
      })

// ---- helpers ----

const HOUR_MILLIS = 3_600_000
const HOURS_PER_MONTH = 30 * 24

const estimate = ({ total, from, to, without, note }: RecentCount, pricePerEvent: number | undefined): Estimate => {
  const perHour = (total * HOUR_MILLIS) / (to - from)
  return {
    counts: {
      total,
      per_hour: Number(perHour.toPrecision(4)),
      from: Timestamp.fromMillis(from),
      to: Timestamp.fromMillis(to),
      ...(without.length > 0 && { bound: "upper", without }),
      ...(note !== undefined && { note })
    },
    ...(pricePerEvent !== undefined && {
      price: { per_month: inCents(perHour * HOURS_PER_MONTH * pricePerEvent), currency: "USD" }
    })
  }
}

const inCents = (amount: number): number => Math.round(amount * 100) / 100
