/**
 * Asks Bluesky which posts it still shows. The stream says what is withdrawn; this finds what was withdrawn while the stream
 * was away for longer than it can resume.
 */
import { Effect } from "effect"
import { bluesky } from "../../core/languages/bluesky.ts"
import { PlatformUnavailable } from "../../core/model/Errors.ts"
import type { PostLookUp } from "../../core/platforms/Platform.ts"
import { textOf } from "../../core/text/json.ts"
import { Budget } from "../http/Budget.ts"
import { MAX_PER_CALL, type PublicApi } from "./publicApi.ts"

export const makeLookUp = (ask: PublicApi): PostLookUp => {
  const budget = new Budget({ limit: 60, windowMillis: 60_000 })

  const shownOf = (uris: ReadonlyArray<string>) =>
    uris.length === 0
      ? Effect.succeed([])
      : Effect.map(Effect.zipRight(budget.wait, ask("posts", uris)), (posts) => posts.map(({ uri }) => textOf(uri)))

  return {
    intervalMillis: 24 * 3_600_000,
    batch: MAX_PER_CALL,
    ask: (postIds) =>
      Effect.gen(function* () {
        const uris = postIds.filter((id) => postPattern.test(id))
        const first = new Set(yield* shownOf(uris))
        const missing = uris.filter((uri) => !first.has(uri))
        // What is removed does not come back, so one answer is not enough.
        const second = new Set(yield* shownOf(missing))
        return new Map(missing.flatMap((uri) => (second.has(uri) ? [] : [[uri, "withheld"] as const])))
      }).pipe(Effect.mapError(({ reason }) => new PlatformUnavailable({ platform: bluesky.id, reason })))
  }
}

// ---- helpers ----

/** Bluesky refuses the whole call for one id of another form. */
const postPattern = /^at:\/\/did:[a-z]+:[\w.:%-]{1,256}\/app\.bsky\.feed\.post\/[\w.~:-]{1,512}$/
