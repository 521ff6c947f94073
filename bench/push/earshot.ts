/** Our gateway on Node's HTTP server. Streams are measured, not a store: matches are kept in an array. */
import { Clock, Effect, Layer, Option, PubSub, Runtime, Scope, Stream } from "effect"
import { EventLog } from "../../core/backtests/EventLog.ts"
import { PostCounts } from "../../core/budget/PostCounts.ts"
import { LookUpRounds } from "../../core/compliance/LookUpRounds.ts"
import { StoredPosts } from "../../core/compliance/StoredPosts.ts"
import { StreamStore } from "../../core/coverage/StreamStore.ts"
import { Disk } from "../../core/disk/Disk.ts"
import { FeedStore } from "../../core/feeds/FeedStore.ts"
import { GrantStore } from "../../core/grants/GrantStore.ts"
import { ClaimStore } from "../../core/idempotency/ClaimStore.ts"
import { KeyStore } from "../../core/keys/KeyStore.ts"
import { watermarkAt, withIdsAfter } from "../../core/matches/idOrder.ts"
import { type Change, MatchStore } from "../../core/matches/MatchStore.ts"
import { fromUuid, type MatchId } from "../../core/model/Ids.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import { LimitStore } from "../../core/quotas/LimitStore.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { ShadowStore } from "../../core/shadows/ShadowStore.ts"
import { WebhookStore } from "../../core/webhooks/WebhookStore.ts"
import { layerWith, listen } from "../service.ts"
import { KEY, matchAt } from "./match.ts"
import type { Broadcaster } from "./server.ts"

export const earshot = (): Promise<Broadcaster> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layerWith(Layer.merge(matchStore, otherStores)), scope)
      return yield* Effect.gen(function* () {
        const store = yield* MatchStore
        const port = yield* Scope.extend(listen, scope)
        const runtime = yield* Effect.runtime()
        const insert = Effect.suspend(() => store.insert([matchAt(performance.timeOrigin + performance.now())]))
        return { port, publish: () => Runtime.runPromise(runtime)(Effect.asVoid(insert)) }
      }).pipe(Effect.provide(context))
    })
  )

// ---- helpers ----

/** What live streams call. All matches belong to the one account that listens. */
const matchStore = Layer.unwrapEffect(
  Effect.map(PubSub.sliding<void>(1), (changes) => {
    const stored: Array<Change> = []
    let newest = Option.none<MatchId>()
    const storedAfter = (id: Option.Option<MatchId>) =>
      stored.filter((change) => !Option.exists(id, (after) => change.id <= after))

    return Layer.mock(MatchStore, {
      insert: (matches) =>
        Effect.suspend(() => {
          for (const match of withIdsAfter(matches, newest)) {
            newest = Option.some(match.id)
            stored.push({ _tag: "Matched", id: match.id, match })
          }
          return Effect.as(PubSub.publish(changes, undefined), matches.length)
        }),
      next: ({ after }) => Effect.sync(() => ({ items: storedAfter(after), hasMore: false, bytes: 0 })),
      nextForAccounts: ({ accounts, after }) =>
        Effect.sync(() => {
          const owned = (change: Change) => accounts.map((account) => ({ account, change, bytes: 0 }))
          return { items: storedAfter(after).flatMap(owned), hasMore: false, bytes: 0 }
        }),
      newest: Effect.sync(() => newest),
      watermark: Effect.map(Clock.currentTimeMillis, (now) => {
        const watermark = watermarkAt(now, newest)
        newest = Option.some(watermark)
        return watermark
      }),
      floor: () => Effect.succeedNone,
      changes: Stream.fromPubSub(changes)
    })
  })
)

const ID = "01934f00-0000-7000-8000-000000000001"

const apiKey = {
  id: fromUuid("key", ID),
  account_id: fromUuid("acct", ID),
  account: "default",
  name: "benchmark",
  scope: "admin" as const,
  hint: KEY.slice(0, 8),
  created_at: Timestamp.fromMillis(0),
  last_used_at: null,
  expires_at: null,
  previous_secret_until: null,
  revoked_at: null
}

const otherStores = Layer.mergeAll(
  Layer.mock(KeyStore, {
    findByDigest: () => Effect.succeedSome(apiKey),
    touch: () => Effect.void
  }),
  Layer.mock(LimitStore, {
    limitsOf: () => Effect.succeed(new Map()),
    shareCounts: () => Effect.succeed([])
  }),
  Layer.mock(RuleStore, { ruleCoverage: () => Effect.succeed({ oldest: [], gaps: [] }) }),
  Layer.mock(StreamStore, { load: () => Effect.succeedNone, gaps: () => Effect.succeed([]) }),
  Layer.mock(EventLog, {}),
  Layer.mock(WebhookStore, {}),
  Layer.mock(LookUpRounds, {}),
  Layer.mock(StoredPosts, {}),
  Layer.mock(PostCounts, {}),
  Layer.mock(ShadowStore, {}),
  Layer.mock(ClaimStore, {}),
  Layer.mock(GrantStore, {}),
  Layer.mock(FeedStore, {}),
  Layer.mock(Disk, {})
)
