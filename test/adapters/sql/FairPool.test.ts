import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Fiber } from "effect"
import { FairQueue } from "../../../adapters/sql/FairPool.ts"
import { asActor } from "../../../core/keys/Key.ts"
import { AccountId } from "../../../core/model/Ids.ts"
import { pgliteClient } from "../../stores.ts"

describe("FairQueue", () => {
  it("serves the one that has used the least time", () => {
    const queue = new FairQueue<string>(1)
    for (const item of ["a1", "a2", "a3"]) queue.add("a", item)
    for (const item of ["b1", "b2", "b3", "b4"]) queue.add("b", item)
    const use = { a: 10, b: 4 }
    assert.deepStrictEqual(served(queue, use, 7), ["a1", "b1", "b2", "b3", "a2", "b4", "a3"])
  })

  it("one that was away does not catch up", () => {
    const queue = new FairQueue<string>(1)
    const use = { a: 100, b: 100 }
    queue.add("b", "b1")
    for (let i = 1; i <= 10; i++) queue.add("a", `a${i}`)
    assert.deepStrictEqual(served(queue, use, 6), ["b1", "a1", "a2", "a3", "a4", "a5"])
    for (let i = 2; i <= 4; i++) queue.add("b", `b${i}`)
    assert.deepStrictEqual(served(queue, use, 6), ["b2", "a6", "b3", "a7", "b4", "a8"])
  })

  it("lets one account run a few at once, and the service as many as it wants", () => {
    const queue = new FairQueue<string>(2)
    for (const account of ["", "a", "b"]) for (let i = 1; i <= 3; i++) queue.add(account, `${account}${i}`)
    const taken = Array.from({ length: 8 }, () => queue.take()?.item)
    assert.sameMembers(taken, ["1", "2", "3", "a1", "a2", "b1", "b2", undefined])
    queue.end("b", 1)
    assert.deepStrictEqual(queue.take(), { account: "b", item: "b3" })
  })

  it("returns nothing when nobody waits", () => {
    assert.isUndefined(new FairQueue(1).take())
  })
})

describe("FairPool", () => {
  it.scopedLive("statements that follow each other are not overtaken by those that another account has queued", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const done: Array<string> = []
      const statement = (name: string) =>
        Effect.map(sql`select count(*) from generate_series(1, 20000)`, () => done.push(name))
      const flood = yield* Effect.forEach(Arr.range(1, 30), () => as("flood", Effect.fork(statement("flood"))))
      yield* as(
        "other",
        Effect.forEach(Arr.range(1, 3), () => statement("other"))
      )
      const before = done.filter((name) => name === "flood").length
      yield* Fiber.joinAll(flood)
      assert.isBelow(before, 10)
      assert.lengthOf(done, 33)
    }).pipe(Effect.provide(pgliteClient))
  )

  it.scopedLive("a failed statement and an interrupted one give the connection back", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* Effect.flip(sql`select no_such_column`)
      const running = yield* Effect.fork(sql`select count(*) from generate_series(1, 300000)`)
      const waiting = yield* Effect.fork(sql`select 2`)
      yield* Effect.yieldNow()
      yield* Fiber.interruptAll([waiting, running])
      assert.deepStrictEqual(yield* sql`select 1 as one`, [{ one: 1 }])
      yield* Effect.flip(sql.withTransaction(Effect.zipRight(sql`select 1`, sql`select no_such_column`)))
      assert.deepStrictEqual(yield* sql`select 1 as one`, [{ one: 1 }])
    }).pipe(Effect.provide(pgliteClient))
  )
})

// ---- helpers ----

/** Takes items. `use`: how long an item of the account uses the connection. */
function served(queue: FairQueue<string>, use: Record<string, number>, count: number): ReadonlyArray<string> {
  return Array.from({ length: count }, () => {
    const next = queue.take()
    if (next === undefined) return "nothing"
    queue.end(next.account, use[next.account] ?? 0)
    return next.item
  })
}

const as = <A, E, R>(account: keyof typeof ACCOUNTS, effect: Effect.Effect<A, E, R>) =>
  asActor({ account: ACCOUNTS[account], scope: "admin" }, effect)

const ACCOUNTS = {
  flood: AccountId.make("acct_01arz3ndektsv4rrffq69g5fav"),
  other: AccountId.make("acct_01arz3ndektsv4rrffq69g5faw")
}
