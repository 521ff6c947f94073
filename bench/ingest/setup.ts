/** Sets up ingest over real stores, with rules and a platform whose stream the benchmark feeds. */
import type { SqlClient } from "@effect/sql/SqlClient"
import { type Chunk, Effect, Either, Layer, Option, Queue, Redacted, Stream } from "effect"
import * as RuntimeEntropy from "../../adapters/runtimes/entropy.ts"
import type { Announcements } from "../../adapters/sql/Announcements.ts"
import * as SqlStores from "../../adapters/sql/stores.ts"
import { RecentEvents } from "../../core/backtests/RecentEvents.ts"
import { PostBudget } from "../../core/budget/PostBudget.ts"
import { Redactions } from "../../core/compliance/Redactions.ts"
import { Withdrawals } from "../../core/compliance/Withdrawals.ts"
import * as Ingest from "../../core/ingest/Ingest.ts"
import { Keys } from "../../core/keys/Keys.ts"
import { type AccountId, Ids, type RuleId } from "../../core/model/Ids.ts"
import * as Timestamp from "../../core/model/Timestamp.ts"
import { Platforms, type Signal } from "../../core/platforms/Platform.ts"
import { Registrations } from "../../core/rules/Registrations.ts"
import { RuleStore } from "../../core/rules/RuleStore.ts"
import { languageOf } from "../../fixtures/languages.ts"

/** Everything that rules, stores and use cases need. `client` selects the engine. */
export const layer = <E>(client: Layer.Layer<SqlClient | Announcements, E>) =>
  PostBudget.layer.pipe(
    Layer.provideMerge(Registrations.layerWithChanges),
    Layer.provideMerge(Layer.provide(Withdrawals.layer, Redactions.layer)),
    Layer.provideMerge(RecentEvents.layerWith({ keep: 0 })),
    Layer.provideMerge(Keys.layer),
    Layer.provideMerge(Platforms.layer),
    Layer.provideMerge(SqlStores.layer),
    Layer.provideMerge(client),
    Layer.provideMerge(Layer.provideMerge(Ids.layer, RuntimeEntropy.layer))
  )

export interface AccountRules {
  readonly account: AccountId
  readonly rules: ReadonlyArray<RuleId>
}

/** A rule's number is its id on the platform. */
export const makeRules = Effect.fn("makeRules")(function* (count: number) {
  const store = yield* RuleStore
  const ids = yield* Ids
  const { account_id: account } = yield* Effect.flatMap(Keys, ({ adopt }) =>
    adopt(Redacted.make("benchmark of ingest"))
  )
  const createdAt = yield* Timestamp.now
  const rules = yield* Effect.forEach(Array(count).keys(), (number) =>
    Effect.gen(function* () {
      const id = yield* ids.rule
      const text = `storm${number}`
      const filters = [{ platform: "x" as const, text }]
      yield* store.reserve({ id, accountId: account, name: text, intent: text, createdAt, filters }, new Map())
      const registered = { platformRuleId: String(number), translatedValue: text }
      yield* store.activate(id, new Map([["x", registered]]), createdAt)
      return id
    })
  )
  return { account, rules } satisfies AccountRules
})

/** Starts ingest. Chunks offered to the queue arrive on the platform's stream. */
export const startIngest = Effect.gen(function* () {
  const platforms = yield* Platforms
  const feed = yield* Queue.unbounded<Chunk.Chunk<Signal>>()
  yield* platforms.register({
    id: "x",
    language: languageOf("x"),
    syntax: { platform: "x", rule_type: "premium", summary: "", syntax: "", operators: [], examples: [], limits: {} },
    capabilities: { rulesPerAccount: Option.none(), isRemote: true, sendsAlive: false },
    verify: () => Effect.succeed(Either.right("confirmed")),
    register: () => Effect.succeed([]),
    unregister: () => Effect.void,
    inventory: Effect.succeed({ rules: [], ruleLimit: Option.none(), usage: Option.none() }),
    watch: () => Stream.flattenChunks(Stream.fromQueue(feed, { maxChunkSize: 1 })),
    status: Effect.dieMessage("The benchmark does not use the status")
  })
  yield* Layer.build(Ingest.layer)
  return feed
})
