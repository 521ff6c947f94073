/** Which posts have come already: X sends some twice, and a reconnect with backfill asks for it. */

export class SeenPosts {
  /** By post, the rules that it came for; the oldest first. */
  private readonly ruleIds = new Map<string, Set<string>>()

  /** "repeat": it came before, for the same rules. "more": it came before, and now for further rules. */
  saw(postId: string, ruleIds: ReadonlyArray<string>): "new" | "more" | "repeat" {
    const before = this.ruleIds.get(postId)
    if (before === undefined) {
      this.ruleIds.set(postId, new Set(ruleIds))
      this.forgetOldest()
      return "new"
    }
    const size = before.size
    for (const id of ruleIds) before.add(id)
    return before.size > size ? "more" : "repeat"
  }

  private forgetOldest(): void {
    if (this.ruleIds.size <= MOST_KEPT) return
    for (const oldest of this.ruleIds.keys()) {
      this.ruleIds.delete(oldest)
      return
    }
  }
}

// ---- helpers ----

/** What comes in five minutes, the most that X sends again, at a rate that is high for a filtered stream. */
const MOST_KEPT = 20_000
