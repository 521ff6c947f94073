/** Storage port for the number of posts received per month and hour: in total, per account and per rule. */
import { Context, Effect, Layer } from "effect"
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
>() {
  static readonly layerMemory: Layer.Layer<PostCounts> = Layer.sync(PostCounts, () => {
    const stored = new Map<string, { platform: PlatformId; period: Period; subject: Subject; posts: number }>()
    const keyOf = (...parts: ReadonlyArray<string>) => parts.join(" ")

    return PostCounts.of({
      add: (platform, periods, counts) =>
        Effect.sync(() => {
          for (const period of periods) {
            for (const [subject, posts] of counts) {
              const key = keyOf(platform, period, subject)
              stored.set(key, { platform, period, subject, posts: posts + (stored.get(key)?.posts ?? 0) })
            }
          }
        }),
      count: (platform, period, subject) => Effect.sync(() => stored.get(keyOf(platform, period, subject))?.posts ?? 0),
      sums: (platform, periods) =>
        Effect.sync(() => {
          const sums = new Map<Subject, number>()
          for (const row of stored.values()) {
            if (row.platform !== platform || !periods.includes(row.period)) continue
            sums.set(row.subject, row.posts + (sums.get(row.subject) ?? 0))
          }
          return sums
        }),
      forget: ({ month, hour }) =>
        Effect.sync(() => {
          for (const [key, { period }] of stored) {
            if (period < (period.length === hour.length ? hour : month)) stored.delete(key)
          }
        })
    })
  })
}
