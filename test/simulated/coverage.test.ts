/** What coverage claims, against what the simulator published: nothing is missed outside of gaps, and no gap is false. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seeded } from "../../adapters/demo/random.ts"
import { PLATFORM_IDS } from "../../fixtures/languages.ts"
import { sized } from "../long.ts"
import { judge } from "./coverage.ts"
import { Day } from "./day.ts"
import { type PlannedAction, planDay } from "./plan.ts"
import { withService } from "./service.ts"

/** Enough for a busy machine. */
const TIMEOUT_MILLIS = 3_600_000

const SEEDS = sized(1, 200)

const HOUR = 3_600_000

describe("coverage", () => {
  it.live(
    "has a gap for every event that a rule meets and that is not stored, for any seed",
    () =>
      Effect.gen(function* () {
        const total = { pairs: 0, inGaps: 0, missedInGaps: 0 }
        for (let seed = 100; seed < 100 + SEEDS; seed++) {
          const verdict = yield* faultyHours(seed)
          assert.deepStrictEqual(verdict.missedOutsideGaps, [], `seed ${seed}`)
          for (const key of ["pairs", "inGaps", "missedInGaps"] as const) total[key] += verdict[key]
        }
        const { pairs, inGaps, missedInGaps } = total
        const share = (missedInGaps / inGaps).toFixed(2)
        console.log(`${pairs} events for rules, none missed outside of gaps; ${share} of ${inGaps} in gaps were missed`)
      }),
    TIMEOUT_MILLIS
  )

  it.live("is complete for events from before the platform lost its rules that come after it", () =>
    Effect.gen(function* () {
      const { rules, verdict } = yield* outcomeOf([
        {
          type: "fault",
          fault: { kind: "server-error", platform, endpoint: "stream", seconds: 120, status: 503 },
          at: 1_000
        },
        { type: "fault", fault: { kind: "close", platform }, at: 2_000 },
        { type: "event", platform, topics: ["ember"], at: 10_000 },
        { type: "fault", fault: { kind: "drop-rules", platform }, at: 60_000 }
      ])
      assert.deepStrictEqual(rules[0]?.stored, ["firehose 43000"])
      assert.deepStrictEqual(verdict.missedOutsideGaps, [])
    })
  )

  it.live("does not count a silent connection to Firehose as watched", () =>
    Effect.gen(function* () {
      const { rules, verdict } = yield* outcomeOf([
        { type: "event", platform, topics: ["ember"], at: 1_000 },
        { type: "fault", fault: { kind: "stall", platform, keep_alives: false }, at: 30_000 },
        { type: "event", platform, topics: ["ember"], at: 40_000 },
        { type: "delete", owner: "ann", at: 120_000 }
      ])
      assert.deepStrictEqual(rules[0]?.stored, ["firehose 43000"])
      assert.deepStrictEqual(verdict, {
        pairs: 1,
        missedOutsideGaps: [],
        missedInRecovered: [],
        inGaps: 0,
        missedInGaps: 0
      })
    })
  )

  it.live(
    "has no gap in a day with bursts and a quiet night",
    () =>
      Effect.gen(function* () {
        const { events, gaps, suspected } = yield* quietDay
        assert.isAbove(events, 50)
        assert.deepStrictEqual(gaps, [])
        assert.deepStrictEqual(suspected, [])
      }),
    TIMEOUT_MILLIS
  )
})

// ---- helpers ----

const faultyHours = (seed: number) =>
  withService(seed, (service) =>
    Effect.gen(function* () {
      const hours = sized(1, 2)
      const day = new Day(service)
      const plan = planDay(seed, { hours, events: hours * 300, faults: hours * 15, changes: hours * 6 })
      yield* day.runFaulty(plan, { hours, secondsAfter: 120 })
      return judge(day)
    })
  )

const platform = "firehose"

/** After ten more minutes. The first rule is of ann. */
const outcomeOf = (actions: ReadonlyArray<PlannedAction>) =>
  withService(7, (service) =>
    Effect.gen(function* () {
      const day = new Day(service)
      yield* day.start(["ember"])
      yield* day.run(actions)
      yield* service.clock.advance(600)
      yield* day.finish
      return { rules: day.rules, verdict: judge(day) }
    })
  )

/** Bursts by day, nothing at night, no faults. */
const quietDay = withService(7, (service) =>
  Effect.gen(function* () {
    const day = new Day(service)
    const hours = sized(2, 24)
    const random = seeded(7)
    const bursts = Array.from({ length: 12 }, () => random.below((hours / 2) * HOUR))
    const actions = bursts.flatMap((start) =>
      Array.from({ length: 6 }, (_, number): PlannedAction => {
        const platform = random.pick(PLATFORM_IDS)
        return { type: "event", platform, topics: ["amber"], at: start + number * 900 + random.below(800) }
      })
    )
    yield* day.start(["amber"])
    yield* day.run(actions.toSorted((a, b) => a.at - b.at))
    yield* service.clock.advanceTo(service.clock.unsafeCurrentTimeMillis() + (hours / 2) * HOUR)
    const all = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000 }
    const found = (yield* Effect.forEach(PLATFORM_IDS, (platform) => service.streams.gaps(platform, all))).flat()
    return {
      events: day.events.length,
      gaps: found.filter(({ cause, isSuspected }) => !isSuspected && cause !== "no_rules"),
      suspected: found.filter(({ isSuspected }) => isSuspected)
    }
  })
)
