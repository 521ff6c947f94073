/** Dedupes posts: X sends some twice, and a reconnect with backfill repeats the last minutes. */

export class SeenPosts {
  /** Post id to the rules it matched, oldest post first. */
  private readonly ruleIdsByPost = new Map<string, Set<string>>()

  add(postId: string, ruleIds: ReadonlyArray<string>): "new post" | "new rules" | "repeat" {
    const before = this.ruleIdsByPost.get(postId)
    if (before === undefined) {
      this.ruleIdsByPost.set(postId, new Set(ruleIds))
      this.evictOldest()
      return "new post"
    }
    const size = before.size
    for (const id of ruleIds) before.add(id)
    return before.size > size ? "new rules" : "repeat"
  }

  private evictOldest(): void {
    if (this.ruleIdsByPost.size <= MAX_POSTS) return
    for (const oldest of this.ruleIdsByPost.keys()) {
      this.ruleIdsByPost.delete(oldest)
      return
    }
  }
}

// ---- helpers ----

/** Covers five minutes, X's longest backfill, at a high rate for a filtered stream. */
const MAX_POSTS = 20_000
