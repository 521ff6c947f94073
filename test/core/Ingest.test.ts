/** From deliveries to stored matches: every rule that holds the text, once, and acknowledged only when durable. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Logger, Option, Queue, Ref, Stream, TestClock } from "effect"
import { Entropy } from "../../core/Entropy.ts"
import { StorageUnavailable } from "../../core/Errors.ts"
import { fromUuid, Ids } from "../../core/Ids.ts"
import * as Ingest from "../../core/Ingest.ts"
import { MatchStore } from "../../core/MatchStore.ts"
import { type Delivery, Platforms } from "../../core/Platform.ts"
import { RuleStore } from "../../core/RuleStore.ts"
import { checkRule } from "../../core/syntax/language.ts"
import * as Timestamp from "../../core/Timestamp.ts"

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const stores = Layer.provideMerge(MatchStore.layerMemory, RuleStore.layerMemory)
const base = Layer.mergeAll(Platforms.layer, Layer.provideMerge(Ids.layer, Entropy.layerCounting), stores)

describe("Ingest", () => {
  it.scoped("stores a match for every rule behind the platform's rule, and acknowledges then", () =>
    Effect.gen(function* () {
      const { deliver, acked } = yield* platformX
      const rules = [yield* activeRule, yield* activeRule]
      yield* Layer.build(Ingest.layer)
      yield* deliver("1")
      yield* settled
      assert.deepStrictEqual(yield* acked, ["1"])
      assert.sameMembers(
        (yield* stored).map((match) => match.rule_id),
        rules
      )
      yield* deliver("1")
      yield* settled
      assert.lengthOf(yield* stored, 2, "the same post again is nothing new")
    }).pipe(Effect.provide(base))
  )

  it.scoped("goes on from where the store is, also when nothing was met there", () =>
    Effect.gen(function* () {
      const { deliver, from } = yield* platformX
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(Ingest.layer)
          yield* deliver("1")
          yield* deliver("2")
          yield* settled
        })
      )
      yield* Layer.build(Ingest.layer)
      yield* settled
      assert.deepStrictEqual(from, ["the start", "after 2"])
    }).pipe(Effect.provide(base))
  )

  it.scoped("keeps what the store does not take until it does, and acknowledges nothing before", () =>
    Effect.gen(function* () {
      const { deliver, acked } = yield* platformX
      yield* activeRule
      const working = yield* MatchStore
      const failing = { left: 3 }
      const insert: typeof working.insert = (matches, reached) =>
        failing.left-- > 0
          ? new StorageUnavailable({ operation: "matches.insert", cause: "down" })
          : working.insert(matches, reached)
      yield* Layer.build(Layer.provide(Ingest.layer, Layer.succeed(MatchStore, MatchStore.of({ ...working, insert }))))
      yield* deliver("1")
      yield* settled
      assert.deepStrictEqual([yield* acked, yield* stored], [[], []])
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual(yield* acked, ["1"])
      assert.lengthOf(yield* stored, 1)
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )

  it.scoped("goes on after a batch that brings out a defect", () =>
    Effect.gen(function* () {
      const { deliver, acked } = yield* platformX
      yield* activeRule
      const working = yield* MatchStore
      const insert: typeof working.insert = (matches) =>
        matches.some((match) => match.platform_post_id === "bad") ? Effect.dieMessage("bug") : working.insert(matches)
      yield* Layer.build(Layer.provide(Ingest.layer, Layer.succeed(MatchStore, MatchStore.of({ ...working, insert }))))
      yield* deliver("bad")
      yield* settled
      yield* deliver("good")
      yield* settled
      assert.deepStrictEqual(yield* acked, ["good"])
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )
})

// ---- helpers ----

/** A platform whose stream is what the test delivers. */
const platformX = Effect.gen(function* () {
  const platforms = yield* Platforms
  const queue = yield* Queue.unbounded<Delivery>()
  const acked = yield* Ref.make<ReadonlyArray<string>>([])
  /** From where each run of the stream was asked for. */
  const from: Array<string> = []
  yield* platforms.register({
    id: "x",
    syntax: { platform: "x", rule_type: "premium", summary: "", syntax: "", operators: [], examples: [], limits: {} },
    capabilities: { rulesPerAccount: Option.none(), isRemote: true },
    check: (text) => checkRule("x", text),
    verify: () => Effect.succeed(Either.void),
    register: () => Effect.succeed([]),
    unregister: () => Effect.void,
    inventory: Effect.succeed({ rules: [], ruleLimit: Option.none(), usage: Option.none() }),
    deliveries: (cursor) => {
      from.push(Option.getOrElse(cursor, () => "the start"))
      return Stream.fromQueue(queue)
    },
    status: Effect.dieMessage("not asked for")
  })
  const deliver = (platformPostId: string) =>
    Queue.offer(queue, {
      platformPostId,
      payload: { data: { id: platformPostId } },
      platformRuleIds: ["shared", "unknown"],
      cursor: Option.some(`after ${platformPostId}`),
      ack: Ref.update(acked, (ids) => [...ids, platformPostId])
    })
  return { deliver, acked: Ref.get(acked), from }
})

const activeRule = Effect.gen(function* () {
  const store = yield* RuleStore
  const { rule } = yield* Ids
  const id = yield* rule
  const createdAt = yield* Timestamp.now
  const filters = [{ platform: "x" as const, text: "storm" }]
  yield* store.reserve({ id, accountId: ann, name: "n", intent: "i", createdAt, filters }, new Map())
  const registered = { platformRuleId: "shared", translatedValue: "storm" }
  yield* store.activate(id, new Map([["x" as const, registered]]), createdAt)
  return id
})

const stored = Effect.flatMap(MatchStore, (store) =>
  store.list({ account: ann, rule: Option.none(), platforms: ["x"], before: Option.none(), limit: 100 })
)

/** Lets the other fibers run until they wait for something. */
const settled = Effect.repeatN(Effect.yieldNow(), 50)
