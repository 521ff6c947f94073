/** Adds matches of earlier events to a rule. */
import { Effect } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { Ids, RuleId } from "../model/Ids.ts"
import type { Match } from "./Match.ts"
import type { MatchStore } from "./MatchStore.ts"

type Event = Pick<Match, "created_at" | "platform" | "platform_post_id" | "payload">

/** In the order of the events. Skips those that the rule has already. Returns how many it added. */
export const addLater = (
  { matches, ids }: { readonly matches: MatchStore["Type"]; readonly ids: Ids["Type"] },
  rule: { readonly id: RuleId; readonly version: number },
  events: ReadonlyArray<Event>
): Effect.Effect<number, StoreUnavailable> =>
  Effect.gen(function* () {
    let added = 0
    for (let at = 0; at < events.length; at += BATCH) {
      const batch = events.slice(at, at + BATCH)
      const newIds = yield* ids.matches(batch.length)
      added += yield* matches.insert(
        batch.flatMap(({ created_at, platform, platform_post_id, payload }, index) => {
          const id = newIds[index]
          if (id === undefined) return []
          const event = { created_at, platform, platform_post_id, payload }
          return [{ id, rule_id: rule.id, rule_version: rule.version, ...event, reapplied: true as const }]
        })
      )
    }
    return added
  }).pipe(Effect.catchTag("MatchesUnstorable", Effect.die))

// ---- helpers ----

/** Small: the embedded store runs one statement at a time. */
const BATCH = 200
