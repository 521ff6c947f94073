/** `PostCounts` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { PostCounts, type Subject } from "../../core/budget/PostCounts.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  return PostCounts.of({
    // Sorted, so that two servers lock the rows in the same order.
    add: (platform, periods, counts) =>
      sql`insert into post_counts (platform, period, subject, posts)
        select ${platform}, p.period, c.key, c.value::bigint
        from unnest(${periods}::text[]) as p(period)
          cross join jsonb_each_text(${JSON.stringify(Object.fromEntries(counts))}::jsonb) as c
        order by p.period, c.key
        on conflict (platform, period, subject) do update set posts = post_counts.posts + excluded.posts`.pipe(
        Effect.asVoid,
        unavailable("postCounts.add")
      ),
    count: (platform, period, subject) =>
      sql<{ readonly posts: string }>`select posts from post_counts
        where platform = ${platform} and period = ${period} and subject = ${subject}`.pipe(
        Effect.map(([row]) => Number(row?.posts ?? 0)),
        unavailable("postCounts.count")
      ),
    sums: (platform, periods) =>
      sql<{ readonly subject: Subject; readonly posts: string }>`select subject, sum(posts) as posts from post_counts
        where platform = ${platform} and period = any(${periods}::text[]) group by subject`.pipe(
        Effect.map((rows) => new Map(rows.map(({ subject, posts }) => [subject, Number(posts)]))),
        unavailable("postCounts.sums")
      ),
    forget: ({ month, hour }) =>
      sql`delete from post_counts
        where period < case when length(period) = ${hour.length} then ${hour} else ${month} end`.pipe(
        Effect.asVoid,
        unavailable("postCounts.forget")
      )
  })
})

export const layer: Layer.Layer<PostCounts, never, SqlClient> = Layer.effect(PostCounts, make)
