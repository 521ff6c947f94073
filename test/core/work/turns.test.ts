import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Fiber } from "effect"
import { currentParty, inTurns, nextTurn, roomInTurn, type Turns, turnWithRoom } from "../../../core/work/turns.ts"

const WORKS = 10
const PIECES = 8

describe("inTurns", () => {
  it.live("gives each party a piece before the next one of the same", () =>
    Effect.gen(function* () {
      const done: Array<number> = []
      yield* Effect.all(
        Arr.makeBy(WORKS, (name) => Effect.locally(inTurns(pieces(() => done.push(name))), currentParty, `${name}`)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(done, WORKS * PIECES)
      const rounds = Arr.chunksOf(done.slice(WORKS, -WORKS), WORKS)
      for (const round of rounds) assert.isAtLeast(new Set(round).size, WORKS - 1, done.join(" "))
    })
  )

  it.live("finishes the works of one party in their order", () =>
    Effect.gen(function* () {
      const done: Array<number> = []
      yield* Effect.all(
        Arr.makeBy(WORKS, (name) => inTurns(pieces(() => done.push(name)))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        done,
        [...done].sort((a, b) => a - b)
      )
    })
  )

  it.live("lets a request begin after a few pieces, however much work is waiting", () =>
    Effect.gen(function* () {
      let count = 0
      const works = yield* Effect.forkAll(Arr.makeBy(WORKS, () => inTurns(pieces(() => count++))))
      yield* Effect.promise(nextTurn)
      for (let request = 0; request < 5; request++) {
        yield* Effect.promise(nextTurn)
        const before = count
        yield* Effect.promise(async () => roomInTurn())
        assert.isAtMost(count - before, 2)
      }
      assert.isBelow(count, (WORKS * PIECES) / 2, "the works are not done yet")
      yield* Fiber.join(works)
    })
  )
})

describe("turnWithRoom", () => {
  it.live("gives each of those that ask at the same time a turn of its own", () =>
    Effect.promise(async () => {
      let turn = 0
      let isDone = false
      const counting = (async () => {
        for (; !isDone; turn++) await nextTurn()
      })()
      const turns = await Promise.all(
        Arr.makeBy(WORKS, async () => {
          await turnWithRoom()
          block(5)
          return turn
        })
      )
      isDone = true
      await counting
      assert.lengthOf(new Set(turns), WORKS, turns.join(" "))
    })
  )
})

// ---- helpers ----

/** Each takes as long as one caller may hold the process. */
function* pieces(run: () => void): Turns<void> {
  for (let piece = 0; piece < PIECES; piece++) {
    block(5)
    run()
    yield
  }
}

function block(millis: number): void {
  const end = performance.now() + millis
  while (performance.now() < end);
}
