/** Feeds that accounts add: for their rules only, each address polled once, and no account can slow down the others. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Stream, TestClock } from "effect"
import { ownLog } from "../../../core/backtests/EventLog.ts"
import { RecentEvents } from "../../../core/backtests/RecentEvents.ts"
import type { FeedStore } from "../../../core/feeds/FeedStore.ts"
import { LimitReached } from "../../../core/model/Errors.ts"
import type { AccountId } from "../../../core/model/Ids.ts"
import * as Timestamp from "../../../core/model/Timestamp.ts"
import type { Signal } from "../../../core/platforms/Platform.ts"
import { Quotas } from "../../../core/quotas/Quotas.ts"
import type { RuleStore } from "../../../core/rules/RuleStore.ts"
import { visibleRule } from "../../contract/samples.ts"
import { startReceiver } from "../webhooks/receiver.ts"
import { answered, gapsIn, pass, site, watched } from "./site.ts"

const [ANN, BEN] = ["acct_01kzyn2b1se8q9w3n5y7h0v4dz", "acct_01kzyn2b1se8q9w3n5y7h0v4e0"] as [AccountId, AccountId]

describe("the feeds of accounts", () => {
  it.scoped("match the rules of their account only, and are seen by it only", () =>
    Effect.gen(function* () {
      const [shared, own] = [yield* site(), yield* site()]
      const { store, signals, status, context } = yield* watched(shared.url)
      yield* ruleOf(ANN, context)
      yield* ruleOf(BEN, context)
      yield* add(store, ANN, own.url)
      shared.show("1")
      own.show("1")
      yield* pass(30)
      shared.show("2", "1")
      own.show("2", "1")
      yield* pass(20 * 60)
      assert.sameDeepMembers(sentIn(signals), [
        [undefined, `${shared.url} 2`],
        [ANN, `${own.url} 2`]
      ])
      const logged = (log: string) =>
        Effect.map(Stream.runCollect(Context.get(context, RecentEvents).newest([log], 10)), (all) =>
          JSON.stringify([...all])
        )
      assert.notInclude(yield* logged("feeds"), own.url)
      assert.include(yield* logged(ownLog("feeds", ANN)), own.url)
      own.status = 503
      yield* pass(60 * 60)
      assert.deepStrictEqual(gapsIn(signals), [])
      const { detail, lastError } = yield* status
      assert.strictEqual(detail, "Reads 1 feed and 1 feed of accounts")
      assert.isTrue(Option.isNone(lastError))
      assert.deepInclude(yield* recordOf(store, own.url), { title: "News", error: "HTTP 503" })
    })
  )

  it.scoped("are polled once for all who have them, and each gets what appears after it has added them", () =>
    Effect.gen(function* () {
      const on = yield* site()
      const { store, signals, context } = yield* watched("")
      yield* ruleOf(ANN, context)
      yield* ruleOf(BEN, context)
      on.show("1")
      yield* add(store, ANN, on.url)
      yield* pass(30)
      yield* add(store, BEN, on.url)
      on.show("2", "1")
      yield* pass(6 * 60)
      assert.lengthOf(on.received, 2, "soon, but not at once")
      assert.deepStrictEqual(sentIn(signals), [[ANN, `${on.url} 2`]])
      on.show("3", "2", "1")
      yield* pass(20 * 60)
      assert.sameDeepMembers(sentIn(signals).slice(1), [
        [ANN, `${on.url} 3`],
        [BEN, `${on.url} 3`]
      ])
      yield* store.remove(ANN, on.url)
      yield* pass(30)
      on.show("4", "3", "2", "1")
      yield* pass(20 * 60)
      assert.deepStrictEqual(sentIn(signals).slice(3), [[BEN, `${on.url} 4`]])
      yield* store.remove(BEN, on.url)
      yield* pass(30)
      const asked = on.received.length
      yield* pass(60 * 60)
      assert.lengthOf(on.received, asked)
      assert.lengthOf(yield* store.records, 0)
    })
  )

  it.scoped("come again after a crash until their matches are durable", () =>
    Effect.gen(function* () {
      const on = yield* site()
      on.show("1")
      const first = yield* watched("")
      yield* ruleOf(ANN, first.context)
      yield* add(first.store, ANN, on.url)
      yield* pass(30)
      yield* first.stop
      on.show("2", "1")
      yield* TestClock.adjust("1 hour")
      for (const isDurable of [false, true]) {
        const { signals, stop, context } = yield* watched("", { store: first.store, isDurable })
        yield* ruleOf(ANN, context)
        yield* pass(1)
        assert.deepStrictEqual(sentIn(signals), [[ANN, `${on.url} 2`]])
        yield* stop
      }
      const last = yield* watched("", { store: first.store })
      yield* pass(20 * 60)
      assert.deepStrictEqual(sentIn(last.signals), [])
      assert.isAtLeast(on.received.length, 4)
    })
  )

  it.scoped("do not keep the platform from catching up when they fail", () =>
    Effect.gen(function* () {
      const [shared, failing] = [yield* site(), yield* site()]
      for (const on of [shared, failing]) on.show("1")
      const first = yield* watched(shared.url)
      yield* add(first.store, ANN, failing.url)
      yield* pass(30)
      yield* first.stop
      yield* TestClock.adjust("3 hours")
      failing.status = 503
      const second = yield* watched(shared.url, { store: first.store })
      yield* pass(60)
      assert.lengthOf(failing.received, 2)
      assert.isTrue(second.signals.some(({ _tag }) => _tag === "CaughtUp"))
      assert.deepStrictEqual(gapsIn(second.signals), [])
    })
  )

  it.scoped("are not polled more often by an account that removes and adds them", () =>
    Effect.gen(function* () {
      const on = yield* site()
      on.show("1")
      const { store } = yield* watched("")
      for (let turn = 0; turn < 6; turn++) {
        yield* add(store, ANN, on.url)
        yield* pass(40)
        yield* store.remove(ANN, on.url)
        yield* pass(30)
      }
      assert.isAtMost(on.received.length, 2)
    })
  )

  it.scoped("of one account are polled two at a time, and slow ones do not delay those of others", () =>
    Effect.gen(function* () {
      const slow = yield* Effect.all(Array.from({ length: 4 }, () => startReceiver(() => {})))
      const [shared, own] = [yield* site(), yield* site()]
      const { store, signals } = yield* watched(shared.url)
      for (const { url } of slow) yield* add(store, ANN, `${url}/`)
      yield* add(store, BEN, own.url)
      shared.show("1")
      own.show("1")
      // Requests that are not answered: the clock stands still meanwhile.
      for (let turn = 0; turn < 25; turn++) {
        yield* TestClock.adjust("1 second")
        yield* Effect.promise(() => new Promise((resume) => setTimeout(resume, 20)))
        if (own.received.length + shared.received.length === 2 && slow.some(({ received }) => received.length > 0))
          break
      }
      assert.lengthOf(own.received, 1)
      assert.lengthOf(shared.received, 1)
      assert.strictEqual(slow.filter(({ received }) => received.length > 0).length, 2)
      assert.deepStrictEqual(gapsIn(signals), [])
    })
  )

  it.scoped("count as events of their account, and wait while its limit is reached", () =>
    Effect.gen(function* () {
      const spent: Array<readonly [AccountId, string, number]> = []
      let isOver = true
      const limits = Layer.mock(Quotas, {
        check: (account, name) =>
          account === ANN && isOver
            ? new LimitReached({ name, limit: 1, used: 1, retryAfterSeconds: 60 })
            : Effect.void,
        spend: (...one) => Effect.sync(() => void spent.push(one))
      })
      const [of, other, both] = [yield* site(), yield* site(), yield* site()]
      const { store, signals, context } = yield* watched("", { limits })
      yield* ruleOf(ANN, context)
      for (const on of [of, other, both]) on.show("1")
      yield* add(store, ANN, of.url)
      yield* add(store, BEN, other.url)
      for (const account of [ANN, BEN]) yield* add(store, account, both.url)
      yield* pass(60)
      assert.deepStrictEqual(
        [of, other, both].map(({ received }) => received.length),
        [0, 1, 1]
      )
      isOver = false
      yield* pass(60)
      assert.lengthOf(of.received, 1)
      of.show("3", "2", "1")
      both.show("2", "1")
      yield* pass(20 * 60)
      assert.lengthOf(sentIn(signals), 3)
      assert.sameDeepMembers(
        spent.filter(([, , items]) => items > 0),
        [
          [ANN, "events", 2],
          [ANN, "events", 1],
          [BEN, "events", 1]
        ]
      )
    })
  )

  it.scoped("may have 1 MB, and one that is gone is not asked again until it is added again", () =>
    Effect.gen(function* () {
      const large = yield* startReceiver((_, response) => void response.end(Buffer.alloc(1_100_000)))
      const gone = yield* site()
      gone.status = 410
      const { store } = yield* watched("")
      yield* add(store, ANN, large.url)
      yield* add(store, ANN, gone.url)
      yield* pass(30)
      assert.include((yield* recordOf(store, large.url))?.error, "larger than 1 MB")
      assert.deepInclude(yield* recordOf(store, gone.url), { isGone: true })
      yield* pass(60 * 60)
      assert.lengthOf(gone.received, 1)
      yield* store.remove(ANN, gone.url)
      yield* pass(30)
      yield* add(store, ANN, gone.url)
      yield* pass(30)
      yield* answered
      assert.lengthOf(gone.received, 2)
    })
  )
})

// ---- helpers ----

const add = (store: FeedStore["Type"], account: AccountId, url: string) =>
  Effect.flatMap(Timestamp.now, (addedAt) => store.add({ account, url, addedAt }, { account: 0, everywhere: 100 }))

const recordOf = (store: FeedStore["Type"], url: string) =>
  Effect.map(store.list(ANN, Option.some(url)), ([one]) =>
    one === undefined ? undefined : Option.getOrUndefined(one.record)
  )

/** A rule for every item. */
const ruleOf = (account: AccountId, context: Context.Context<RuleStore>) =>
  Effect.provide(visibleRule(account, { filters: [{ platform: "feeds", text: "storm" }] }), context)

const sentIn = (signals: ReadonlyArray<Signal>) =>
  signals.flatMap((signal) =>
    signal._tag === "Event" ? [[signal.delivery.sender, signal.delivery.platformPostId] as const] : []
  )
