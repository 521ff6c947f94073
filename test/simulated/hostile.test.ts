/** Coverage against an X that breaks its promises: the simulator knows each post and the rules that it meets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seeded } from "../../adapters/demo/random.ts"
import { sized } from "../long.ts"
import { judge } from "./coverage.ts"
import { Day } from "./day.ts"
import { planHostile } from "./plan.ts"
import { withService } from "./service.ts"

/** Enough for a busy machine. */
const TIMEOUT_MILLIS = 3_600_000

const FIRST_SEED = 1_000
const SEEDS = sized(1, 100)

describe("coverage of a hostile X", () => {
  it(
    "has a gap for each post that is not stored, and no post is missing in a recovered gap, for any seed",
    async () => {
      const total = { pairs: 0, inGaps: 0, missedInGaps: 0 }
      const problems: Array<string> = []
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
        const verdict = await Effect.runPromise(hostileHours(seed))
        problems.push(
          ...verdict.missedOutsideGaps.map((pair) => `seed ${seed}: ${pair} is missing outside of gaps`),
          ...verdict.missedInRecovered.map((pair) => `seed ${seed}: ${pair} is missing in a recovered gap`)
        )
        for (const key of ["pairs", "inGaps", "missedInGaps"] as const) total[key] += verdict[key]
      }
      const { pairs, inGaps, missedInGaps } = total
      const share = (missedInGaps / inGaps).toFixed(2)
      console.log(`${SEEDS} seeds, ${pairs} posts for rules, ${inGaps} in gaps; ${share} of those were missed`)
      assert.deepStrictEqual(problems, [])
    },
    TIMEOUT_MILLIS
  )
})

// ---- helpers ----

const hostileHours = (seed: number) => {
  const random = seeded(seed)
  const settings = {
    x: {
      tier: random.pick(["enterprise", "enterprise", "pay-per-use"] as const),
      connection_cap: 1,
      rule_delay_seconds: random.below(16),
      late_posts_percent: random.pick([0, 10, 100]),
      late_seconds: 1 + random.below(6)
    }
  }
  return withService(
    seed,
    (service) =>
      Effect.gen(function* () {
        const hours = 0.3
        const day = new Day(service)
        const plan = planHostile(seed, { hours, events: 300, faults: 14, changes: 4 })
        yield* day.runFaulty(plan, { hours, secondsAfter: 120 })
        return judge(day)
      }),
    { settings }
  )
}
