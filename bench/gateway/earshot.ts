/** Our gateway, composed as in `main.ts`, over in-memory stores. Pages come from the arrays of the other servers. */
import { Effect, Layer, Option, Redacted } from "effect"
import * as Assets from "../../adapters/runtimes/assets.ts"
import * as Log from "../../adapters/runtimes/log.ts"
import { Addresses } from "../../adapters/webhooks/addresses.ts"
import * as HttpSender from "../../adapters/webhooks/HttpSender.ts"
import { useCasesOn } from "../../app/composition.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { type MatchPage, MatchStore } from "../../core/matches/MatchStore.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { gateway } from "../../gateway/gateway.ts"
import { localPlatforms } from "../../test/platforms.ts"
import { memoryStores } from "../../test/stores/memoryStores.ts"
import { KEY, matches, rules, select } from "./data.ts"

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

export const layer = useCasesOn({
  // A limit that is never reached: requests are counted, and answers have the headers.
  platforms: localPlatforms({}, { requests: 1_000_000_000 }),
  stores: Layer.provideMerge(listsArrays, memoryStores),
  sender: HttpSender.layerWith(new Addresses()),
  recentEvents: 10_000,
  isOnlyProcess: true
}).pipe(
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
