import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import type { LiveReader } from "../../core/matches/LiveMatches.ts"
import { type Done, makePuller, type Puller } from "../../gateway/http/puller.ts"

describe("makePuller", () => {
  it.effect("pull skips empty reads, and gives the values that come later", () =>
    Effect.gen(function* () {
      const source = makeSource([[], ["a", "b"], [], ["c"]])
      const puller = yield* makePuller(source.open, Effect.void)
      const pulled = collect(puller)
      assert.deepStrictEqual(pulled, [])
      source.wake()
      assert.deepStrictEqual(pulled, [])
      source.wake()
      assert.deepStrictEqual(pulled, [["a", "b"]])
      puller.pull((exit) => pulled.push(Exit.getOrElse(exit, () => [])))
      source.wake()
      source.wake()
      assert.deepStrictEqual(pulled, [["a", "b"], ["c"]])
      assert.isTrue(source.isOpen())
    })
  )

  it.effect("pull gives what is queued without a read", () =>
    Effect.gen(function* () {
      const queued: Array<string> = []
      const source = makeSource([["read"]], queued)
      const puller = yield* makePuller(source.open, Effect.void)
      const pulled = collect(puller)
      queued.push("a", "b")
      source.wake()
      assert.deepStrictEqual(pulled, [["a", "b"]])
      puller.pull((exit) => pulled.push(Exit.getOrElse(exit, () => [])))
      source.wake()
      assert.deepStrictEqual(pulled, [["a", "b"], ["read"]])
    })
  )

  it.effect("close ends a pull that waits, releases the source once, and reads nothing more", () =>
    Effect.gen(function* () {
      const source = makeSource([["late"]])
      const puller = yield* makePuller(source.open, Effect.void)
      const exits = collectExits(puller)
      puller.close()
      puller.close()
      source.wake()
      yield* Effect.yieldNow()
      assert.deepStrictEqual(exits.map(Exit.isInterrupted), [true])
      assert.deepStrictEqual([source.isOpen(), source.released()], [false, 1])
    })
  )

  it.effect("close interrupts a read", () =>
    Effect.gen(function* () {
      const source = makeSource([])
      const isRead = yield* Deferred.make<void>()
      const endless = Effect.map(
        source.open,
        ({ onReady }): LiveReader<string, string> => ({
          read: Effect.zipRight(Deferred.succeed(isRead, undefined), Effect.never),
          takeQueued: () => [],
          onReady
        })
      )
      const puller = yield* makePuller(endless, Effect.void)
      const exits = collectExits(puller)
      source.wake()
      yield* Deferred.await(isRead)
      puller.close()
      while (source.isOpen()) yield* Effect.yieldNow()
      assert.deepStrictEqual(exits.map(Exit.isInterrupted), [true])
    })
  )

  it.effect("a failure reaches the consumer and releases the source", () =>
    Effect.gen(function* () {
      const source = makeSource([])
      const failing = Effect.map(
        source.open,
        ({ onReady }): LiveReader<string, string> => ({ read: Effect.fail("broken"), takeQueued: () => [], onReady })
      )
      const exits = collectExits(yield* makePuller(failing, Effect.void))
      source.wake()
      yield* Effect.yieldNow()
      assert.deepStrictEqual(exits, [Exit.fail("broken")])
      assert.isFalse(source.isOpen())
    })
  )
})

// ---- helpers ----

/** Gives one batch per read. The consumer reads when `wake` is called. */
const makeSource = (batches: ReadonlyArray<ReadonlyArray<string>>, queued: Array<string> = []) => {
  let left = batches
  let opened = 0
  let released = 0
  let wake = () => {}
  const reader: LiveReader<string, string> = {
    read: Effect.sync(() => {
      const [batch = [], ...rest] = left
      left = rest
      return batch
    }),
    takeQueued: () => queued.splice(0),
    onReady: (ready) => {
      wake = ready
    }
  }
  const open = Effect.acquireRelease(
    Effect.sync(() => {
      opened++
      return reader
    }),
    () => Effect.sync(() => released++)
  )
  return { open, wake: () => wake(), isOpen: () => opened > released, released: () => released }
}

/** Pulls once. */
const collectExits = (puller: Puller<string, string>) => {
  const exits: Array<Parameters<Done<string, string>>[0]> = []
  puller.pull((exit) => exits.push(exit))
  return exits
}

const collect = (puller: Puller<string, string>) => {
  const values: Array<ReadonlyArray<string>> = []
  puller.pull((exit) => values.push(Exit.getOrElse(exit, () => [])))
  return values
}
