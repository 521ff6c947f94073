/** Our gateway, composed as in `main.ts`, over in-memory stores. Pages come from the arrays of the other servers. */

import { Effect, Layer, Option, Redacted } from "effect"
import * as Assets from "../../adapters/runtimes/assets.ts"
import * as RuntimeEntropy from "../../adapters/runtimes/entropy.ts"
import * as Log from "../../adapters/runtimes/log.ts"
import { Addresses } from "../../adapters/webhooks/addresses.ts"
import * as HttpSender from "../../adapters/webhooks/HttpSender.ts"
import { Accounts } from "../../core/accounts/Accounts.ts"
import { Backtests } from "../../core/backtests/Backtests.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { PostBudget } from "../../core/budget/PostBudget.ts"
import { Explanations } from "../../core/explanations/Explanations.ts"
import { Idempotency } from "../../core/idempotency/Idempotency.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { LiveMatches } from "../../core/matches/LiveMatches.ts"
import { Matches } from "../../core/matches/Matches.ts"
import { type MatchPage, MatchStore } from "../../core/matches/MatchStore.ts"
import { Ids } from "../../core/model/Ids.ts"
import { Reapply } from "../../core/reapply/Reapply.ts"
import { Registrations } from "../../core/rules/Registrations.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { Rules } from "../../core/rules/Rules.ts"
import { Shadows } from "../../core/shadows/Shadows.ts"
import { Status } from "../../core/status/Status.ts"
import { Webhooks } from "../../core/webhooks/Webhooks.ts"
import { gateway } from "../../gateway/gateway.ts"
import { localPlatforms } from "../../test/platforms.ts"
import { memoryClaims } from "../../test/stores/memoryClaims.ts"
import { memoryEvents } from "../../test/stores/memoryEvents.ts"
import { memoryKeys } from "../../test/stores/memoryKeys.ts"
import { memoryMatches } from "../../test/stores/memoryMatches.ts"
import { memoryPostCounts } from "../../test/stores/memoryPostCounts.ts"
import { memoryRules } from "../../test/stores/memoryRules.ts"
import { memoryShadows } from "../../test/stores/memoryShadows.ts"
import { memoryStreams } from "../../test/stores/memoryStreams.ts"
import { memoryWebhooks } from "../../test/stores/memoryWebhooks.ts"
import { KEY, matches, rules, select } from "./data.ts"

const stores = memoryWebhooks.pipe(
  Layer.provideMerge(memoryShadows),
  Layer.provideMerge(memoryMatches),
  Layer.provideMerge(Layer.mergeAll(memoryRules, memoryStreams, memoryKeys, memoryPostCounts))
)

/** Gateways are compared, not stores. */
const listsArrays = Layer.merge(
  Layer.effect(
    MatchStore,
    Effect.map(MatchStore, (store) => ({
      ...store,
      list: ({ rules, platforms: [platform], limit }: MatchPage) =>
        Effect.sync(() => {
          const items = select({ rule_id: Option.getOrUndefined(rules)?.[0], platform, limit })
          return { items, hasMore: false, bytes: 0 }
        })
    }))
  ),
  Layer.effect(
    RuleStore,
    Effect.map(RuleStore, (store) => ({ ...store, list: () => Effect.succeed(rules) }))
  )
)

export const layer = Layer.provideMerge(
  Layer.mergeAll(
    Layer.provideMerge(
      Layer.mergeAll(Shadows.layer, Reapply.layer, Explanations.layer),
      Layer.merge(Rules.layer, Backtests.layer)
    ),
    Matches.layer,
    Keys.layer,
    Webhooks.layer,
    Status.layer,
    Accounts.layer,
    Layer.provide(Idempotency.layerWith({ isOnlyProcess: true }), memoryClaims)
  ),
  Layer.mergeAll(LiveMatches.layer, HttpSender.layerWith(new Addresses()))
).pipe(
  Layer.provideMerge(PostBudget.layer),
  Layer.provideMerge(Registrations.layerWith({ isOnlyProcess: true })),
  // A limit that is never reached: requests are counted, and answers have the headers.
  Layer.provideMerge(localPlatforms({}, { requests: 1_000_000_000 })),
  Layer.provideMerge(Layer.provide(RecentEvents.layerWith({ keep: 10_000 }), memoryEvents)),
  Layer.provideMerge(listsArrays),
  Layer.provideMerge(stores),
  Layer.provideMerge(Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)),
  Layer.provideMerge(Log.layerWith("json")),
  // As if no trace collector were set.
  Layer.provideMerge(Layer.setTracerEnabled(false))
)

export const handler = Effect.gen(function* () {
  const ruleStore = yield* RuleStore
  const matchStore = yield* MatchStore
  const keys = yield* Keys
  const { account_id } = yield* keys.adopt(Redacted.make(KEY))
  for (const { id, name, intent, platforms, created_at } of rules) {
    const { platform_rule_id, translated_value } = platforms.x
    const filters = [{ platform: "x" as const, text: translated_value }]
    const registered = { platformRuleId: platform_rule_id, translatedValue: translated_value }
    const rule = { id, accountId: account_id, name, intent, createdAt: created_at, filters }
    yield* ruleStore.reserve(rule, new Map())
    yield* ruleStore.activate(id, new Map([["x", registered]]), created_at)
  }
  yield* matchStore.insert(matches)
  return yield* gateway({
    host: Option.none(),
    docsScript: Assets.docsScript,
    console: Option.none(),
    observeProcess: Effect.void,
    version: "0.0.0"
  })
})
