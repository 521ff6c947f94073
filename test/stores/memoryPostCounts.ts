/** `PostCounts` in memory. */
import { Effect, Layer } from "effect"
import { type Period, PostCounts, type Subject } from "../../core/budget/PostCounts.ts"
import type { PlatformId } from "../../core/model/PlatformId.ts"

export const memoryPostCounts: Layer.Layer<PostCounts> = Layer.sync(PostCounts, () => {
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
