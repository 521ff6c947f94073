/** Storage port for the number of posts received per month and hour: in total, per account and per rule. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { AccountId, RuleId } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"

/** `all`: a post counts once. */
export type Subject = "all" | AccountId | RuleId

/** A month (`2026-11`) or an hour (`2026-11-15T12`) in UTC. */
export type Period = string

export const monthOf = (millis: number): Period => new Date(millis).toISOString().slice(0, 7)

/** The hour of that time and those before it, newest first. */
export const hoursUpTo = (millis: number, count: number): ReadonlyArray<Period> =>
  Array.from({ length: count }, (_, ago) => new Date(millis - ago * 3_600_000).toISOString().slice(0, 13))

export class PostCounts extends Context.Tag("core/PostCounts")<
  PostCounts,
  {
    /** Adds the counts to each of the periods. */
    readonly add: (
      platform: PlatformId,
      periods: ReadonlyArray<Period>,
      counts: ReadonlyMap<Subject, number>
    ) => Effect.Effect<void, StoreUnavailable>
    readonly count: (platform: PlatformId, period: Period, subject: Subject) => Effect.Effect<number, StoreUnavailable>
    /** Per subject, the sum over the periods. */
    readonly sums: (
      platform: PlatformId,
      periods: ReadonlyArray<Period>
    ) => Effect.Effect<ReadonlyMap<Subject, number>, StoreUnavailable>
    /** Deletes older months and hours. */
    readonly forget: (older: { readonly month: Period; readonly hour: Period }) => Effect.Effect<void, StoreUnavailable>
  }
>() {}
