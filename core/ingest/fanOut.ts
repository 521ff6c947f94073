/** From what a platform delivered to the matches of the rules behind it. */
import { Array as Arr, Effect } from "effect"
import type { Match } from "../matches/Match.ts"
import type { StorageUnavailable } from "../model/Errors.ts"
import type { Ids } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Delivery } from "../platforms/Platform.ts"
import type { Registrations } from "../rules/Registrations.ts"
import type { RuleStore } from "../rules/RuleStore.ts"

export interface FanOut {
  readonly rules: RuleStore["Type"]
  readonly registrations: Registrations["Type"]
  readonly ids: Ids["Type"]
}

/** One match for each rule that holds one of the platform's rules that the event met. */
export const matchesOf = (
  { rules, registrations, ids }: FanOut,
  platform: PlatformId,
  deliveries: ReadonlyArray<Delivery>
): Effect.Effect<ReadonlyArray<Match>, StorageUnavailable> =>
  Effect.gen(function* () {
    // A stream that only says that it is alive has nothing to look up.
    if (deliveries.length === 0) return []
    const all = [...new Set(deliveries.flatMap(({ platformRuleIds }) => platformRuleIds))]
    const ruleIds = new Map<string, Array<Match["rule_id"]>>()
    const ask = (platformRuleIds: ReadonlyArray<string>) =>
      Effect.map(rules.holders(platform, platformRuleIds), (holders) => {
        for (const { platformRuleId, ruleId } of holders) {
          const held = ruleIds.get(platformRuleId)
          if (held === undefined) ruleIds.set(platformRuleId, [ruleId])
          else held.push(ruleId)
        }
      })
    yield* ask(all)
    const unknown = all.filter((id) => !ruleIds.has(id))
    if (unknown.length > 0) {
      // A rule that is being made is on the platform before it is in the store.
      yield* registrations.settled(platform)
      yield* ask(unknown)
    }
    const created_at = yield* Timestamp.now
    const pairs = deliveries.flatMap((delivery) => {
      const met = [...new Set(delivery.platformRuleIds)].flatMap((id) => ruleIds.get(id) ?? [])
      return met.map((rule_id) => ({ delivery, rule_id }))
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
