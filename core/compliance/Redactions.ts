/** The redaction use case: removes posts that may no longer be shown from everything that is stored. */
import { Context, Effect, Either, Layer, Schema } from "effect"
import { RecentEvents } from "../backtests/RecentEvents.ts"
import type { Language } from "../languages/Language.ts"
import { RedactionReason } from "../matches/Match.ts"
import { MatchStore } from "../matches/MatchStore.ts"
import { Entropy } from "../model/Entropy.ts"
import type { PlatformNotConfigured, StoreUnavailable } from "../model/Errors.ts"
import { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import { Platforms } from "../platforms/Platform.ts"

const MAX_POSTS = 1_000

export const RedactRequest = Schema.Struct({
  platform: PlatformId,
  platform_post_ids: Schema.Array(Schema.String).pipe(
    Schema.filter((ids) => ids.length > 0 || "Is empty: name at least one post"),
    Schema.filter((ids) => ids.length <= MAX_POSTS || `Names too many posts: at most ${MAX_POSTS} are allowed`),
    Schema.annotations({
      jsonSchema: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        maxItems: MAX_POSTS,
        description: "The posts, by platform_post_id of their matches"
      }
    })
  ),
  reason: Schema.optionalWith(RedactionReason, { default: () => "operator" as const })
})
export type RedactRequest = typeof RedactRequest.Type

export const RedactResult = Schema.Struct({
  redacted: Schema.Int.annotations({
    description: "Number of matches, of all accounts, whose payload was removed now; 0 if it was removed before"
  })
})
export type RedactResult = typeof RedactResult.Type

export class Redactions extends Context.Tag("core/Redactions")<
  Redactions,
  {
    /**
     * Removes the posts from the matches of all accounts, the dead letters and the recent events. Their readers learn
     * of it. Idempotent.
     */
    readonly redact: (request: RedactRequest) => Effect.Effect<RedactResult, PlatformNotConfigured | StoreUnavailable>
  }
>() {
  static readonly layer: Layer.Layer<Redactions, never, MatchStore | RecentEvents | Platforms | Entropy> = Layer.effect(
    Redactions,
    Effect.gen(function* () {
      const matches = yield* MatchStore
      const recent = yield* RecentEvents
      const platforms = yield* Platforms
      const { sha256 } = yield* Entropy

      const idIn = ({ events }: Language, json: string) => Either.getOrUndefined(events.idOf(JSON.parse(json), sha256))

      const redact = Effect.fn("Redactions.redact")(function* (request: RedactRequest) {
        const { platform, reason } = request
        const { language } = yield* platforms.get(platform)
        const postIds = [...new Set(request.platform_post_ids)]
        const unwanted = new Set<string | undefined>(postIds)
        // Before the matches: an attempt that stops in between is repeated for posts with unredacted matches.
        yield* recent.remove(platform, (json) => unwanted.has(idIn(language, json)))
        const redacted = { at: yield* Timestamp.now, reason }
        let total = 0
        const batch = Effect.tap(matches.redact({ platform, postIds, redacted, atMost: BATCH }), (count) =>
          Effect.sync(() => {
            total += count
          })
        )
        yield* Effect.repeat(batch, { while: (count) => count === BATCH })
        return { redacted: total }
      })

      return Redactions.of({ redact })
    })
  )
}

// ---- helpers ----

/** Matches per transaction. Small, because the embedded store runs one statement at a time. */
const BATCH = 500
