/** The coverage for live readers: reported when its gaps change, with one read for all readers of the same rules. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import type { Coverage } from "../../../core/coverage/Coverage.ts"
import { makeCoverageChanges } from "../../../core/coverage/coverageChanges.ts"
import { StoreUnavailable } from "../../../core/model/Errors.ts"
import { fromMillis } from "../../../core/model/Timestamp.ts"
import { ann, bob } from "../world.ts"

const at = fromMillis(0)

describe("coverageChanges", () => {
  it.scoped("2,000 readers of one account share one read per second, apart from those of another account", () =>
    Effect.gen(function* () {
      const reads: Array<string> = []
      const changes = makeCoverageChanges(({ account }) =>
        Effect.sync(() => {
          reads.push(account)
          return () => ({ to: at, platforms: [] })
        })
      )
      const joined = yield* Effect.forEach([...Array.from({ length: 2_000 }, () => ann), bob], (account) =>
        changes({ account, rule: Option.none(), platforms: ["x"] }, 0)
      )
      const readers = joined.map(({ changed }) => changed)
      yield* Effect.all(readers, { concurrency: "unbounded" })
      assert.deepStrictEqual(reads, [ann, bob])
      assert.isFalse(joined.some(({ isDue }) => isDue()))
      yield* TestClock.adjust("4 seconds")
      yield* Effect.all(readers, { concurrency: "unbounded" })
      assert.deepStrictEqual(reads, [ann, bob, ann, bob])
    })
  )

  it.scoped("reports nothing while the store is down, and what changed meanwhile after that", () =>
    Effect.gen(function* () {
      let isDown = true
      const gaps = [{ from: at, cause: "outage", detail: "", recovered: false }] as const
      const coverage: Coverage = { to: at, platforms: [{ platform: "x", gaps, more_gaps: false, suspected: [] }] }
      const changes = makeCoverageChanges(() =>
        Effect.suspend(() =>
          isDown ? new StoreUnavailable({ operation: "read", cause: "down" }) : Effect.succeed(() => coverage)
        )
      )
      const { changed } = yield* changes({ account: ann, rule: Option.none(), platforms: ["x"] }, 0)
      assert.isTrue(Option.isNone(yield* changed))
      isDown = false
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(Option.getOrNull(yield* changed), coverage)
      yield* TestClock.adjust("4 seconds")
      assert.isTrue(Option.isNone(yield* changed))
    })
  )
})
