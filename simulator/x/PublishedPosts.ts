/** The newest published posts, whether a rule matched them or not. */
import { Either } from "effect"
import { evaluate } from "../../core/syntax/expression/evaluate.ts"
import type { Expression } from "../../core/syntax/expression/expression.ts"
import { xEvent } from "../../core/syntax/x/event.ts"
import type { JsonObject } from "../../core/text/json.ts"

export class PublishedPosts {
  /** Oldest first. */
  private readonly posts: Array<{ readonly at: number; readonly payload: JsonObject }> = []

  add(payload: JsonObject, now: number): void {
    this.posts.push({ at: now, payload })
    if (this.posts.length > MAX_POSTS) this.posts.splice(0, SPARE_POSTS)
  }

  /** The publish times of the matching posts from `from` until before `to`. */
  timesOf(expression: Expression, from: number, to: number): ReadonlyArray<number> {
    return this.posts
      .filter(({ at }) => at >= from && at < to)
      .filter(({ payload }) =>
        Either.match(xEvent(payload), { onLeft: () => false, onRight: (event) => evaluate(expression, event) })
      )
      .map(({ at }) => at)
  }
}

// ---- helpers ----

const MAX_POSTS = 100_000

/** Dropped at once, because dropping one post costs as much as dropping many. */
const SPARE_POSTS = 10_000
