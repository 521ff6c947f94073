/** Our gateway, composed as in `main.ts`, over stores that answer with constants: gateways are compared, not stores. */
import { createHash } from "node:crypto"
import { Effect, Layer, Option, Stream } from "effect"
import * as Local from "../../adapters/local/Local.ts"
import * as Assets from "../../adapters/runtimes/assets.ts"
import * as Log from "../../adapters/runtimes/log.ts"
import { Addresses } from "../../adapters/http/addresses.ts"
import * as HttpDocuments from "../../adapters/webhooks/HttpDocuments.ts"
import * as HttpSender from "../../adapters/webhooks/HttpSender.ts"
import { useCasesOn } from "../../app/composition.ts"
import { EventLog } from "../../core/backtests/EventLog.ts"
import { PostCounts } from "../../core/budget/PostCounts.ts"
import { LookUpRounds } from "../../core/compliance/LookUpRounds.ts"
import { StoredPosts } from "../../core/compliance/StoredPosts.ts"
import { StreamStore } from "../../core/coverage/StreamStore.ts"
import { FeedStore } from "../../core/feeds/FeedStore.ts"
import { GrantStore } from "../../core/grants/GrantStore.ts"
import { ClaimStore } from "../../core/idempotency/ClaimStore.ts"
import { KeyStore } from "../../core/keys/KeyStore.ts"
import { firehose } from "../../core/languages/firehose.ts"
import { x } from "../../core/languages/x.ts"
import { type MatchPage, MatchStore } from "../../core/matches/MatchStore.ts"
import { Payload } from "../../core/matches/Payload.ts"
import { Platforms } from "../../core/platforms/Platform.ts"
import { LimitStore } from "../../core/quotas/LimitStore.ts"
import { Quotas } from "../../core/quotas/Quotas.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { ShadowStore } from "../../core/shadows/ShadowStore.ts"
import { WebhookStore } from "../../core/webhooks/WebhookStore.ts"
import { gateway } from "../../gateway/gateway.ts"
import { apiKey, KEY, rules, select } from "./data.ts"

const watchOf = ({ id, created_at }: (typeof rules)[number]) => ({
  platform: "x",
  ruleId: id,
  createdAt: created_at,
  since: created_at
})

const DIGEST = createHash("sha256").update(KEY).digest("hex")

/** The two endpoints call only these methods. */
const matchStore = Layer.mock(MatchStore, {
  list: ({ rules, platforms: [platform], limit }: MatchPage) =>
    Effect.sync(() => {
      const items = select({ rule_id: Option.getOrUndefined(rules)?.[0], platform, limit })
      return { items: items.map((item) => ({ ...item, payload: Payload.of(item.payload) })), hasMore: false, bytes: 0 }
    }),
  floor: () => Effect.succeedNone,
  changes: Stream.never
})

const otherStores = Layer.mergeAll(
  Layer.mock(KeyStore, {
    findByDigest: (digest) => Effect.succeed(Option.liftPredicate(apiKey, () => digest === DIGEST)),
    touch: () => Effect.void
  }),
  Layer.mock(LimitStore, {
    limitsOf: () => Effect.succeed(new Map()),
    shareCounts: () => Effect.succeed([])
  }),
  Layer.mock(RuleStore, {
    list: () => Effect.succeed(rules),
    exists: () => Effect.succeed(true),
    ruleCoverage: () => Effect.succeed({ oldest: rules.slice(0, 1).map(watchOf), gaps: [] })
  }),
  Layer.mock(StreamStore, { load: () => Effect.succeedNone, gaps: () => Effect.succeed([]) }),
  Layer.mock(EventLog, {}),
  Layer.mock(WebhookStore, {}),
  Layer.mock(LookUpRounds, {}),
  Layer.mock(StoredPosts, {}),
  Layer.mock(PostCounts, {}),
  Layer.mock(ShadowStore, {}),
  Layer.mock(ClaimStore, {}),
  Layer.mock(GrantStore, {}),
  Layer.mock(FeedStore, {})
)

/** A limit that is never reached: requests are counted, and answers have the headers. */
const limits = {
  requests: 1_000_000_000,
  checks: 0,
  matching: 0,
  events: 0,
  streams: 0,
  webhooks: 0,
  subscriptions: 0,
  challenges: 0,
  feeds: 0,
  matches: 0,
  bytes: 0
}

const platforms = Local.feed.pipe(
  Layer.provideMerge(Quotas.layerWith({ defaults: limits })),
  Layer.provideMerge(Layer.provideMerge(Local.platform(firehose, Option.none()), Local.platform(x, Option.none()))),
  Layer.provideMerge(Layer.merge(Platforms.layer, Local.Sinks.layer))
)

export const layerWith = (matches: Layer.Layer<MatchStore>) =>
  useCasesOn({
    platforms,
    stores: Layer.merge(otherStores, matches),
    sender: Layer.merge(HttpSender.layerWith(new Addresses()), HttpDocuments.layerWith(new Addresses())),
    recentEvents: 10_000,
    issuer: Option.none()
  }).pipe(
    Layer.provideMerge(Log.layerWith("json")),
    // As if no trace collector were set.
    Layer.provideMerge(Layer.setTracerEnabled(false))
  )

export const layer = layerWith(matchStore)

export const handler = gateway({
  host: Option.none(),
  docsScript: Assets.docsScript,
  console: Option.none(),
  observeProcess: Effect.void,
  version: "0.0.0"
})
