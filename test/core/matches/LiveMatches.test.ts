import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Layer, Option, Stream, TestClock } from "effect"
import { LiveMatches, type LiveUpdate, nextUpdates } from "../../../core/matches/LiveMatches.ts"
import { type MatchSelector, MatchStore } from "../../../core/matches/MatchStore.ts"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { type AccountId, firstMatchIdAt, fromUuid, type MatchId } from "../../../core/model/Ids.ts"
import { PLATFORM_IDS } from "../../../fixtures/languages.ts"
import { newMatch, visibleRule } from "../../contract/samples.ts"
import { memoryMatches } from "../../stores/memoryMatches.ts"
import { memoryRules } from "../../stores/memoryRules.ts"
import { memoryStreams } from "../../stores/memoryStreams.ts"

const stores = memoryMatches.pipe(Layer.provideMerge(Layer.merge(memoryRules, memoryStreams)))
const layer = Layer.provideMerge(LiveMatches.layer, stores)

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const bob = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

const everythingOf = (account: AccountId): MatchSelector => ({ account, rules: Option.none(), platforms: PLATFORM_IDS })

const from = (wanted: MatchSelector, start: Option.Option<MatchId>) =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const next = nextUpdates(yield* (yield* LiveMatches).listen(wanted, start))
      return Stream.repeatEffectChunk(Effect.map(next, Chunk.unsafeFromArray))
    })
  )

const idsOf = (updates: Iterable<LiveUpdate>) =>
  Array.from(updates, (update) => (update._tag === "Matched" ? update.match.id : update.id))

const insertSome = (rule: Parameters<typeof newMatch>[0], count: number) =>
  Effect.gen(function* () {
    const matches = Array.from({ length: count }, () => newMatch(rule))
    yield* (yield* MatchStore).insert(matches)
    return matches.map(({ id }) => id)
  })

describe("LiveMatches", () => {
  it.live("listen delivers matches after the start, then new ones, exactly once and in order", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const [start] = yield* insertSome(rule, 1)
      const past = yield* insertSome(rule, 250)
      const reading = yield* from(everythingOf(ann), Option.fromNullable(start)).pipe(
        Stream.take(1_000),
        Stream.runCollect,
        Effect.fork
      )
      const present: Array<MatchId> = []
      while (present.length < 750) {
        present.push(...(yield* insertSome(rule, 25)))
        yield* Effect.sleep(1)
      }
      assert.deepStrictEqual(idsOf(yield* Fiber.join(reading)), [...past, ...present])
    }).pipe(Effect.provide(layer))
  )

  it.live("listen delivers a match once if it is both read from the store and fanned out", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      const isRead = yield* Deferred.make<void>()
      const ids = yield* insertSome(rule, 1)
      const late = MatchStore.of({
        ...store,
        nextForAccounts: (page) => Effect.tap(store.nextForAccounts(page), () => Deferred.succeed(isRead, undefined)),
        next: (page) =>
          Effect.gen(function* () {
            if (ids.length === 1) {
              const between = newMatch(rule)
              ids.push(between.id)
              yield* Effect.orDie(store.insert([between]))
              yield* Deferred.await(isRead)
            }
            return yield* store.next(page)
          })
      })
      yield* Effect.gen(function* () {
        const { listen } = yield* LiveMatches
        // Waits for the subscription to changes.
        yield* Effect.sleep(20)
        const next = nextUpdates(yield* listen(everythingOf(ann), Option.none()))
        assert.deepStrictEqual(idsOf(yield* next), ids)
        const last = yield* insertSome(rule, 1)
        assert.deepStrictEqual(idsOf(yield* next), last)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(LiveMatches.layer, Layer.succeed(MatchStore, late))))
    }).pipe(Effect.provide(stores))
  )

  it.live("does not read the store without listeners", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      let reads = 0
      const counting = MatchStore.of({
        ...store,
        newest: Effect.tap(store.newest, () => {
          reads++
        })
      })
      yield* Effect.gen(function* () {
        const { listen } = yield* LiveMatches
        for (let i = 0; i < 3; i++) {
          yield* insertSome(rule, 1)
          const first = Effect.flatMap(listen(everythingOf(ann), Option.none()), nextUpdates)
          // Not compared by id: the store assigns a higher id to a match below the watermark.
          assert.lengthOf(yield* Effect.scoped(first), i + 1)
        }
        yield* Effect.sleep(10)
        const before = reads
        yield* insertSome(rule, 1)
        yield* Effect.sleep(10)
        assert.strictEqual(reads, before)
      }).pipe(Effect.provide(Layer.provide(LiveMatches.layer, Layer.succeed(MatchStore, counting))))
    }).pipe(Effect.provide(stores))
  )

  it.live("listen filters by account, rule and platform", () =>
    Effect.gen(function* () {
      const [wanted, other, foreign] = [yield* visibleRule(ann), yield* visibleRule(ann), yield* visibleRule(bob)]
      const store = yield* MatchStore
      const reading = yield* from(
        { account: ann, rules: Option.some([wanted.id]), platforms: ["x"] },
        Option.none()
      ).pipe(Stream.take(3), Stream.runCollect, Effect.fork)
      const expected: Array<MatchId> = []
      for (let i = 0; i < 3; i++) {
        yield* Effect.sleep(5)
        const match = newMatch(wanted.id)
        expected.push(match.id)
        const others = [newMatch(other.id), newMatch(foreign.id), newMatch(wanted.id, { platform: "firehose" })]
        yield* store.insert([...others, match])
      }
      assert.deepStrictEqual(idsOf(yield* Fiber.join(reading)), expected)
    }).pipe(Effect.provide(layer))
  )

  it.live("a slow reader falls back to the store and misses nothing", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      const reading = yield* from(everythingOf(ann), yield* store.newest).pipe(
        // Sleeps after each live match, while the queue overflows.
        Stream.rechunk(1),
        Stream.mapEffect((update) => Effect.as(Effect.sleep(update._tag === "Matched" ? 0.01 : 0), update)),
        Stream.take(5_001),
        Stream.runCollect,
        Effect.fork
      )
      yield* Effect.sleep(20)
      const stored = yield* insertSome(rule, 1)
      yield* Effect.sleep(20)
      for (let i = 0; i < 10; i++) stored.push(...(yield* insertSome(rule, 500)))
      assert.deepStrictEqual(idsOf(yield* Fiber.join(reading)), stored)
    }).pipe(Effect.provide(layer))
  )

  it.effect("listen sends a heartbeat after a quiet period, even if only other accounts had matches", () =>
    Effect.gen(function* () {
      const [mine, theirs] = [(yield* visibleRule(ann)).id, (yield* visibleRule(bob)).id]
      const reading = yield* from(everythingOf(ann), Option.none()).pipe(Stream.take(3), Stream.runCollect, Effect.fork)
      yield* TestClock.adjust("1 second")
      const [own] = yield* insertSome(mine, 1)
      const others: Array<MatchId> = []
      for (let i = 0; i < 130; i++) {
        others.push(...(yield* insertSome(theirs, 1)))
        yield* TestClock.adjust("250 millis")
      }
      const updates = Chunk.toReadonlyArray(yield* Fiber.join(reading))
      assert.deepStrictEqual(
        updates.map(({ _tag }) => _tag),
        ["Matched", "Heartbeat", "Heartbeat"]
      )
      const [first, ...heartbeats] = idsOf(updates)
      assert.strictEqual(first, own)
      for (const id of heartbeats) assert.notInclude(others, id, "reveals no id of other accounts")
      assert.isAbove(others.filter((id) => id < (heartbeats[0] ?? "")).length, 20, "advances past them")
    }).pipe(Effect.provide(layer))
  )

  it.live("listen fails with CursorExpired below the floor, and not at the floor", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const ids = yield* insertSome(rule, 10)
      const store = yield* MatchStore
      yield* store.trim({ before: ids[5] ?? firstMatchIdAt(0), keep: Option.none(), atMost: 100 })
      const error = yield* Effect.flip(Stream.runHead(from(everythingOf(ann), Option.fromNullable(ids[3]))))
      assert.strictEqual(error._tag, "CursorExpired")
      const rest = from(everythingOf(ann), Option.fromNullable(ids[4])).pipe(Stream.take(5), Stream.runCollect)
      assert.deepStrictEqual(idsOf(yield* rest), ids.slice(5))
    }).pipe(Effect.provide(layer))
  )

  it.effect("listen delivers matches after a lost notification and after an outage of the store", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      let isDown = false
      const failing = MatchStore.of({
        ...store,
        changes: Stream.never,
        watermark: Effect.suspend(() =>
          isDown ? new StoreUnavailable({ operation: "matches.mark", cause: undefined }) : store.watermark
        )
      })
      yield* Effect.gen(function* () {
        const reading = yield* from(everythingOf(ann), Option.none()).pipe(
          Stream.take(2),
          Stream.runCollect,
          Effect.fork
        )
        yield* TestClock.adjust("1 second")
        isDown = true
        const ids = yield* insertSome(rule, 2)
        yield* TestClock.adjust("6 seconds")
        assert.isTrue(Option.isNone(yield* Fiber.poll(reading)))
        isDown = false
        yield* TestClock.adjust("6 seconds")
        assert.deepStrictEqual(idsOf(yield* Fiber.join(reading)), ids)
      }).pipe(Effect.provide(Layer.provide(LiveMatches.layer, Layer.succeed(MatchStore, failing))))
    }).pipe(Effect.provide(stores))
  )
})
