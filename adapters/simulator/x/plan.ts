/** What an app may do on X: by its tier, where the settings do not say otherwise. */
import type { Settings, Tier } from "../settings.ts"

export interface XPlan {
  readonly hasStream: boolean
  readonly hasBackfill: boolean
  readonly ruleCap: number
  readonly projectRuleCap: number
  readonly maxRuleLength: number
  readonly connectionCap: number
  readonly postsPerSecond: number
  readonly monthlyPosts: number
}

export const planOf = ({ x }: Settings): XPlan => {
  const tier = TIERS[x.tier]
  return {
    ...tier,
    ruleCap: x.rule_cap ?? tier.ruleCap,
    projectRuleCap: x.project_rule_cap ?? x.rule_cap ?? tier.ruleCap,
    maxRuleLength: x.max_rule_length ?? tier.maxRuleLength,
    connectionCap: x.connection_cap ?? tier.connectionCap,
    postsPerSecond: x.posts_per_second ?? tier.postsPerSecond
  }
}

// ---- helpers ----

const NO_STREAM = {
  hasStream: false,
  hasBackfill: false,
  ruleCap: 0,
  maxRuleLength: 1_024,
  connectionCap: 0,
  postsPerSecond: 250
}

const TIERS: Readonly<Record<Tier, Omit<XPlan, "projectRuleCap">>> = {
  free: { ...NO_STREAM, monthlyPosts: 100 },
  basic: { ...NO_STREAM, monthlyPosts: 15_000 },
  pro: { ...NO_STREAM, hasStream: true, ruleCap: 1_000, connectionCap: 1, monthlyPosts: 1_000_000 },
  "pay-per-use": { ...NO_STREAM, hasStream: true, ruleCap: 1_000, connectionCap: 1, monthlyPosts: 3_000_000 },
  enterprise: {
    hasStream: true,
    hasBackfill: true,
    ruleCap: 25_000,
    maxRuleLength: 2_048,
    connectionCap: 2,
    postsPerSecond: 10_000,
    monthlyPosts: 100_000_000
  }
}
