import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Disk } from "../../../core/disk/Disk.ts"
import { EventRoom } from "../../../core/disk/EventRoom.ts"
import { MatchStore } from "../../../core/matches/MatchStore.ts"
import type { DiskProblem } from "../../../core/model/Errors.ts"
import { AccountId } from "../../../core/model/Ids.ts"

describe("EventRoom", () => {
  it.effect("check refuses smaller and smaller accounts the less space is free, the largest first", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* refusedWith({ free: 100 }), [])
      assert.deepStrictEqual(yield* refusedWith({ free: 99 }), ["large"])
      assert.deepStrictEqual(yield* refusedWith({ free: 50 }), ["large", "middle"])
      assert.deepStrictEqual(yield* refusedWith({ free: 1 }), ["large", "middle", "small"])
    })
  )

  it.effect("check lets an account without matches, and shared events, go on until the disk is full", () =>
    Effect.gen(function* () {
      const room = yield* roomWith({ free: 0 })
      yield* room.check(account("new"))
      yield* room.check(undefined)
      const full = yield* roomWith({ free: 0, problem: "disk_full" })
      for (const sender of [account("new"), undefined]) {
        const failure = yield* Effect.flip(full.check(sender))
        assert.strictEqual(failure._tag === "StoreUnavailable" && failure.reason, "disk_full")
      }
    })
  )
})

// ---- helpers ----

const NAMES = ["large", "middle", "small", "new"] as const

const account = (name: (typeof NAMES)[number]) => AccountId.make(`acct_01m7nyz31nedyvbp9yxy0vsm7${NAMES.indexOf(name)}`)

const USED = { large: 1_000, middle: 500, small: 10 }

const FLOOR = 100

const roomWith = ({ free, problem }: { readonly free: number; readonly problem?: DiskProblem }) => {
  const disk = {
    space: Effect.succeedSome({ total: 1_000, free, floor: FLOOR }),
    problem: Effect.succeed(Option.fromNullable(problem)),
    noteFailure: () => Effect.void,
    location: Option.none()
  }
  const usages = new Map(Object.entries(USED).map(([name, bytes]) => [account(name as "large"), { matches: 1, bytes }]))
  return Effect.provide(
    EventRoom,
    Layer.provide(
      EventRoom.layer,
      Layer.merge(Layer.succeed(Disk, disk), Layer.mock(MatchStore, { usages: Effect.succeed(usages) }))
    )
  )
}

const refusedWith = (given: Parameters<typeof roomWith>[0]) =>
  Effect.gen(function* () {
    const room = yield* roomWith(given)
    const refused: Array<string> = []
    for (const name of NAMES) {
      const result = yield* Effect.either(room.check(account(name)))
      if (result._tag === "Left") refused.push(name)
    }
    return refused
  })
