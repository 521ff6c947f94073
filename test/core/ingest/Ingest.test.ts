/** Ingest: fan-out to rules, dedupe, acknowledgement after the write, dead letters and coverage. */

import { assert, describe, it } from "@effect/vitest"
import {
  Clock,
  Deferred,
  Effect,
  Either,
  Fiber,
  Layer,
  Logger,
  Metric,
  Option,
  Queue,
  Ref,
  Stream,
  TestClock
} from "effect"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import { PostBudget } from "../../../core/budget/PostBudget.ts"
import { monthOf, PostCounts } from "../../../core/budget/PostCounts.ts"
import { Redactions } from "../../../core/compliance/Redactions.ts"
import { Withdrawals } from "../../../core/compliance/Withdrawals.ts"
import { StreamStore } from "../../../core/coverage/StreamStore.ts"
import * as Ingest from "../../../core/ingest/Ingest.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { Entropy } from "../../../core/model/Entropy.ts"
import { MatchesUnstorable, StoreUnavailable } from "../../../core/model/Errors.ts"
import { type AccountId, fromUuid, Ids } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import { type Platform, Platforms, type Signal } from "../../../core/platforms/Platform.ts"
import { Registrations } from "../../../core/rules/Registrations.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { languageOf } from "../../../fixtures/languages.ts"
import { exposition } from "../../../gateway/http/metrics.ts"
import { parseMetrics, valueIn } from "../../prometheus.ts"
import { memoryEvents } from "../../stores/memoryEvents.ts"
import { memoryKeys } from "../../stores/memoryKeys.ts"
import { memoryMatches } from "../../stores/memoryMatches.ts"
import { memoryPostCounts } from "../../stores/memoryPostCounts.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { memoryShadows } from "../../stores/memoryShadows.ts"
import { memoryStoredPosts } from "../../stores/memoryStoredPosts.ts"
import { memoryStreams } from "../../stores/memoryStreams.ts"

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const ben = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")
const stores = Layer.provideMerge(
  Layer.provideMerge(memoryShadows, memoryMatches),
  Layer.mergeAll(memoryRules, memoryStreams, memoryPostCounts, memoryKeys)
)
const withdrawals = Withdrawals.layer.pipe(
  Layer.provide(Redactions.layer),
  Layer.provide(RecentEvents.layerWith({ keep: 0 })),
  Layer.provide(Layer.merge(memoryEvents, memoryStoredPosts))
)
const base = Layer.provideMerge(
  Layer.mergeAll(Layer.provideMerge(PostBudget.layer, Registrations.layerWithChanges), withdrawals),
  Layer.mergeAll(Platforms.layer, Layer.provideMerge(Ids.layer, Entropy.layerCounting), stores)
)

describe("Ingest", () => {
  it.scoped("stores a match for every rule that shares the platform's rule, then acknowledges", () =>
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
      assert.lengthOf(yield* stored, 2, "a duplicate post adds nothing")
    }).pipe(Effect.provide(base))
  )

  it.scoped("removes posts that the platform withdraws, and those of an account until then", () =>
    Effect.gen(function* () {
      const { deliver, signal } = yield* platformX
      yield* activeRule
      yield* Layer.build(Ingest.layer)
      const shown = Effect.map(stored, (matches) =>
        matches
          .flatMap(({ platform_post_id, redacted }) => (redacted === undefined ? [platform_post_id] : []))
          .toSorted()
      )
      for (const id of ["1", "2"]) yield* deliver(id, undefined, "ann")
      yield* deliver("3", undefined, "ben")
      // In one batch with the posts before it.
      yield* signal({ _tag: "Withdrawn", reason: "deleted", what: { postId: "1" } })
      yield* settled
      assert.deepStrictEqual(yield* shown, ["2", "3"])
      yield* TestClock.adjust("1 minute")
      // The account posts again after it was away: its new post stays, also if it is stored in the same batch.
      yield* signal({ _tag: "Withdrawn", reason: "withheld", what: { author: "ann", until: 30_000 } })
      yield* deliver("4", undefined, "ann")
      yield* settled
      assert.deepStrictEqual(yield* shown, ["3", "4"])
      yield* deliver("2", undefined, "ann")
      yield* signal({ _tag: "Withdrawn", reason: "deleted", what: { postId: "unknown" } })
      yield* settled
      assert.deepStrictEqual(yield* shown, ["3", "4"], "a post that comes again stays removed")
      const reasons = (yield* stored).flatMap(({ redacted }) => redacted?.reason ?? [])
      assert.deepStrictEqual(reasons.toSorted(), ["deleted", "withheld"])
    }).pipe(Effect.provide(base))
  )

  it.scoped("keeps the cursor before what is withdrawn until it is removed", () =>
    Effect.gen(function* () {
      const { deliver, signal } = yield* platformX
      yield* activeRule
      const streams = yield* StreamStore
      const cursor = Effect.map(streams.load("x"), (record) =>
        Option.flatMap(record, ({ cursor }) => cursor).pipe(Option.getOrUndefined)
      )
      const removed = yield* Deferred.make<void>()
      const slow = Withdrawals.of({ ...(yield* Withdrawals), withdraw: () => Deferred.await(removed) })
      yield* Effect.provideService(Layer.build(Ingest.layer), Withdrawals, slow)
      yield* deliver("1")
      yield* signal({ _tag: "Withdrawn", reason: "deleted", what: { postId: "0" } })
      yield* signal({ _tag: "Alive", at: 1, cursor: Option.some("after the withdrawal") })
      yield* deliver("2")
      yield* settled
      assert.strictEqual(yield* cursor, "after 1")
      yield* Deferred.succeed(removed, undefined)
      yield* settled
      assert.strictEqual(yield* cursor, "after 2")
      yield* signal({ _tag: "Alive", at: 2, cursor: Option.some("later") })
      yield* settled
      assert.strictEqual(yield* cursor, "later", "a sign of life moves the cursor, too")
    }).pipe(Effect.provide(base))
  )

  it.scoped("stores matches of the sender's rules only, and acknowledges an event that matches none of them", () =>
    Effect.gen(function* () {
      const { deliver, acked } = yield* platformX
      yield* activeRuleOf(ann)
      const rule = yield* activeRuleOf(ben)
      yield* Layer.build(Ingest.layer)
      yield* deliver("1", ben)
      yield* deliver("2", fromUuid("acct", "01890000-0000-7000-8000-00000000000c"))
      yield* settled
      assert.deepStrictEqual(yield* acked, ["1", "2"])
      assert.deepStrictEqual(yield* stored, [])
      const [match, ...others] = yield* storedOf(ben)
      assert.deepStrictEqual([match?.rule_id, match?.platform_post_id, others.length], [rule, "1", 0])
      yield* deliver("1")
      yield* settled
      assert.lengthOf(yield* stored, 1, "the id of a sent event does not suppress the shared event")
      assert.lengthOf(yield* storedOf(ben), 1)
    }).pipe(Effect.provide(base))
  )

  it.scoped("resumes at the stored cursor, even if no rule matched there", () =>
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

  it.scoped("retries while the store is down, and acknowledges nothing before the write", () =>
    Effect.gen(function* () {
      const { deliver, signal, acked } = yield* platformX
      yield* activeRule
      const working = yield* MatchStore
      const failing = { left: 3 }
      let isAliveAcked = false
      const insert: typeof working.insert = (matches, progress) =>
        Effect.suspend(() =>
          failing.left-- > 0
            ? new StoreUnavailable({ operation: "matches.insert", cause: "down" })
            : working.insert(matches, progress)
        )
      yield* Layer.build(Layer.provide(Ingest.layer, storing(working, insert)))
      yield* deliver("1")
      const ack = Effect.sync(() => {
        isAliveAcked = true
      })
      yield* signal({ _tag: "Alive", at: 1, ack })
      yield* settled
      assert.deepStrictEqual([yield* acked, yield* stored, isAliveAcked], [[], [], false])
      const record = yield* Effect.flatMap(StreamStore, ({ load }) => load("x"))
      assert.isTrue(Option.isNone(Option.flatMap(record, ({ cursor }) => cursor)), "the cursor does not move")
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual([yield* acked, isAliveAcked], [["1"], true])
      assert.lengthOf(yield* stored, 1)
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )

  it.scoped("moves an event that cannot be stored to the dead letters and stores the rest", () =>
    Effect.gen(function* () {
      const { deliver, acked } = yield* platformX
      yield* activeRule
      const working = yield* MatchStore
      const storedWith: Array<ReadonlyArray<string>> = []
      const insert: typeof working.insert = (matches, progress) => {
        const posts = matches.map((match) => match.platform_post_id)
        if (posts.includes("bad")) return new MatchesUnstorable({ reason: "unstorable" })
        if (progress !== undefined && posts.length > 0) storedWith.push(posts)
        return working.insert(matches, progress)
      }
      const all = ["1", "2", "bad", "3", "4"]
      yield* Effect.forEach(all, (id) => deliver(id))
      yield* Layer.build(Layer.provide(Ingest.layer, storing(working, insert)))
      yield* settled
      assert.deepStrictEqual(yield* acked, ["1", "2", "3", "4"])
      const streams = yield* StreamStore
      const [letter, ...others] = yield* streams.deadLetters(10)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(letter, { platform: "x", platformPostId: "bad", payload: '{"data":{"id":"bad"}}' })
      assert.match(letter?.reason ?? "", /unstorable/)
      const record = Option.getOrThrow(yield* streams.load("x"))
      assert.deepStrictEqual(Option.getOrNull(record.cursor), "after 4")
      assert.deepStrictEqual(
        storedWith.map((posts) => posts.at(-1)),
        ["4"],
        "the cursor moves with the last half only"
      )
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )

  it.scoped("moves a damaged event to the dead letters with its text, and stores the rest", () =>
    Effect.gen(function* () {
      const { deliver, signal } = yield* platformX
      yield* activeRule
      yield* deliver("1")
      const damaged = { reason: "The number 1e400 is too large", text: '{"n":1e400}' }
      yield* signal({
        _tag: "Event",
        delivery: {
          platformPostId: "2",
          payload: { n: Number.POSITIVE_INFINITY },
          damaged,
          platformRuleIds: ["shared"],
          cursor: Option.some("after 2"),
          receivedAt: yield* Clock.currentTimeMillis,
          ack: Effect.void
        }
      })
      yield* Layer.build(Ingest.layer)
      yield* settled
      assert.deepStrictEqual(
        (yield* stored).map(({ platform_post_id }) => platform_post_id),
        ["1"]
      )
      const streams = yield* StreamStore
      const [letter] = yield* streams.deadLetters(10)
      assert.deepInclude(letter, { platformPostId: "2", reason: damaged.reason, payload: damaged.text })
      const record = Option.getOrThrow(yield* streams.load("x"))
      assert.deepStrictEqual(Option.getOrNull(record.cursor), "after 2")
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )

  it.scoped("a dead letter at the end of a batch advances the cursor, too", () =>
    Effect.gen(function* () {
      const { deliver } = yield* platformX
      yield* activeRule
      const working = yield* MatchStore
      const insert: typeof working.insert = (matches, progress) =>
        matches.length > 0 ? new MatchesUnstorable({ reason: "unstorable" }) : working.insert(matches, progress)
      yield* deliver("bad")
      yield* Layer.build(Layer.provide(Ingest.layer, storing(working, insert)))
      yield* settled
      const record = Option.getOrThrow(yield* Effect.flatMap(StreamStore, ({ load }) => load("x")))
      assert.deepStrictEqual(Option.getOrNull(record.cursor), "after bad")
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )

  it.scoped("waits for a new rule that is on the platform but not yet active in the store", () =>
    Effect.gen(function* () {
      const { deliver } = yield* platformX
      const registrations = yield* Registrations
      const context = yield* Effect.context<RuleStore | Ids>()
      const madeMeanwhile = () => Effect.orDie(Effect.asVoid(Effect.provide(activeRule, context)))
      const making = Registrations.of({ ...registrations, awaitIdle: madeMeanwhile })
      yield* Layer.build(Layer.provide(Ingest.layer, Layer.succeed(Registrations, making)))
      yield* deliver("1")
      yield* settled
      assert.lengthOf(yield* stored, 1)
    }).pipe(Effect.provide(base))
  )

  it.scoped("records coverage, and a gap for the time in which no process ran", () =>
    Effect.gen(function* () {
      const { deliver, signal } = yield* platformX
      const streams = yield* StreamStore
      const gaps = Effect.map(streams.gaps("x", { from: 0, to: 1e12, limit: 10 }), (all) =>
        all.map(({ from, to, cause, isRecovered }) => [from / 1000, to / 1000, cause, isRecovered])
      )
      yield* activeRule
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(Ingest.layer)
          yield* TestClock.adjust("10 seconds")
          yield* signal({ _tag: "Watching", at: 10_000, since: 10_000 })
          yield* TestClock.adjust("10 seconds")
          yield* deliver("1")
          yield* signal({ _tag: "GapStarted", at: 20_000, cause: "outage", detail: "cut" })
          yield* settled
          assert.deepStrictEqual(yield* gaps, [])
          yield* TestClock.adjust("10 seconds")
          yield* signal({ _tag: "Watching", at: 30_000, since: 30_000 })
          yield* settled
          assert.deepStrictEqual(yield* gaps, [[20, 30, "outage", false]])
          yield* TestClock.adjust("20 seconds")
          yield* settled
        })
      )
      yield* TestClock.adjust("50 seconds")
      const countedBefore = yield* timesDown
      yield* Layer.build(Ingest.layer)
      yield* signal({ _tag: "Watching", at: 100_000, since: 0 })
      yield* settled
      assert.deepStrictEqual((yield* gaps)[0], [50, 100, "process_down", false])
      yield* signal({ _tag: "CaughtUp", at: 100_000 })
      yield* settled
      assert.strictEqual((yield* timesDown) - countedBefore, 1)
      assert.deepStrictEqual(yield* gaps, [
        [50, 100, "process_down", true],
        [20, 30, "outage", false]
      ])
      const { ledger } = Option.getOrThrow(yield* streams.load("x"))
      assert.deepStrictEqual(Option.getOrNull(ledger.watchedSince), 10_000)
    }).pipe(Effect.provide(base))
  )

  it.scoped("sets the cause of a gap: store_down, or not_configured if the platform denied access", () =>
    Effect.gen(function* () {
      const { deliver, signal } = yield* platformX
      yield* activeRule
      const working = yield* MatchStore
      const state = { isDown: true }
      const insert: typeof working.insert = (matches, progress) =>
        Effect.suspend(() =>
          state.isDown
            ? new StoreUnavailable({ operation: "insert", cause: "down" })
            : working.insert(matches, progress)
        )
      yield* Layer.build(Layer.provide(Ingest.layer, storing(working, insert)))
      yield* signal({ _tag: "Watching", at: 0, since: 0 })
      yield* deliver("1")
      yield* settled
      yield* TestClock.adjust("20 seconds")
      yield* signal({ _tag: "GapStarted", at: 20_000, cause: "outage", detail: "it hung up" })
      state.isDown = false
      yield* TestClock.adjust("20 seconds")
      yield* signal({ _tag: "Watching", at: 40_000, since: 40_000 })
      yield* signal({ _tag: "GapStarted", at: 100_000, cause: "no_rules", detail: "none" })
      yield* signal({ _tag: "Watching", at: 101_000, since: 101_000 })
      yield* settled
      const streams = yield* StreamStore
      assert.deepStrictEqual(
        (yield* streams.gaps("x", { from: 0, to: 1e12, limit: 10 })).map(({ cause }) => cause),
        ["outage", "store_down"],
        "a rule is wanted, so it is not for want of rules"
      )
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )

  it.scoped("continues after a batch that causes a defect", () =>
    Effect.gen(function* () {
      const { deliver, acked } = yield* platformX
      yield* activeRule
      const working = yield* MatchStore
      const insert: typeof working.insert = (matches) =>
        matches.some((match) => match.platform_post_id === "bad") ? Effect.dieMessage("bug") : working.insert(matches)
      yield* Layer.build(Layer.provide(Ingest.layer, storing(working, insert)))
      yield* deliver("bad")
      yield* settled
      yield* deliver("good")
      yield* settled
      assert.deepStrictEqual(yield* acked, ["good"])
    }).pipe(Effect.provide([base, Logger.remove(Logger.defaultLogger)]))
  )

  it.scoped("sends a batch while the one before is being stored, and acknowledges both in order", () =>
    Effect.gen(function* () {
      const { deliver, acked } = yield* platformX
      yield* activeRule
      const { working, sent, finishFirst } = yield* slowStore
      yield* Layer.build(Layer.provide(Ingest.layer, Layer.succeed(MatchStore, working)))
      yield* deliver("1")
      yield* settled
      yield* deliver("2")
      yield* settled
      assert.deepStrictEqual(sent, ["1", "2"])
      assert.deepStrictEqual([yield* acked, yield* stored], [[], []])
      yield* deliver("3")
      yield* settled
      assert.lengthOf(sent, 2, "at most two batches are in flight")
      yield* finishFirst
      yield* settled
      assert.deepStrictEqual(yield* acked, ["1", "2", "3"])
      const newestFirst = (yield* stored).map((match) => match.platform_post_id)
      assert.deepStrictEqual(newestFirst, ["3", "2", "1"])
      const record = Option.getOrThrow(yield* Effect.flatMap(StreamStore, ({ load }) => load("x")))
      assert.deepStrictEqual(Option.getOrNull(record.cursor), "after 3")
    }).pipe(Effect.provide(base))
  )

  it.scoped("stores a batch that changes gaps after the one before", () =>
    Effect.gen(function* () {
      const { deliver, signal, acked } = yield* platformX
      yield* activeRule
      const { working, sent, finishFirst } = yield* slowStore
      yield* Layer.build(Layer.provide(Ingest.layer, Layer.succeed(MatchStore, working)))
      yield* deliver("1")
      yield* settled
      yield* signal({ _tag: "Lost", cause: "stall", detail: "", from: 0, to: 1 })
      yield* deliver("2")
      yield* settled
      assert.deepStrictEqual(sent, ["1"])
      yield* finishFirst
      yield* settled
      assert.deepStrictEqual(yield* acked, ["1", "2"])
    }).pipe(Effect.provide(base))
  )

  it.scoped("counts a post for the budget when it is received, not when it is stored", () =>
    Effect.gen(function* () {
      const { deliver } = yield* platformWith({ pricePerEvent: 0.005, monthlyBudget: 10 })
      yield* activeRule
      const budget = yield* PostBudget
      const platform = yield* (yield* Platforms).get("x")
      const used = Effect.map(budget.usage(platform, Option.none()), (usage) => Option.getOrThrow(usage).used)
      const { working, finishFirst } = yield* slowStore
      yield* Layer.build(Layer.provide(Ingest.layer, Layer.succeed(MatchStore, working)))
      yield* budget.enforce
      const isDue = yield* Effect.fork(budget.due)
      for (const id of ["1", "2", "3", "4", "5", "6", "7", "8", "9"]) yield* deliver(id)
      yield* settled
      assert.strictEqual(yield* used, 9, "the store is busy with the first one")
      assert.isTrue(Option.isSome(yield* Fiber.poll(isDue)), "80 % are used: the rules are checked at once")
      yield* finishFirst
      yield* settled
      assert.strictEqual(yield* used, 9)
      assert.strictEqual(yield* (yield* PostCounts).count("x", monthOf(0), "all"), 9)
    }).pipe(Effect.provide(base))
  )

  it.scoped("ends the wait for a rule to take effect with its first match", () =>
    Effect.gen(function* () {
      const { deliver } = yield* platformWith({ ruleDelayMillis: 20_000 })
      const rule = yield* activeRule
      const store = yield* RuleStore
      const pending = { from: Timestamp.fromMillis(0), to: Timestamp.fromMillis(20_000) }
      const ends = Effect.map(
        store.ruleCoverage({ account: ann, rule: Option.some(rule), platforms: ["x"] }, 10),
        ({ gaps }) => gaps.map(({ to }) => Option.getOrNull(to))
      )
      yield* store.addPending(rule, "x", pending)
      yield* Layer.build(Ingest.layer)
      yield* TestClock.adjust("3 seconds")
      yield* deliver("1")
      yield* settled
      assert.deepStrictEqual(yield* ends, [Timestamp.fromMillis(3_000)])
    }).pipe(Effect.provide(base))
  )
})

// ---- helpers ----

/** A platform with a stream controlled by the test. */
const platformWith = (capabilities: Partial<Platform["capabilities"]>) =>
  Effect.gen(function* () {
    const platforms = yield* Platforms
    const queue = yield* Queue.unbounded<Signal>()
    const acked = yield* Ref.make<ReadonlyArray<string>>([])
    /** The cursors with which the stream was opened. */
    const from: Array<string> = []
    yield* platforms.register({
      id: "x",
      language: languageOf("x"),
      syntax: { platform: "x", rule_type: "premium", summary: "", syntax: "", operators: [], examples: [], limits: {} },
      capabilities: { rulesPerAccount: Option.none(), isRemote: true, sendsAlive: false, ...capabilities },
      verify: () => Effect.succeed(Either.right("confirmed")),
      register: () => Effect.succeed([]),
      unregister: () => Effect.void,
      inventory: Effect.succeed({ rules: [], ruleLimit: Option.none(), usage: Option.none() }),
      watch: (cursor) => {
        from.push(Option.getOrElse(cursor, () => "the start"))
        return Stream.fromQueue(queue)
      },
      status: Effect.dieMessage("not used")
    })
    const deliver = (platformPostId: string, sender?: AccountId, author?: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (receivedAt) => {
        const delivery = {
          platformPostId,
          payload: { data: { id: platformPostId } },
          platformRuleIds: ["shared", "unknown"],
          ...(sender !== undefined && { sender }),
          ...(author !== undefined && { author }),
          cursor: Option.some(`after ${platformPostId}`),
          receivedAt,
          ack: Ref.update(acked, (ids) => [...ids, platformPostId])
        }
        return Queue.offer(queue, { _tag: "Event", delivery })
      })
    const signal = (signal: Signal) => Queue.offer(queue, signal)
    return { deliver, signal, acked: Ref.get(acked), from }
  })

const platformX = platformWith({})

type Store = MatchStore["Type"]

/** A store with another `insert`, also while a batch is being stored. */
const storing = (working: Store, insert: Store["insert"]) =>
  Layer.succeed(
    MatchStore,
    MatchStore.of({ ...working, insert, insertNext: (...batch) => Effect.asSome(insert(...batch)) })
  )

/** The first batch is stored when the test says so. `sent`: posts sent to the store while it waits or after. */
const slowStore = Effect.gen(function* () {
  const store = yield* MatchStore
  const finished = yield* Deferred.make<void>()
  const sent: Array<string> = []
  const insertNext: Store["insertNext"] = (matches, progress) => {
    sent.push(...matches.map((match) => match.platform_post_id))
    const isFirst = sent.length === 1
    return Effect.zipRight(isFirst ? Deferred.await(finished) : Effect.void, store.insertNext(matches, progress))
  }
  return {
    working: MatchStore.of({ ...store, insertNext }),
    sent,
    finishFirst: Deferred.succeed(finished, undefined)
  }
})

const activeRuleOf = (accountId: AccountId) =>
  Effect.gen(function* () {
    const store = yield* RuleStore
    const { rule } = yield* Ids
    const id = yield* rule
    const createdAt = yield* Timestamp.now
    const filters = [{ platform: "x" as const, text: "storm" }]
    yield* store.reserve({ id, accountId, name: "n", intent: "i", createdAt, filters }, new Map())
    const registered = { platformRuleId: "shared", translatedValue: "storm" }
    yield* store.activate(id, new Map([["x" as const, registered]]), createdAt)
    return id
  })

const activeRule = activeRuleOf(ann)

/** The number of process_down gaps. */
const timesDown = Effect.map(Metric.snapshot, (snapshot) => {
  const labels = { platform: "x", cause: "process_down" }
  return valueIn(parseMetrics(exposition(snapshot)), "earshot_coverage_gaps_total", labels) ?? 0
})

const storedOf = (account: AccountId) =>
  Effect.flatMap(MatchStore, (store) =>
    Effect.map(
      store.list({ account, rules: Option.none(), platforms: ["x"], before: Option.none(), limit: 100 }),
      ({ items }) => items
    )
  )

const stored = storedOf(ann)

/** Runs the other fibers until they are idle. */
const settled = Effect.repeatN(Effect.yieldNow(), 500)
