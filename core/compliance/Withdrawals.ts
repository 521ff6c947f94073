/** Removes what a platform withdraws in its stream: single posts, and all posts of an account. */
import { Clock, Context, Effect, Layer } from "effect"
import type { RedactionReason } from "../matches/Match.ts"
import type { PlatformNotConfigured, StoreUnavailable } from "../model/Errors.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Delivery, Platform, Signal } from "../platforms/Platform.ts"
import { Redactions } from "./Redactions.ts"
import { StoredPosts } from "./StoredPosts.ts"

export type Withdrawn = Extract<Signal, { _tag: "Withdrawn" }>

export class Withdrawals extends Context.Tag("core/Withdrawals")<
  Withdrawals,
  {
    /** Before the events are stored, wherever that is: a post that is withdrawn later is then found. */
    readonly note: (platform: Platform, deliveries: ReadonlyArray<Delivery>) => Effect.Effect<void, StoreUnavailable>
    /** Once the events before it are stored. Idempotent. Most withdrawn posts were never stored: that costs little. */
    readonly withdraw: (
      platform: Platform,
      withdrawn: ReadonlyArray<Withdrawn>
    ) => Effect.Effect<void, PlatformNotConfigured | StoreUnavailable>
    /** Forgets what is older than the matches. `keepDays`: the age limit of matches; 0 means none. */
    readonly trim: (keepDays: number) => Effect.Effect<void, StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Withdrawals, never, Redactions | StoredPosts> = Layer.effect(
    Withdrawals,
    Effect.gen(function* () {
      const redactions = yield* Redactions
      const posts = yield* StoredPosts

      const note: Withdrawals["Type"]["note"] = ({ id, language }, deliveries) => {
        const authored = deliveries.flatMap(({ author, platformPostId, payload, receivedAt }) =>
          author === undefined
            ? []
            : [{ postId: platformPostId, author, at: language.events.timeOf(payload) ?? receivedAt }]
        )
        return authored.length === 0 ? Effect.void : posts.note(id, authored)
      }

      const withdrawFor = Effect.fn("Withdrawals.withdraw")(function* (
        { id }: Platform,
        withdrawn: ReadonlyArray<Withdrawn>,
        reason: RedactionReason
      ) {
        const wanted = {
          postIds: withdrawn.flatMap(({ what }) => ("postId" in what ? [what.postId] : [])),
          authors: withdrawn.flatMap(({ what }) => ("author" in what ? [what] : []))
        }
        for (;;) {
          const postIds = yield* posts.find(id, wanted, BATCH)
          if (postIds.length === 0) return
          yield* redactions.redact({ platform: id, platform_post_ids: postIds, reason })
          yield* posts.forget(id, postIds)
        }
      })

      const withdraw: Withdrawals["Type"]["withdraw"] = (platform, withdrawn) =>
        Effect.forEach(
          ["deleted", "withheld"] as const,
          (reason) => {
            const some = withdrawn.filter((one) => one.reason === reason)
            return some.length === 0 ? Effect.void : withdrawFor(platform, some, reason)
          },
          { discard: true }
        )

      const trim = (keepDays: number) =>
        keepDays === 0
          ? Effect.void
          : Effect.flatMap(Clock.currentTimeMillis, (now) =>
              posts.trim(Timestamp.fromMillis(now - (keepDays + 1) * Timestamp.DAY_MILLIS))
            )

      return Withdrawals.of({ note, withdraw, trim })
    })
  )
}

// ---- helpers ----

/** Posts per redaction: an account may have many. */
const BATCH = 500
