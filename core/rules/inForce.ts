/** Which version of a rule an event belongs to. */
import type { Language } from "../languages/Language.ts"
import type { Delivery } from "../platforms/Platform.ts"
import { BEFORE_PROMOTION, type RuleLink } from "./RuleStore.ts"

/**
 * At most one link per rule. An event that only earlier filters met counts if it is from before they were replaced: it
 * was on its way. An event that only a promoted filter met does not count if it was received before the promotion.
 */
export const inForce = (
  links: ReadonlyArray<RuleLink>,
  { receivedAt, payload }: Pick<Delivery, "receivedAt" | "payload">,
  platform: { readonly language: Language; readonly capabilities: { readonly isRemote: boolean } }
): ReadonlyArray<RuleLink> => {
  if (links.length < 2 && !links.some(isRetired)) return links
  const { isRemote } = platform.capabilities
  const ownTime = isRemote ? platform.language.events.timeOf(payload) : undefined
  const happenedAt = Math.min(ownTime ?? receivedAt, receivedAt)
  const shared = new Set(links.flatMap((link) => (isRetired(link) ? [] : [link.platformRuleId])))
  const mayEndAt = ({ version, platformRuleId }: RuleLink) => {
    if (version === BEFORE_PROMOTION) return receivedAt
    // The platform still sends events for a filter that another rule has, and no more for one that none has.
    return isRemote && !shared.has(platformRuleId) ? Math.min(receivedAt - IN_FLIGHT_MILLIS, happenedAt) : happenedAt
  }
  // Events of a gap come later. Otherwise our own clock is better: the times of X have no milliseconds.
  const at = happenedAt < receivedAt - LIVE_MILLIS ? happenedAt : receivedAt
  const best = new Map<string, RuleLink>()
  for (const link of links) {
    if (mayEndAt(link) >= endOf(link)) continue
    const known = best.get(link.ruleId)
    if (known === undefined || isBetter(link, known, at)) best.set(link.ruleId, link)
  }
  return [...best.values()].filter(({ version }) => version !== BEFORE_PROMOTION)
}

// ---- helpers ----

/** How long an event may take from a remote platform to here. */
const IN_FLIGHT_MILLIS = 5_000

/** An event that took longer was held up, or sent again. */
const LIVE_MILLIS = 1_000

const isRetired = ({ retiredAt }: RuleLink): boolean => retiredAt !== undefined

const endOf = ({ retiredAt = Number.POSITIVE_INFINITY }: RuleLink): number => retiredAt

/** The filters that were in force at that time, or else the latest ones. */
const isBetter = (one: RuleLink, other: RuleLink, at: number): boolean => {
  const wasInForce = endOf(one) > at
  if (wasInForce !== endOf(other) > at) return wasInForce
  if (endOf(one) === endOf(other)) return one.version > other.version
  return wasInForce === endOf(one) < endOf(other)
}
