/** When a platform was watched and when not: what "no matches" is worth. */
import { Option, Schema } from "effect"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { GapCause, type Signal } from "../platforms/Platform.ts"

/** A time in which the platform was not watched. Times in milliseconds. */
export interface Gap {
  readonly from: number
  readonly to: number
  readonly cause: GapCause
  readonly detail: string
  /** What happened in it came all the same, later. */
  readonly isRecovered: boolean
}

/** How far a platform's stream is covered. Times in milliseconds. */
export interface Ledger {
  /** When it was first watched; none before it ever was. */
  readonly watchedSince: Option.Option<number>
  /** What came in until then is stored. */
  readonly watchedUntil: number
  /** Since when and why it is not watched now. */
  readonly blind: Option.Option<{ readonly since: number; readonly cause: GapCause; readonly detail: string }>
}

/** What a signal changes. */
export interface LedgerChange {
  readonly ledger: Ledger
  /** Gaps that have ended. */
  readonly gaps: ReadonlyArray<Gap>
  /** From then on, gaps that ended since it was last watched are made up for. */
  readonly recoveredSince: Option.Option<number>
}

/** A platform that was never watched. */
export const newLedger: Ledger = { watchedSince: Option.none(), watchedUntil: 0, blind: Option.none() }

/** The process that kept the ledger has ended, and nobody watched since. */
export const reopened = (ledger: Ledger): Ledger =>
  Option.isSome(ledger.blind) || Option.isNone(ledger.watchedSince)
    ? ledger
    : { ...ledger, blind: Option.some({ since: ledger.watchedUntil, cause: "process_down", detail: PROCESS_DOWN }) }

/** All that came in until then is stored. */
export const aliveAt = (ledger: Ledger, at: number): Ledger =>
  Option.isSome(ledger.blind) || Option.isNone(ledger.watchedSince) || at <= ledger.watchedUntil
    ? ledger
    : { ...ledger, watchedUntil: at }

export const afterSignal = (ledger: Ledger, signal: Signal): LedgerChange => {
  switch (signal._tag) {
    case "Event":
      return unchanged(aliveAt(ledger, signal.delivery.receivedAt))
    case "Blind":
      return afterBlind(ledger, signal)
    case "Watching":
      return afterWatching(ledger, signal)
  }
}

export const WireGap = Schema.Struct({
  from: Timestamp.Timestamp,
  to: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "Absent while it lasts"
  }),
  cause: GapCause,
  detail: Schema.String,
  recovered: Schema.Boolean.annotations({
    description: "What happened in it came all the same, later"
  })
}).annotations({ identifier: "Gap" })

export const PlatformCoverage = Schema.Struct({
  platform: PlatformId,
  watched_since: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "When the platform was first watched; absent before it ever was"
  }),
  watched_until: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "What came in until then is stored; while the stream is open it moves on within seconds"
  }),
  gaps: Schema.Array(WireGap).annotations({ description: "Times in which it was not watched, newest first" }),
  more_gaps: Schema.Boolean.annotations({ description: "There are more gaps in this time than are listed" })
}).annotations({ identifier: "PlatformCoverage" })
export type PlatformCoverage = typeof PlatformCoverage.Type

export const Coverage = Schema.Struct({
  from: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "The time that this answer is about begins here; absent: with the first match there is"
  }),
  to: Timestamp.Timestamp,
  kept_since: Schema.optionalWith(Timestamp.Timestamp, { exact: true }).annotations({
    description: "Matches of this time from before then were deleted, as the server is set to; absent: none was"
  }),
  platforms: Schema.Array(PlatformCoverage)
}).annotations({ identifier: "Coverage" })
export type Coverage = typeof Coverage.Type

// ---- helpers ----

const PROCESS_DOWN = "The server did not run"

const unchanged = (ledger: Ledger): LedgerChange => ({ ledger, gaps: [], recoveredSince: Option.none() })

const afterBlind = (ledger: Ledger, { at, cause, detail }: Extract<Signal, { _tag: "Blind" }>): LedgerChange =>
  Option.match(ledger.blind, {
    onNone: () => {
      const since = Math.max(
        at,
        Option.getOrElse(ledger.watchedSince, () => at)
      )
      return unchanged({ ...ledger, blind: Option.some({ since, cause, detail }) })
    },
    onSome: (blind) => {
      if (blind.cause === cause) return unchanged(ledger)
      const to = Math.max(at, blind.since)
      return {
        ledger: { ...ledger, blind: Option.some({ since: to, cause, detail }) },
        gaps: gapOf(blind, to, false),
        recoveredSince: Option.none()
      }
    }
  })

const afterWatching = (ledger: Ledger, { at, since }: Extract<Signal, { _tag: "Watching" }>): LedgerChange => {
  const next: Ledger = {
    watchedSince: Option.orElseSome(ledger.watchedSince, () => at),
    watchedUntil: Math.max(at, ledger.watchedUntil),
    blind: Option.none()
  }
  const gaps = Option.match(ledger.blind, {
    onNone: () => [],
    onSome: (blind) => {
      const to = Math.max(at, blind.since)
      if (since <= blind.since) return gapOf(blind, to, true)
      if (since >= to) return gapOf(blind, to, false)
      return [...gapOf(blind, since, false), ...gapOf({ ...blind, since }, to, true)]
    }
  })
  return { ledger: next, gaps, recoveredSince: since < at ? Option.some(since) : Option.none() }
}

const gapOf = (
  { since, cause, detail }: { readonly since: number; readonly cause: GapCause; readonly detail: string },
  to: number,
  isRecovered: boolean
): ReadonlyArray<Gap> => (to > since ? [{ from: since, to, cause, detail, isRecovered }] : [])
