/** The cursor that a client of a subscription sees. */
import { Effect, Option } from "effect"
import type { MatchStore } from "../matches/MatchStore.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import { firstMatchIdAt, timeOf } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import { gapCursorOf } from "./gapMessages.ts"
import type { StoredWebhook } from "./WebhookStore.ts"

/**
 * Everything up to it was delivered or given up. Moves although nothing happens. It is never the id of a match of another
 * account, which the stored cursor may be.
 */
export const shownCursor = (
  matches: MatchStore["Type"],
  {
    account,
    rules,
    platforms,
    cursor,
    events,
    announcedGaps
  }: Pick<StoredWebhook, "account" | "rules" | "platforms" | "cursor" | "events" | "announcedGaps">,
  all: ReadonlyArray<PlatformId>
): Effect.Effect<string, StoreUnavailable> =>
  Effect.gen(function* () {
    if (events.includes("coverage.gap")) return gapCursorOf(announcedGaps)
    // Read first: what is stored after it comes after it.
    const watermark = yield* matches.watermark
    const selector = { account, rules, platforms: Option.getOrElse(platforms, () => all) }
    const { items } = yield* matches.next({ ...selector, after: cursor, limit: 1 })
    return Option.match(Option.fromNullable(items[0]), {
      onNone: () => watermark,
      // The start of its millisecond: what is repeated has the same ids.
      onSome: ({ id }) => firstMatchIdAt(timeOf(id))
    })
  })
