/** `StoredPosts` in memory. */
import { Effect, Layer } from "effect"
import { type AuthoredPost, StoredPosts } from "../../core/compliance/StoredPosts.ts"

export const memoryStoredPosts: Layer.Layer<StoredPosts> = Layer.sync(StoredPosts, () => {
  const all = new Map<string, AuthoredPost & { readonly platform: string; readonly notedAt: number }>()
  const keyOf = (platform: string, postId: string) => `${platform} ${postId}`

  return StoredPosts.of({
    note: (platform, posts) =>
      Effect.map(Effect.clock, (clock) => {
        for (const post of posts) {
          const key = keyOf(platform, post.postId)
          all.set(key, { ...(all.get(key) ?? post), platform, notedAt: clock.unsafeCurrentTimeMillis() })
        }
      }),
    find: (platform, { postIds, authors }, limit) =>
      Effect.sync(() =>
        [...all.values()]
          .filter(
            (post) =>
              post.platform === platform &&
              (postIds.includes(post.postId) ||
                authors.some(({ author, until }) => author === post.author && post.at <= until))
          )
          .map(({ postId }) => postId)
          .slice(0, limit)
      ),
    forget: (platform, postIds) =>
      Effect.sync(() => {
        for (const postId of postIds) all.delete(keyOf(platform, postId))
      }),
    trim: (before) =>
      Effect.sync(() => {
        for (const [key, { notedAt }] of all) if (notedAt < Date.parse(before)) all.delete(key)
      })
  })
})
