/** All SQL stores, for PGlite and Postgres. */
import type { SqlClient } from "@effect/sql/SqlClient"
import { Layer } from "effect"
import type { EventLog } from "../../core/backtests/EventLog.ts"
import type { PostCounts } from "../../core/budget/PostCounts.ts"
import type { LookUpRounds } from "../../core/compliance/LookUpRounds.ts"
import type { StoredPosts } from "../../core/compliance/StoredPosts.ts"
import type { StreamStore } from "../../core/coverage/StreamStore.ts"
import { Disk } from "../../core/disk/Disk.ts"
import type { FeedStore } from "../../core/feeds/FeedStore.ts"
import type { GrantStore } from "../../core/grants/GrantStore.ts"
import type { ClaimStore } from "../../core/idempotency/ClaimStore.ts"
import type { KeyStore } from "../../core/keys/KeyStore.ts"
import type { MatchStore } from "../../core/matches/MatchStore.ts"
import type { LimitStore } from "../../core/quotas/LimitStore.ts"
import type { RuleStore } from "../../core/rules/RuleStore.ts"
import type { ShadowStore } from "../../core/shadows/ShadowStore.ts"
import type { WebhookStore } from "../../core/webhooks/WebhookStore.ts"
import type { Announcements } from "./Announcements.ts"
import * as SqlClaimStore from "./SqlClaimStore.ts"
import * as SqlEventLog from "./SqlEventLog.ts"
import * as SqlFeedStore from "./SqlFeedStore.ts"
import * as SqlGrantStore from "./SqlGrantStore.ts"
import * as SqlKeyStore from "./SqlKeyStore.ts"
import * as SqlLimitStore from "./SqlLimitStore.ts"
import * as SqlLookUpRounds from "./SqlLookUpRounds.ts"
import * as SqlMatchStore from "./SqlMatchStore.ts"
import * as SqlPostCounts from "./SqlPostCounts.ts"
import * as SqlRuleStore from "./SqlRuleStore.ts"
import * as SqlServers from "./SqlServers.ts"
import * as SqlShadowStore from "./SqlShadowStore.ts"
import * as SqlStoredPosts from "./SqlStoredPosts.ts"
import * as SqlStreamStore from "./SqlStreamStore.ts"
import * as SqlWebhookStore from "./SqlWebhookStore.ts"

export const layer: Layer.Layer<
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
  | Disk,
  never,
  SqlClient | Announcements
> = Layer.mergeAll(
  SqlRuleStore.layer,
  SqlMatchStore.layer,
  SqlStreamStore.layer,
  SqlKeyStore.layer,
  SqlGrantStore.layer,
  SqlFeedStore.layer,
  SqlEventLog.layer,
  SqlWebhookStore.layer,
  SqlLimitStore.layer,
  SqlLookUpRounds.layer,
  SqlStoredPosts.layer,
  SqlPostCounts.layer,
  SqlShadowStore.layer,
  SqlClaimStore.layer,
  SqlServers.layer,
  // Of the client.
  Layer.effect(Disk, Disk)
)
