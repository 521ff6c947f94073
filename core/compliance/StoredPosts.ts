/** Storage port for the authors of stored posts, so that what a platform withdraws is found. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { Timestamp } from "../model/Timestamp.ts"

export interface AuthoredPost {
  readonly postId: string
  /** The platform's id of the account. */
  readonly author: string
  /** When the platform saw the post, in milliseconds. */
  readonly at: number
}

export interface WithdrawnPosts {
  readonly postIds: ReadonlyArray<string>
  /** All posts of an account until then, in milliseconds. */
  readonly authors: ReadonlyArray<{ readonly author: string; readonly until: number }>
}

export class StoredPosts extends Context.Tag("core/StoredPosts")<
  StoredPosts,
  {
    /** Idempotent. */
    readonly note: (platform: PlatformId, posts: ReadonlyArray<AuthoredPost>) => Effect.Effect<void, StoreUnavailable>
    /** Those that were noted, at most `limit`. The cost does not depend on the number of noted posts. */
    readonly find: (
      platform: PlatformId,
      withdrawn: WithdrawnPosts,
      limit: number
    ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    readonly forget: (platform: PlatformId, postIds: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>
    /** Forgets posts that were last noted before this time. */
    readonly trim: (before: Timestamp) => Effect.Effect<void, StoreUnavailable>
  }
>() {}
