/** Fans out the events of a platform to matches of rules. */
import { Array as Arr, Effect } from "effect"
import type { Match } from "../matches/Match.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { Ids } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Delivery } from "../platforms/Platform.ts"
import type { Registrations } from "../rules/Registrations.ts"
import type { RuleStore } from "../rules/RuleStore.ts"

export interface FanOutServices {
  readonly rules: RuleStore["Type"]
  readonly registrations: Registrations["Type"]
  readonly ids: Ids["Type"]
}

/** One match per event and rule. Several rules can share one rule of the platform. */
export const fanOut = (
  { rules, registrations, ids }: FanOutServices,
  platform: PlatformId,
  deliveries: ReadonlyArray<Delivery>
): Effect.Effect<ReadonlyArray<Match>, StoreUnavailable> =>
  Effect.gen(function* () {
    if (deliveries.length === 0) return []
    const all = [...new Set(deliveries.flatMap(({ platformRuleIds }) => platformRuleIds))]
    const ruleIds = new Map<string, Array<Match["rule_id"]>>()
    const addLinks = (platformRuleIds: ReadonlyArray<string>) =>
      Effect.map(rules.ruleLinks(platform, platformRuleIds), (links) => {
        for (const { platformRuleId, ruleId } of links) {
          const known = ruleIds.get(platformRuleId)
          if (known === undefined) ruleIds.set(platformRuleId, [ruleId])
          else known.push(ruleId)
        }
      })
    yield* addLinks(all)
    const unknown = all.filter((id) => !ruleIds.has(id))
    if (unknown.length > 0) {
      // A new rule is on the platform before it is active in the store.
      yield* registrations.awaitIdle(platform)
      yield* addLinks(unknown)
    }
    const created_at = yield* Timestamp.now
    const pairs = deliveries.flatMap((delivery) => {
      const matched = [...new Set(delivery.platformRuleIds)].flatMap((id) => ruleIds.get(id) ?? [])
      return matched.map((rule_id) => ({ delivery, rule_id }))
    })
    const newIds = yield* ids.matches(pairs.length)
    return Arr.zipWith(newIds, pairs, (id, { delivery: { platformPostId, payload }, rule_id }) => ({
      id,
      rule_id,
      created_at,
      platform,
      platform_post_id: platformPostId,
      payload
    }))
  })
