/** Coverage: when a platform was watched, and the gaps. */
import { Option, Schema } from "effect"
import { RuleId } from "../model/Ids.ts"
import { optional } from "../model/optional.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { GapCause, type Period, type Signal } from "../platforms/Platform.ts"

/** A period in which the platform was not watched. Times in milliseconds. */
export interface Gap extends Period {
  readonly cause: GapCause
  readonly detail: string
  /** The events of the gap were backfilled later. */
  readonly isRecovered: boolean
  /** Events may be missing, without proof. */
  readonly isSuspected: boolean
}

/** The coverage state of a platform's stream. Times in milliseconds. */
export interface Ledger {
  /** The start of the first watch. */
  readonly watchedSince: Option.Option<number>
  /** Everything received until then is stored. */
  readonly watchedUntil: number
  readonly openGap: Option.Option<{ readonly since: number; readonly cause: GapCause; readonly detail: string }>
  /** The platform replays its events since then. The gaps since then are recovered once all of them are stored. */
  readonly replayingSince: Option.Option<number>
}

export interface LedgerChange {
  readonly ledger: Ledger
  /** Closed gaps. */
  readonly gaps: ReadonlyArray<Gap>
  /** The gaps within these periods are recovered. */
  readonly recovered: ReadonlyArray<Period>
}

export const newLedger: Ledger = {
  watchedSince: Option.none(),
  watchedUntil: 0,
  openGap: Option.none(),
  replayingSince: Option.none()
}

/** Opens a gap for the time in which no process ran. */
export const afterRestart = (ledger: Ledger): Ledger =>
  Option.isSome(ledger.openGap) || Option.isNone(ledger.watchedSince)
    ? ledger
    : { ...ledger, openGap: Option.some({ since: ledger.watchedUntil, cause: "process_down", detail: PROCESS_DOWN }) }

/** Does nothing while a gap is open. */
export const advanceTo = (ledger: Ledger, at: number): Ledger =>
  Option.isSome(ledger.openGap) || Option.isNone(ledger.watchedSince) || at <= ledger.watchedUntil
    ? ledger
    : { ...ledger, watchedUntil: at }

export const afterSignal = (ledger: Ledger, signal: Signal): LedgerChange => {
  switch (signal._tag) {
    case "Event":
      return unchanged(signal.delivery.isSignOfLife === false ? ledger : advanceTo(ledger, signal.delivery.receivedAt))
    case "Alive":
      return unchanged(advanceTo(ledger, signal.at))
    case "GapStarted":
      return afterGapStarted(ledger, signal)
    case "Watching":
      return afterWatching(ledger, signal)
    case "CaughtUp":
      return {
        ...unchanged({ ...ledger, replayingSince: Option.none() }),
        recovered: Option.toArray(ledger.replayingSince).map((from) => ({ from, to: signal.at }))
      }
    case "Replayed":
      return { ...unchanged(ledger), recovered: [{ from: signal.from, to: signal.to }] }
    case "Lost":
      return {
        // What is lost may be part of the replay.
        ...unchanged({ ...ledger, replayingSince: Option.none() }),
        gaps: [{ ...gapWithin(signal), cause: signal.cause, isSuspected: false }]
      }
    case "Withdrawn":
      return unchanged(ledger)
    case "Suspected":
      return { ...unchanged(ledger), gaps: [{ ...gapWithin(signal), cause: "stall", isSuspected: true }] }
  }
}

export const isWithin = (gap: Period, { from, to }: Period): boolean => gap.from >= from && gap.to <= to

const SuspectedPeriod = Schema.Struct({
  from: Timestamp.Timestamp,
  to: Timestamp.Timestamp,
  detail: Schema.String
}).annotations({ identifier: "SuspectedPeriod" })

export const WireGap = Schema.Struct({
  rule_id: optional(RuleId, "The rule that was not watched; absent if the whole platform was not"),
  from: Timestamp.Timestamp.annotations({
    description: "In the time of events, such as `created_at` of a post, not of their arrival"
  }),
  to: optional(Timestamp.Timestamp, "Absent while the gap is open. In the time of events, too"),
  cause: GapCause,
  detail: Schema.String,
  recovered: Schema.Boolean.annotations({
    description: "True if the events of the gap were backfilled later"
  })
}).annotations({ identifier: "Gap" })

export const PlatformCoverage = Schema.Struct({
  platform: PlatformId,
  watched_since: optional(
    Timestamp.Timestamp,
    "When the platform was first watched for the rules in question; absent if it never was"
  ),
  watched_until: optional(
    Timestamp.Timestamp,
    "Everything until then is received and stored, except in gaps; while the stream is open it advances with each event and at least every 20 seconds, on Firehose every five minutes"
  ),
  gaps: Schema.Array(WireGap).annotations({
    description: "Periods in which the platform was not watched, in the time of events, newest first"
  }),
  more_gaps: Schema.Boolean.annotations({ description: "True if the period has more gaps than are listed" }),
  suspected: Schema.Array(SuspectedPeriod).annotations({
    description: "Periods in which the stream was open but unusually quiet: events may be missing, without proof"
  })
}).annotations({ identifier: "PlatformCoverage" })
export type PlatformCoverage = typeof PlatformCoverage.Type

export const Coverage = Schema.Struct({
  from: optional(
    Timestamp.Timestamp,
    "The start of the period that this response covers; absent: starts with the oldest match"
  ),
  to: Timestamp.Timestamp,
  kept_since: optional(
    Timestamp.Timestamp,
    "Retention has deleted older matches of this period; absent if it has deleted none"
  ),
  platforms: Schema.Array(PlatformCoverage)
}).annotations({ identifier: "Coverage" })
export type Coverage = typeof Coverage.Type

// ---- helpers ----

const PROCESS_DOWN = "The server was not running"

const unchanged = (ledger: Ledger): LedgerChange => ({ ledger, gaps: [], recovered: [] })

/** At least a millisecond long, so that it is not empty. */
const gapWithin = ({ from, to, detail }: Period & { readonly detail: string }) => ({
  from: Math.min(from, to - 1),
  to,
  detail,
  isRecovered: false
})

const afterGapStarted = (
  ledger: Ledger,
  { at, cause, detail }: Extract<Signal, { _tag: "GapStarted" }>
): LedgerChange =>
  Option.match(ledger.openGap, {
    onNone: () => {
      const since = Math.max(
        at,
        Option.getOrElse(ledger.watchedSince, () => at)
      )
      return unchanged({
        ...ledger,
        // Also forwards: a replay recovers what is missing since then, not what was received before and is lost.
        watchedUntil: since,
        openGap: Option.some({ since, cause, detail })
      })
    },
    onSome: (open) => {
      if (open.cause === cause) return unchanged(ledger)
      const to = Math.max(at, open.since)
      return {
        ledger: { ...ledger, openGap: Option.some({ since: to, cause, detail }) },
        gaps: gapOf(open, to),
        recovered: []
      }
    }
  })

const afterWatching = (
  ledger: Ledger,
  { at, since, askedSince = at }: Extract<Signal, { _tag: "Watching" }>
): LedgerChange => {
  const next: Ledger = {
    watchedSince: Option.orElseSome(ledger.watchedSince, () => at),
    watchedUntil: Math.max(at, ledger.watchedUntil),
    openGap: Option.none(),
    // An unfinished replay goes on with this one.
    replayingSince:
      since < at
        ? Option.some(
            Math.max(
              since,
              Option.getOrElse(ledger.replayingSince, () => ledger.watchedUntil)
            )
          )
        : Option.none()
  }
  const gaps = Option.match(ledger.openGap, {
    onNone: () => [],
    // In two parts, because only the second may be replayed.
    onSome: (open) => {
      const to = Math.max(at, open.since)
      const middle = Math.min(Math.max(Math.min(since, askedSince), open.since), to)
      return [...gapOf(open, middle), ...gapOf({ ...open, since: middle }, to)]
    }
  })
  return { ledger: next, gaps, recovered: [] }
}

const gapOf = (
  { since, cause, detail }: { readonly since: number; readonly cause: GapCause; readonly detail: string },
  to: number
): ReadonlyArray<Gap> =>
  to > since ? [{ from: since, to, cause, detail, isRecovered: false, isSuspected: false }] : []
