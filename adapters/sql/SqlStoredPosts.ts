/** `StoredPosts` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import { StoredPosts } from "../../core/compliance/StoredPosts.ts"
import { storableText } from "./parameters.ts"
import { unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient

  return StoredPosts.of({
    note: (platform, posts) =>
      sql`insert into stored_posts (platform, post_id, author, at)
        select distinct on (post_id) ${platform}, post_id, author, to_timestamp(at / 1000.0)
        from unnest(${posts.map(({ postId }) => storableText(postId))}::text[],
          ${posts.map(({ author }) => storableText(author))}::text[], ${posts.map(({ at }) => at)}::float8[])
          as p(post_id, author, at)
        -- In one order, so that two servers cannot deadlock.
        order by post_id
        on conflict (platform, post_id) do update set noted_at = now()`.pipe(
        Effect.asVoid,
        unavailable("storedPosts.note")
      ),
    find: (platform, { postIds, authors }, limit) =>
      sql<{ readonly post_id: string }>`
        select post_id from stored_posts
        where platform = ${platform} and post_id = any(${postIds.map(storableText)}::text[])
        union
        select p.post_id
        from unnest(${authors.map(({ author }) => storableText(author))}::text[],
          ${authors.map(({ until }) => until)}::float8[]) as a(author, until)
        join stored_posts p on p.platform = ${platform} and p.author = a.author and p.at <= to_timestamp(a.until / 1000.0)
        limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(({ post_id }) => post_id)),
        unavailable("storedPosts.find")
      ),
    forget: (platform, postIds) =>
      sql`delete from stored_posts
        where platform = ${platform} and post_id = any(${postIds.map(storableText)}::text[])`.pipe(
        Effect.asVoid,
        unavailable("storedPosts.forget")
      ),
    trim: (before) =>
      sql`delete from stored_posts where noted_at < ${before}::timestamptz`.pipe(
        Effect.asVoid,
        unavailable("storedPosts.trim")
      )
  })
})

export const layer: Layer.Layer<StoredPosts, never, SqlClient> = Layer.effect(StoredPosts, make)
