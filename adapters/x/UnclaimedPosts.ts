/**
 * Posts for rules that are not ours. Most are for rules of another program with the same app. A rule may also be so new that
 * X has not listed it to us yet, so a post waits for the next lists.
 */
import type { Period } from "../../core/platforms/Platform.ts"
import type { KnownRules } from "../http/KnownRules.ts"

export interface UnclaimedPost {
  readonly line: string
  readonly ruleIds: ReadonlyArray<string>
  /** When it was made, in milliseconds. */
  readonly period: Period
}

export class UnclaimedPosts {
  private readonly known: KnownRules
  private waiting: Array<UnclaimedPost & { readonly afterLists: number }> = []

  constructor(known: KnownRules) {
    this.known = known
  }

  /** None of the rules is ours, and not all of them belong to others. */
  isUnclaimed(ruleIds: ReadonlyArray<string>): boolean {
    return (
      ruleIds.length > 0 &&
      !ruleIds.some((id) => this.known.isOurs(id)) &&
      !ruleIds.every((id) => this.known.isForeign(id))
    )
  }

  add(post: UnclaimedPost): void {
    // The next list may be on its way already.
    this.waiting.push({ ...post, line: post.line.slice(0, MAX_CHARACTERS), afterLists: this.known.lists + 2 })
  }

  /** The posts for rules that X does not list: those that they were meant for have missed them. */
  takeUnknown(): ReadonlyArray<UnclaimedPost> {
    if (this.waiting.length === 0) return []
    const isDue = ({ afterLists }: { readonly afterLists: number }, index: number) =>
      afterLists <= this.known.lists || index < this.waiting.length - MAX_WAITING
    const due = this.waiting.filter(isDue)
    if (due.length > 0) this.waiting = this.waiting.filter((post) => !due.includes(post))
    return due.filter(({ ruleIds }) => this.isUnclaimed(ruleIds))
  }
}

// ---- helpers ----

const MAX_WAITING = 1_000

/** Of a line, for the log. */
const MAX_CHARACTERS = 1_000
