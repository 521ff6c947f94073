/** Owners among several servers on one Postgres, and the fence against a former one. */

import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, Option, type Redacted, Scope } from "effect"
import * as postgres from "../../../adapters/sql/postgres.ts"
import * as SqlOwnership from "../../../adapters/sql/SqlOwnership.ts"
import * as stores from "../../../adapters/sql/stores.ts"
import { newLedger } from "../../../core/coverage/Coverage.ts"
import { StreamStore } from "../../../core/coverage/StreamStore.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import { PlatformRefused } from "../../../core/model/Errors.ts"
import { CurrentFence, type Fence, Ownership } from "../../../core/ownership/Ownership.ts"
import { Servers } from "../../../core/ownership/Servers.ts"
import { RuleStore } from "../../../core/rules/RuleStore.ts"
import { at, newAccount, newMatch, visibleRule } from "../../contract/samples.ts"
import { untilTrue } from "../../eventually.ts"
import { temporaryDatabase } from "../../stores.ts"

describe("Ownership of several servers", () => {
  it.scopedLive(
    "lets one server do the work, and the next one when that stops, with the clock that they share",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const starts: Array<string> = []
        const clocks = new Set([yield* Effect.clock])
        const serverOn = (name: string) =>
          Effect.gen(function* () {
            const context = yield* Layer.build(serverLayer(url, name))
            const clock = yield* Effect.clock
            assert.isFalse(clocks.has(clock))
            clocks.add(clock)
            const work = Effect.gen(function* () {
              assert.strictEqual(yield* Effect.clock, clock)
              starts.push(name)
              return yield* Effect.never
            })
            const { own } = Context.get(context, Ownership)
            yield* Effect.provide(own("stream/x", work), context)
            return context
          })
        const second = yield* Scope.make()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const first = yield* serverOn("first")
            yield* until("it starts", () => starts.length === 1)
            yield* Scope.extend(serverOn("second"), second)
            yield* Effect.sleep("2 seconds")
            assert.deepStrictEqual(starts, ["first"], "a server that joins moves nothing")
            const { list, ownerOf } = Context.get(first, Servers)
            assert.deepStrictEqual(
              (yield* list).map(({ name, owns }) => [name, owns]),
              [
                ["first", ["stream/x"]],
                ["second", []]
              ]
            )
            const owner = Option.getOrThrow(yield* ownerOf("stream/x"))
            assert.deepInclude(owner, { server: "first", epoch: 1, isAlive: true })
          })
        )
        // Well before the lock of the first would expire.
        yield* Effect.timeout(
          until("the second starts", () => starts.at(-1) === "second"),
          "4 seconds"
        )
        yield* Scope.close(second, Exit.void)
        const third = yield* serverOn("third")
        yield* until("the third starts", () => starts.at(-1) === "third")
        const owner = Option.getOrThrow(yield* Context.get(third, Servers).ownerOf("stream/x"))
        assert.isAbove(owner.epoch, 1)
      }),
    240_000
  )

  it.scopedLive(
    "refuses every write of a former owner and stops its work",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const context = yield* Layer.build(serverLayer(url, "only"))
        const held = yield* Deferred.make<Fence>()
        const ended = yield* Deferred.make<void>()
        const work = Effect.gen(function* () {
          yield* Deferred.succeed(held, Option.getOrThrow(yield* CurrentFence))
          return yield* Effect.never
        }).pipe(Effect.ensuring(Deferred.succeed(ended, undefined)))
        yield* Effect.provide(Context.get(context, Ownership).own("stream/x", work), context)
        const fence = yield* Deferred.await(held)

        yield* Effect.gen(function* () {
          const account = yield* newAccount
          const rule = yield* visibleRule(account)
          const streams = yield* StreamStore
          const matches = yield* MatchStore
          const rules = yield* RuleStore
          const { requests } = yield* Ownership
          const servers = yield* Servers
          const now = rule.createdAt
          const report = {
            stream: { state: "live", detail: "", since: 0, lastEventAt: Option.none(), lastError: Option.none() },
            sync: { comparison: Option.none(), error: Option.none() }
          } as const
          const refused = Effect.fail(new PlatformRefused({ platform: "x", reason: "no", upstream: null }))
          const writes = {
            insert: matches.insert([newMatch(rule.id)], progress),
            "insert without matches": matches.insert([], progress),
            save: streams.save(progress),
            addDeadLetter: streams.addDeadLetter({
              platform: "x",
              platformPostId: "1",
              at: 1,
              reason: "r",
              payload: ""
            }),
            saveComparison: rules.saveComparison("x", now),
            fail: rules.fail(rule.id, "x", { reason: "r", lostSince: now, at: now }),
            restore: rules.restore(rule.id, "x", { registered, lostSince: now, at: now }),
            settle: Effect.flatMap(Effect.either(refused), (outcome) => requests.settle(rule.id, "x", outcome)),
            drop: requests.drop(rule.id, "x"),
            report: servers.report("x", report)
          }
          const asOwner = (epoch: number) => Option.some({ ...fence, epoch })
          for (const [name, write] of Object.entries(writes)) {
            const exit = yield* Effect.exit(Effect.provideService(Effect.asVoid(write), CurrentFence, asOwner(0)))
            assert.isTrue(Exit.isInterrupted(exit), `${name} with an old epoch`)
          }
          assert.isTrue(Option.isNone(yield* streams.load("x")), "nothing was written")
          yield* Deferred.await(ended)
          for (const [name, write] of Object.entries(writes)) {
            const exit = yield* Effect.exit(
              Effect.provideService(Effect.asVoid(write), CurrentFence, asOwner(fence.epoch))
            )
            assert.isTrue(Exit.isSuccess(exit), `${name} with the current epoch`)
          }
        }).pipe(Effect.provide(context))
      }),
    240_000
  )
})

describe("The owner of some work", () => {
  it.scopedLive(
    "keeps its name after its server has stopped, until another one takes over",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const started = yield* Deferred.make<void>()
        yield* Effect.gen(function* () {
          const { own } = yield* Ownership
          yield* own("stream/x", Effect.zipRight(Deferred.succeed(started, undefined), Effect.never))
          yield* Deferred.await(started)
        }).pipe(Effect.scoped, Effect.provide(serverLayer(url, "first")))
        yield* Effect.gen(function* () {
          const { list, ownerOf } = yield* Servers
          assert.deepInclude(Option.getOrThrow(yield* ownerOf("stream/x")), { server: "first", isAlive: false })
          assert.deepStrictEqual(yield* list, [])
        }).pipe(Effect.provide(Layer.provide(stores.layer, postgres.layerWith({ url }))))
      }),
    240_000
  )
})

describe("A newer migration", () => {
  it.scopedLive(
    "ends all ownership of this server if it is not additive",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const context = yield* Layer.build(serverLayer(url, "older"))
        const { own, ifOwner, outdated } = Context.get(context, Ownership)
        const { list } = Context.get(context, Servers)
        const running = new Set<string>()
        const work = (name: string) =>
          own(
            name,
            Effect.acquireUseRelease(
              Effect.sync(() => running.add(name)),
              () => Effect.never,
              () => Effect.sync(() => running.delete(name))
            )
          )
        const migrated = (id: number, additive: boolean) =>
          Effect.flatMap(
            SqlClient,
            (sql) =>
              sql`insert into earshot_migrations (migration_id, name, additive) values (${id}, 'future', ${additive})`
          )
        yield* Effect.gen(function* () {
          yield* work("stream/x")
          yield* until("x runs", () => running.has("stream/x"))

          yield* migrated(99, true)
          yield* work("stream/y")
          yield* until("y runs", () => running.has("stream/y"))
          yield* Effect.sleep("3 seconds")
          assert.isFalse(yield* Deferred.isDone(outdated))
          assert.deepStrictEqual([...running], ["stream/x", "stream/y"])

          yield* migrated(100, false)
          const error = yield* Effect.flip(Deferred.await(outdated))
          assert.match(
            error.message,
            /"here": a newer version .* has changed its schema\. Start that version or a later/
          )
          yield* until("none runs", () => running.size === 0)
          assert.isTrue(Option.isNone(yield* ifOwner("stream/x", Effect.void)))
          yield* untilTrue(
            "the server is gone",
            Effect.map(list, (servers) => servers.length === 0)
          )
          yield* work("stream/z")
          yield* Effect.sleep("3 seconds")
          assert.deepStrictEqual([...running], [])
          assert.deepStrictEqual(yield* list, [])
        }).pipe(Effect.provide(context), Effect.provide(postgres.layerWith({ url })))
      }),
    240_000
  )

  it.scopedLive(
    "is noticed before a server becomes the owner",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const context = yield* Layer.build(serverLayer(url, "older"))
        const { own, outdated } = Context.get(context, Ownership)
        let starts = 0
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* sql`insert into earshot_migrations (migration_id, name) values (99, 'future')`
          yield* own(
            "stream/x",
            Effect.zipRight(
              Effect.sync(() => starts++),
              Effect.never
            )
          )
          yield* Effect.exit(Deferred.await(outdated))
          yield* Effect.sleep("2 seconds")
          assert.strictEqual(starts, 0)
          assert.deepStrictEqual(yield* sql`select * from owners`, [])
        }).pipe(Effect.provide(context), Effect.provide(postgres.layerWith({ url })))
      }),
    240_000
  )
})

describe("ifOwner", () => {
  it.scopedLive(
    "ends with none when the owner was replaced, without stopping its caller",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        const context = yield* Layer.build(serverLayer(url, "only"))
        const { own, ifOwner } = Context.get(context, Ownership)
        const started = yield* Deferred.make<void>()
        const work = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
        assert.isTrue(Option.isNone(yield* ifOwner("stream/x", Effect.void)), "before it is the owner")
        yield* Effect.provide(own("stream/x", work), context)
        yield* Deferred.await(started)
        yield* Effect.gen(function* () {
          const rules = yield* RuleStore
          const compared = ifOwner("stream/x", rules.saveComparison("x", at(1)))
          assert.isTrue(Option.isSome(yield* compared))
          yield* (yield* SqlClient)`update owners set epoch = epoch + 1`
          assert.isTrue(Option.isNone(yield* compared))
          assert.isTrue(Option.isNone(yield* compared))
        }).pipe(Effect.provide(context), Effect.provide(postgres.layerWith({ url })))
      }),
    240_000
  )
})

describe("Ownership.requests", () => {
  it.scopedLive(
    "hand the activated texts out in the order in which they become visible",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryDatabase
        yield* Effect.gen(function* () {
          const account = yield* newAccount
          const { requests } = yield* Ownership
          const seen = new Set<number>()
          let last = -1
          const read = Effect.gen(function* () {
            for (const { version } of yield* requests.activatedSince("x", last)) {
              assert.isAbove(version, last)
              last = version
              seen.add(version)
            }
          })
          const create = Effect.forEach(Array.from({ length: 20 }), () => visibleRule(account), { concurrency: 5 })
          yield* Effect.raceFirst(create, Effect.forever(Effect.zipRight(read, Effect.sleep("1 millis"))))
          yield* read
          assert.strictEqual(seen.size, 20)
        }).pipe(Effect.provide(serverLayer(url, "only")))
      }),
    240_000
  )
})

// ---- helpers ----

const registered = { platformRuleId: "1", translatedValue: "t" }

const progress = {
  platform: "x",
  ledger: { ...newLedger, watchedSince: Option.some(1), watchedUntil: 2 },
  gaps: [],
  recovered: [],
  cursor: Option.none(),
  batch: 1
} as const

const serverLayer = (url: Redacted.Redacted, name: string) =>
  Layer.provide(
    Layer.merge(stores.layer, SqlOwnership.layerWith({ name, version: "1", location: "here" })),
    postgres.layerWith({ url })
  )

const until = (what: string, holds: () => boolean) => untilTrue(what, Effect.sync(holds))
