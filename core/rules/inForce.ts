/** Which filters a rule had when an event was received. */
import type { Language } from "../languages/Language.ts"
import type { Delivery } from "../platforms/Platform.ts"
import type { RuleLink } from "./RuleStore.ts"

/**
 * At most one link per rule. An event that only earlier filters met counts if it is from before they were replaced: it
 * was on its way.
 */
export const inForce = (
  links: ReadonlyArray<RuleLink>,
  { receivedAt, payload }: Pick<Delivery, "receivedAt" | "payload">,
  platform: { readonly language: Language; readonly capabilities: { readonly isRemote: boolean } }
): ReadonlyArray<RuleLink> => {
  if (links.length < 2 && !links.some(isRetired)) return links
  const sentAt = platform.capabilities.isRemote
    ? Math.min(receivedAt - IN_FLIGHT_MILLIS, platform.language.events.timeOf(payload) ?? receivedAt)
    : receivedAt
  const best = new Map<string, RuleLink>()
  for (const link of links) {
    if (sentAt >= endOf(link)) continue
    const known = best.get(link.ruleId)
    if (known === undefined || isBetter(link, known, receivedAt)) best.set(link.ruleId, link)
  }
  return [...best.values()]
}

// ---- helpers ----

/** How long an event may take from a remote platform to here. */
const IN_FLIGHT_MILLIS = 5_000

const isRetired = ({ retiredAt }: RuleLink): boolean => retiredAt !== undefined

const endOf = ({ retiredAt = Number.POSITIVE_INFINITY }: RuleLink): number => retiredAt

/** The filters that were in force when the event was received, or else the latest ones. */
const isBetter = (one: RuleLink, other: RuleLink, receivedAt: number): boolean => {
  const wasInForce = endOf(one) > receivedAt
  if (wasInForce !== endOf(other) > receivedAt) return wasInForce
  return wasInForce ? endOf(one) < endOf(other) : endOf(one) > endOf(other)
}
