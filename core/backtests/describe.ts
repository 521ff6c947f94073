/** Describes backtests, counts and prices in words, for the command line and the agent tools. */
import type { Language } from "../languages/Language.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { counted } from "../text/counted.ts"
import type { Backtest } from "./Backtests.ts"
import type { Estimate } from "./Counts.ts"

/** Where events come from. */
export type Source = Pick<Language, "id" | "keepsOnlyMatches">

export const sourceOf = (languages: ReadonlyArray<Language>, platform: PlatformId): Source =>
  languages.find(({ id }) => id === platform) ?? { id: platform }

/** Of the basis `matched_events`. */
export const describeMatchedEvents = ({ id, keepsOnlyMatches }: Source): string =>
  `${keepsOnlyMatches === true ? `of ${id}, Earshot keeps` : `${id} sends`} only events that match some rule of this server, so others could not be tested`

/** May quote names of operators, but no text of events. */
export const describeBacktest = (
  source: Source,
  { basis, tested, matched, already_matched, per_hour, recorded, from, to, note }: Backtest
): string =>
  [
    `it matched ${matched} of the newest ${tested} events${from === undefined || to === undefined ? "" : `, from ${from} to ${to}`}`,
    ...(matched === 0 ? [] : [`the active rules of the account already match ${already_matched} of these`]),
    ...(per_hour === undefined
      ? []
      : [`about ${rounded(per_hour)} per hour${recorded === undefined ? "" : `, ${BY_OWN_TIMES}`}`]),
    ...(basis === "matched_events" ? [`this is a lower bound, without a rate: ${describeMatchedEvents(source)}`] : []),
    ...(note === undefined ? [] : [note])
  ].join("; ")

/** Empty if the platform was not asked or does not count. May quote the platform. */
export const describeEstimate = (
  platform: PlatformId,
  { counts, counts_reason, price }: Estimate
): ReadonlyArray<string> => {
  if (counts === undefined) {
    return counts_reason === undefined ? [] : [`${platform} gives no counts: ${counts_reason}`]
  }
  const { total, per_hour, from, to, bound, without = [], note } = counts
  const [exactly, about] = bound === "upper" ? ["at most ", "at most"] : ["", "about"]
  return [
    [
      `${platform} counted ${exactly}${counted(total, "such event")} from ${from} to ${to}, ${about} ${rounded(per_hour)} per hour`,
      ...(without.length === 0
        ? []
        : [`it cannot count by ${without.map((name) => `${name}:`).join(", ")}, which was left out`]),
      ...(note === undefined ? [] : [note])
    ].join("; "),
    ...(price === undefined
      ? []
      : [
          `they would cost ${about} ${price.per_month} ${price.currency} per month; those that another rule already matches cost nothing extra`
        ])
  ]
}

// ---- helpers ----

/** Otherwise the rate would contradict the period, which reaches back to the recording. */
const BY_OWN_TIMES = "with recorded events counted over the time that they span"

const rounded = (perHour: number): number => Number(perHour.toPrecision(3))
