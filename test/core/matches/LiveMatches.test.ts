import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Layer, Option, Stream, TestClock } from "effect"
import { StreamStore } from "../../../core/coverage/StreamStore.ts"
import { type Heard, LiveMatches } from "../../../core/matches/LiveMatches.ts"
import { MatchStore, type Wanted } from "../../../core/matches/MatchStore.ts"
import { StorageUnavailable } from "../../../core/model/Errors.ts"
import { type AccountId, firstMatchAt, fromUuid, type MatchId } from "../../../core/model/Ids.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { newMatch, visibleRule } from "../../contract/samples.ts"
import { PLATFORM_IDS } from "../../platforms.ts"

const stores = MatchStore.layerMemory.pipe(
  Layer.provideMerge(Layer.merge(RuleStore.layerMemory, StreamStore.layerMemory))
)
const layer = Layer.provideMerge(LiveMatches.layer, stores)

const ann = fromUuid("acct", "01890000-0000-7000-8000-00000000000a")
const bob = fromUuid("acct", "01890000-0000-7000-8000-00000000000b")

const everythingOf = (account: AccountId): Wanted => ({ account, rule: Option.none(), platforms: PLATFORM_IDS })

const from = (wanted: Wanted, start: Option.Option<MatchId>) =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const next = yield* (yield* LiveMatches).listen(wanted, start)
      return Stream.repeatEffectChunk(Effect.map(next, Chunk.unsafeFromArray))
    })
  )

const idsOf = (heard: Iterable<Heard>) => Array.from(heard, (one) => (one._tag === "Matched" ? one.match.id : one.id))

const insertSome = (rule: Parameters<typeof newMatch>[0], count: number) =>
  Effect.gen(function* () {
    const matches = Array.from({ length: count }, () => newMatch(rule))
    yield* (yield* MatchStore).insert(matches)
    return matches.map(({ id }) => id)
  })

describe("LiveMatches", () => {
  it.live("gives what came after the start, and then what comes, each once and in order", () =>
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

  it.live("gives once what is stored while the past is read, and so is both read and heard", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      const isHeard = yield* Deferred.make<void>()
      const ids = yield* insertSome(rule, 1)
      const late = MatchStore.of({
        ...store,
        nextOf: (page) => Effect.tap(store.nextOf(page), () => Deferred.succeed(isHeard, undefined)),
        next: (page) =>
          Effect.gen(function* () {
            if (ids.length === 1) {
              const between = newMatch(rule)
              ids.push(between.id)
              yield* Effect.orDie(store.insert([between]))
              yield* Deferred.await(isHeard)
            }
            return yield* store.next(page)
          })
      })
      yield* Effect.gen(function* () {
        const { listen } = yield* LiveMatches
        // Until the announcements are listened to.
        yield* Effect.sleep(20)
        const next = yield* listen(everythingOf(ann), Option.none())
        assert.deepStrictEqual(idsOf(yield* next), ids)
        const last = yield* insertSome(rule, 1)
        assert.deepStrictEqual(idsOf(yield* next), last)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(LiveMatches.layer, Layer.succeed(MatchStore, late))))
    }).pipe(Effect.provide(stores))
  )

  it.live("reads for nobody once all have left", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      let readings = 0
      const counting = MatchStore.of({
        ...store,
        newest: Effect.tap(store.newest, () => {
          readings++
        })
      })
      yield* Effect.gen(function* () {
        const { listen } = yield* LiveMatches
        for (let i = 0; i < 3; i++) {
          yield* insertSome(rule, 1)
          const first = Effect.flatMap(listen(everythingOf(ann), Option.none()), (next) => next)
          // Not by its id: the store gives a higher one to a match that is no newer than a mark.
          assert.lengthOf(yield* Effect.scoped(first), i + 1)
        }
        yield* Effect.sleep(10)
        const before = readings
        yield* insertSome(rule, 1)
        yield* Effect.sleep(10)
        assert.strictEqual(readings, before)
      }).pipe(Effect.provide(Layer.provide(LiveMatches.layer, Layer.succeed(MatchStore, counting))))
    }).pipe(Effect.provide(stores))
  )

  it.live("gives nothing of another account, of another rule, nor of another platform", () =>
    Effect.gen(function* () {
      const [wanted, other, foreign] = [yield* visibleRule(ann), yield* visibleRule(ann), yield* visibleRule(bob)]
      const store = yield* MatchStore
      const reading = yield* from({ account: ann, rule: Option.some(wanted.id), platforms: ["x"] }, Option.none()).pipe(
        Stream.take(3),
        Stream.runCollect,
        Effect.fork
      )
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

  it.live("a reader that is too slow reads on in the store, and misses nothing", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      const reading = yield* from(everythingOf(ann), yield* store.newest).pipe(
        // It rests after the first of what is live, while far more comes in than may wait.
        Stream.rechunk(1),
        Stream.mapEffect((heard) => Effect.as(Effect.sleep(heard._tag === "Matched" ? 0.01 : 0), heard)),
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

  it.effect("says after a while without a match how far it is, also where only others had some", () =>
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
      const heard = Chunk.toReadonlyArray(yield* Fiber.join(reading))
      assert.deepStrictEqual(
        heard.map(({ _tag }) => _tag),
        ["Matched", "Reached", "Reached"]
      )
      const [first, ...reached] = idsOf(heard)
      assert.strictEqual(first, own)
      for (const id of reached) assert.notInclude(others, id, "nothing of others is told")
      assert.isAbove(others.filter((id) => id < (reached[0] ?? "")).length, 20, "and yet they are passed")
    }).pipe(Effect.provide(layer))
  )

  it.live("a start below the floor fails and names the floor; the floor itself is none", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const ids = yield* insertSome(rule, 10)
      const store = yield* MatchStore
      yield* store.trim({ before: ids[5] ?? firstMatchAt(0), keep: Option.none(), atMost: 100 })
      const error = yield* Effect.flip(Stream.runHead(from(everythingOf(ann), Option.fromNullable(ids[3]))))
      assert.strictEqual(error._tag, "CursorExpired")
      const rest = from(everythingOf(ann), Option.fromNullable(ids[4])).pipe(Stream.take(5), Stream.runCollect)
      assert.deepStrictEqual(idsOf(yield* rest), ids.slice(5))
    }).pipe(Effect.provide(layer))
  )

  it.effect("what is stored without an announcement, or while the store cannot be read, comes a little later", () =>
    Effect.gen(function* () {
      const rule = (yield* visibleRule(ann)).id
      const store = yield* MatchStore
      let isDown = false
      const failing = MatchStore.of({
        ...store,
        changes: Stream.never,
        mark: Effect.suspend(() =>
          isDown ? new StorageUnavailable({ operation: "matches.mark", cause: undefined }) : store.mark
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
