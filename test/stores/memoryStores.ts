/** All stores in memory. */
import { Layer } from "effect"
import type { EventLog } from "../../core/backtests/EventLog.ts"
import type { PostCounts } from "../../core/budget/PostCounts.ts"
import type { LookUpRounds } from "../../core/compliance/LookUpRounds.ts"
import type { StoredPosts } from "../../core/compliance/StoredPosts.ts"
import type { StreamStore } from "../../core/coverage/StreamStore.ts"
import type { FeedStore } from "../../core/feeds/FeedStore.ts"
import type { GrantStore } from "../../core/grants/GrantStore.ts"
import type { ClaimStore } from "../../core/idempotency/ClaimStore.ts"
import type { KeyStore } from "../../core/keys/KeyStore.ts"
import type { MatchStore } from "../../core/matches/MatchStore.ts"
import type { LimitStore } from "../../core/quotas/LimitStore.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"
import type { ShadowStore } from "../../core/shadows/ShadowStore.ts"
import type { WebhookStore } from "../../core/webhooks/WebhookStore.ts"
import { memoryClaims } from "./memoryClaims.ts"
import { memoryEvents } from "./memoryEvents.ts"
import { memoryFeeds } from "./memoryFeeds.ts"
import { memoryGrants } from "./memoryGrants.ts"
import { memoryKeys } from "./memoryKeys.ts"
import { memoryLimits } from "./memoryLimits.ts"
import { memoryLookUpRounds } from "./memoryLookUpRounds.ts"
import { memoryMatches } from "./memoryMatches.ts"
import { memoryPostCounts } from "./memoryPostCounts.ts"
import { memoryRules } from "./memoryRules.ts"
import { memoryShadows } from "./memoryShadows.ts"
import { memoryStoredPosts } from "./memoryStoredPosts.ts"
import { memoryStreams } from "./memoryStreams.ts"
import { memoryWebhooks } from "./memoryWebhooks.ts"

export type Stores =
  | RuleStore
  | MatchStore
  | StreamStore
  | KeyStore
  | GrantStore
  | FeedStore
  | EventLog
  | WebhookStore
  | LimitStore
  | LookUpRounds
  | StoredPosts
  | PostCounts
  | ShadowStore
  | ClaimStore

export const memoryStores: Layer.Layer<Stores> = Layer.mergeAll(
  memoryWebhooks,
  memoryEvents,
  memoryFeeds,
  memoryLimits,
  memoryLookUpRounds,
  memoryStoredPosts,
  memoryPostCounts,
  memoryClaims
).pipe(
  Layer.provideMerge(memoryShadows),
  Layer.provideMerge(memoryMatches),
  Layer.provideMerge(memoryGrants),
  Layer.provideMerge(Layer.mergeAll(memoryRules, memoryStreams, memoryKeys))
)
