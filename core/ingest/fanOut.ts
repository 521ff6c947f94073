/** Fans out the events of a platform to matches of rules. */
import { Array as Arr, Effect } from "effect"
import type { Match } from "../matches/Match.ts"
import { Payload } from "../matches/Payload.ts"
import type { StoreUnavailable } from "../model/Errors.ts"
import type { Ids } from "../model/Ids.ts"
import * as Timestamp from "../model/Timestamp.ts"
import type { Delivery, Platform } from "../platforms/Platform.ts"
import { inForce } from "../rules/inForce.ts"
import type { Registrations } from "../rules/Registrations.ts"
import type { RuleLink, RuleStore } from "../rules/RuleStore.ts"
import type { ShadowMatch } from "../shadows/ShadowStore.ts"

export interface FanOutServices {
  readonly rules: RuleStore["Type"]
  readonly registrations: Registrations["Type"]
  readonly ids: Ids["Type"]
}

/** What became of some events. Matches of shadows are stored apart. */
export interface FannedOut {
  readonly matches: ReadonlyArray<Match>
  readonly shadows: ReadonlyArray<ShadowMatch>
  /** The rules that received an event, with the rule of the platform that it was sent for. */
  readonly met: ReadonlyArray<Pick<RuleLink, "ruleId" | "platformRuleId">>
}

/** One match per event and rule. Several rules, of several accounts, can share one rule of the platform. */
export const fanOut = (
  { rules, registrations, ids }: FanOutServices,
  platform: Platform,
  deliveries: ReadonlyArray<Delivery>
): Effect.Effect<FannedOut, StoreUnavailable> =>
  Effect.gen(function* () {
    if (deliveries.length === 0) return { matches: [], shadows: [], met: [] }
    const all = [...new Set(deliveries.flatMap(({ platformRuleIds }) => platformRuleIds))]
    const linksOf = new Map<string, Array<RuleLink>>()
    const addLinks = (platformRuleIds: ReadonlyArray<string>) =>
      Effect.map(rules.ruleLinks(platform.id, platformRuleIds), (links) => {
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
    const eventOf = ({ platformPostId, payload }: Delivery) => ({
      created_at,
      platform: platform.id,
      platform_post_id: platformPostId,
      payload: Payload.of(payload)
    })
    const pairs = deliveries.flatMap((delivery) => {
      const { platformRuleIds, sender } = delivery
      const matched = [...new Set(platformRuleIds)].flatMap((id) => linksOf.get(id) ?? [])
      const own = sender === undefined ? matched : matched.filter(({ accountId }) => accountId === sender)
      const inForceNow = inForce(own, delivery, platform)
      if (inForceNow.length === 0) return []
      const event = eventOf(delivery)
      return inForceNow.map((link) => ({ event, link }))
    })
    const [real, shadowed] = Arr.partition(pairs, ({ link }) => link.isShadow)
    const newIds = yield* ids.matches(real.length)
    return {
      matches: Arr.zipWith(newIds, real, (id, { event, link }) => ({
        id,
        rule_id: link.ruleId,
        rule_version: link.version,
        ...event
      })),
      shadows: shadowed.map(({ event, link }) => ({ rule_id: link.ruleId, ...event })),
      met: real.map(({ link }) => link)
    }
  })
