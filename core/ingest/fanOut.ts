/** Fans out the events of a platform to matches of rules. */
import { Array as Arr, Effect } from "effect"
import type { Match } from "../matches/Match.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { Ids } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Delivery } from "../platforms/Platform.ts"
import type { Registrations } from "../rules/Registrations.ts"
import type { RuleLink, RuleStore } from "../rules/RuleStore.ts"

export interface FanOutServices {
  readonly rules: RuleStore["Type"]
  readonly registrations: Registrations["Type"]
  readonly ids: Ids["Type"]
}

/** One match per event and rule. Several rules, of several accounts, can share one rule of the platform. */
export const fanOut = (
  { rules, registrations, ids }: FanOutServices,
  platform: PlatformId,
  deliveries: ReadonlyArray<Delivery>
): Effect.Effect<ReadonlyArray<Match>, StoreUnavailable> =>
  Effect.gen(function* () {
    if (deliveries.length === 0) return []
    const all = [...new Set(deliveries.flatMap(({ platformRuleIds }) => platformRuleIds))]
    const linksOf = new Map<string, Array<RuleLink>>()
    const addLinks = (platformRuleIds: ReadonlyArray<string>) =>
      Effect.map(rules.ruleLinks(platform, platformRuleIds), (links) => {
        for (const link of links) {
          const known = linksOf.get(link.platformRuleId)
          if (known === undefined) linksOf.set(link.platformRuleId, [link])
          else known.push(link)
        }
      })
    yield* addLinks(all)
    const unknown = all.filter((id) => !linksOf.has(id))
    if (unknown.length > 0) {
      // A new rule is on the platform before it is active in the store.
      yield* registrations.awaitIdle(platform, unknown)
      yield* addLinks(unknown)
    }
    const created_at = yield* Timestamp.now
    const pairs = deliveries.flatMap((delivery) => {
      const { platformRuleIds, sender } = delivery
      const matched = [...new Set(platformRuleIds)].flatMap((id) => linksOf.get(id) ?? [])
      const links = sender === undefined ? matched : matched.filter(({ accountId }) => accountId === sender)
      return links.map(({ ruleId }) => ({ delivery, rule_id: ruleId }))
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
