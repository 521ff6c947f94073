/** Our gateway as `main.ts` puts it together, over the stores in memory. */
import { Effect, Layer, Redacted } from "effect"
import * as Local from "../../adapters/local/Local.ts"
import * as Assets from "../../adapters/runtimes/assets.ts"
import * as RuntimeEntropy from "../../adapters/runtimes/entropy.ts"
import * as Log from "../../adapters/runtimes/log.ts"
import { Addresses } from "../../adapters/webhooks/addresses.ts"
import * as HttpSender from "../../adapters/webhooks/HttpSender.ts"
import { Backtests } from "../../core/Backtests.ts"
import { EventLog } from "../../core/EventLog.ts"
import { Ids } from "../../core/Ids.ts"
import { KeyStore } from "../../core/KeyStore.ts"
import { Keys } from "../../core/Keys.ts"
import { LiveMatches } from "../../core/LiveMatches.ts"
import { Matches } from "../../core/Matches.ts"
import { MatchStore } from "../../core/MatchStore.ts"
import { Platforms } from "../../core/Platform.ts"
import { PLATFORM_IDS } from "../../core/PlatformId.ts"
import { RecentEvents } from "../../core/RecentEvents.ts"
import { Registrations } from "../../core/Registrations.ts"
import { RuleStore } from "../../core/RuleStore.ts"
import { Rules } from "../../core/Rules.ts"
import { StreamStore } from "../../core/StreamStore.ts"
import { WebhookStore } from "../../core/WebhookStore.ts"
import { Webhooks } from "../../core/Webhooks.ts"
import { gateway } from "../../gateway/gateway.ts"
import { KEY, matches, rules } from "./data.ts"

const stores = WebhookStore.layerMemory.pipe(
  Layer.provideMerge(MatchStore.layerMemory),
  Layer.provideMerge(Layer.mergeAll(RuleStore.layerMemory, StreamStore.layerMemory, KeyStore.layerMemory))
)

export const layer = Layer.provideMerge(
  Layer.mergeAll(Rules.layer, Matches.layer, Keys.layer, Backtests.layer, Webhooks.layer),
  Layer.mergeAll(Registrations.layerWith({ isAlone: true }), LiveMatches.layer, HttpSender.layerWith(new Addresses()))
).pipe(
  Layer.provideMerge(
    Layer.provideMerge(Local.layerWith({ platforms: PLATFORM_IDS, rulesPerAccount: new Map() }), Platforms.layer)
  ),
  Layer.provideMerge(Layer.provide(RecentEvents.layerWith({ keep: 10_000 }), EventLog.layerMemory)),
  Layer.provideMerge(stores),
  Layer.provideMerge(Layer.provideMerge(Ids.layer, RuntimeEntropy.layer)),
  Layer.provideMerge(Log.layerWith("json")),
  // As without a collector.
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
  return yield* gateway({ docsScript: Assets.docsScript, observeProcess: Effect.void, version: "0.0.0" })
})
