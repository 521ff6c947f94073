/** The lines of X's stream, posts that were seen before, and posts for rules that are not ours. */
import type { Period } from "../../core/platforms/Platform.ts"
import { type JsonObject, jsonOf, objectOf, objectsOf, textOf } from "../../core/text/json.ts"
import type { KnownRules } from "../http/KnownRules.ts"
import { type Problem, problemIn } from "./problems.ts"

export interface PostRecord {
  readonly kind: "post"
  readonly postId: string
  readonly ruleIds: ReadonlyArray<string>
  /** As sent, without `matching_rules`: those can name rules of other deployments. */
  readonly payload: Record<string, unknown>
}

export type Line =
  | PostRecord
  | { readonly kind: "keep-alive" }
  | { readonly kind: "end"; readonly reason: string; readonly problem: Problem }
  | { readonly kind: "unreadable" }

export const readLine = (line: string): Line => {
  if (line.trim() === "") return { kind: "keep-alive" }
  const record = objectOf(jsonOf(line)) ?? {}
  const data = objectOf(record["data"])
  if (data !== undefined) return postOf(data, record)
  // X sends problems both wrapped in `errors` and bare.
  const problem = objectsOf(record["errors"])[0] ?? record
  const isProblem = ["title", "type", "disconnect_type", "connection_issue"].some((key) => textOf(problem[key]))
  return isProblem ? endOf(problem) : { kind: "unreadable" }
}

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

export interface UnclaimedPost {
  readonly line: string
  readonly ruleIds: ReadonlyArray<string>
  /** When it was made, in milliseconds. */
  readonly period: Period
}

/**
 * Posts for rules that are not ours. Most are for rules of another program with the same app. A rule may also be so new that
 * X has not listed it to us yet, so a post waits for the next lists.
 */
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

/** Ignores `errors`: on a post they name parts that X could not expand, and do not end the stream. */
const postOf = (data: JsonObject, { includes, matching_rules }: JsonObject): Line => {
  const postId = textOf(data["id"])
  if (postId === undefined) return { kind: "unreadable" }
  const ruleIds = objectsOf(matching_rules).flatMap((rule) => textOf(rule["id"]) ?? [])
  return { kind: "post", postId, ruleIds, payload: { data, ...(includes !== undefined && { includes }) } }
}

const endOf = (body: JsonObject): Line => {
  const problem = problemIn(body)
  const name = textOf(body["disconnect_type"]) ?? problem.connectionIssue ?? problem.title
  const detail = [name, problem.detail].filter((part) => part !== "").join(": ")
  return { kind: "end", problem, reason: `X ended the stream${detail === "" ? "" : ` (${detail})`}` }
}

/** Covers five minutes, X's longest backfill, at a high rate for a filtered stream. */
const MAX_POSTS = 20_000

const MAX_WAITING = 1_000

/** Of a line, for the log. */
const MAX_CHARACTERS = 1_000
