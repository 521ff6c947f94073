/** Access and limits of an app on X: those of its tier, unless a setting overrides them. */
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
  /** Of counts/recent. */
  readonly maxQueryLength: number
}

export const planOf = ({ x }: Settings): XPlan => {
  const tier = tiers[x.tier]
  return {
    ...tier,
    ruleCap: x.rule_cap ?? tier.ruleCap,
    projectRuleCap: x.project_rule_cap ?? x.rule_cap ?? tier.ruleCap,
    maxRuleLength: x.max_rule_length ?? tier.maxRuleLength,
    connectionCap: x.connection_cap ?? tier.connectionCap,
    postsPerSecond: x.posts_per_second ?? tier.postsPerSecond,
    maxQueryLength: x.max_query_length ?? tier.maxQueryLength
  }
}

// ---- helpers ----

const baseTier = {
  hasStream: false,
  hasBackfill: false,
  ruleCap: 0,
  maxRuleLength: 1_024,
  connectionCap: 0,
  postsPerSecond: 250,
  maxQueryLength: 512
}

const tiers: Readonly<Record<Tier, Omit<XPlan, "projectRuleCap">>> = {
  free: { ...baseTier, monthlyPosts: 100 },
  basic: { ...baseTier, monthlyPosts: 15_000 },
  pro: {
    ...baseTier,
    hasStream: true,
    ruleCap: 1_000,
    connectionCap: 1,
    monthlyPosts: 1_000_000,
    maxQueryLength: 1_024
  },
  "pay-per-use": { ...baseTier, hasStream: true, ruleCap: 1_000, connectionCap: 1, monthlyPosts: 3_000_000 },
  enterprise: {
    hasStream: true,
    hasBackfill: true,
    ruleCap: 25_000,
    maxRuleLength: 2_048,
    connectionCap: 2,
    postsPerSecond: 10_000,
    monthlyPosts: 100_000_000,
    maxQueryLength: 4_096
  }
}
