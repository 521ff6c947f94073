/** A simulated day of the whole service (five hours in the short form): thousands of events, hundreds of faults. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isLong, sized } from "../long.ts"
import { matchProblems, ruleProblems, unfiredFaults } from "./checks.ts"
import { judge } from "./coverage.ts"
import { Day } from "./day.ts"
import { limitViolations } from "./limits.ts"
import { planDay } from "./plan.ts"
import { withService } from "./service.ts"

const SEED = 1

const HOURS = sized(5, 24)

/** Of the runs that are compared with each other. */
const SAME_HOURS = sized(0.2, HOURS)

/** Enough for a busy machine. */
const TIMEOUT_MILLIS = 1_800_000

const runDay = (seed: number, hours: number) =>
  withService(seed, (service) =>
    Effect.gen(function* () {
      const startedAt = performance.now()
      const day = new Day(service)
      const plan = planDay(seed, { hours, events: hours * 208, faults: hours * 15, changes: hours * 6 })
      yield* day.runFaulty(plan, { hours, secondsAfter: 60 })
      const state = yield* service.control.state
      const platforms = yield* service.platforms.all
      const statuses = yield* Effect.all(platforms.map(({ status }) => status))
      return {
        day,
        state,
        seconds: (performance.now() - startedAt) / 1_000,
        log: service.log,
        streams: statuses.map((status) => status.state),
        coverage: judge(day),
        matchProblems: matchProblems(day, service.traffic),
        ruleProblems: yield* ruleProblems(day, service)
      }
    })
  )

describe("a simulated day", () => {
  let result: Effect.Effect.Success<ReturnType<typeof runDay>>

  beforeAll(async () => {
    result = await Effect.runPromise(runDay(SEED, HOURS))
  }, TIMEOUT_MILLIS)

  it("has thousands of matching events, and every kind of fault fires on each platform", () => {
    const { day, state, seconds } = result
    const matching = day.events.filter(({ expectedRules }) => expectedRules.length > 0).length
    const stored = day.rules.reduce((sum, rule) => sum + rule.stored.length, 0)
    console.log(
      `${seconds.toFixed(1)} s, ${day.events.length} events (${matching} matching), ${stored} matches, ` +
        `${day.faults.length} faults, ${day.rules.length} rules, ${state.connection_attempts.length} connects`
    )
    assert.isAbove(matching, HOURS * 160)
    assert.isAbove(stored, HOURS * 160)
    assert.isAtLeast(day.faults.length, HOURS * 12)
    assert.deepStrictEqual(unfiredFaults(state), [])
  })

  it("stores each intact event exactly once per rule, and misses no undamaged Firehose event", () => {
    assert.deepStrictEqual(result.matchProblems, [])
  })

  it("stores each event that a rule meets, or has a gap of that rule for its time", () => {
    const { pairs, missedOutsideGaps, inGaps, missedInGaps } = result.coverage
    console.log(`${pairs} events for rules, ${inGaps} in gaps, ${missedInGaps} of them missing`)
    assert.deepStrictEqual(missedOutsideGaps, [])
  })

  it("ends with both streams live, all rules registered, and other clients' rules untouched", () => {
    assert.deepStrictEqual(result.streams, ["live", "live"])
    assert.deepStrictEqual(result.ruleProblems, [])
  })

  it("never exceeds the platforms' limits", () => {
    assert.deepStrictEqual(limitViolations(result.state), [])
  })

  it("keeps matching a rule after another rule with the same text on X is deleted", () => {
    const { day } = result
    const kept = day.survivors.filter(({ rule, since }) =>
      day.events.some(({ name, at }) => name.startsWith("x ") && at > since && rule.stored.includes(name))
    )
    assert.isAbove(kept.length, HOURS / 3)
  })

  it.live(
    "gives the same log for the same seed, and a different log for another seed",
    () =>
      Effect.gen(function* () {
        const first = isLong ? result : yield* runDay(SEED, SAME_HOURS)
        const again = yield* runDay(SEED, SAME_HOURS)
        assert.deepStrictEqual(again.log, first.log)
        const other = yield* runDay(SEED + 1, 0.2)
        assert.notDeepEqual(other.log.slice(0, 50), first.log.slice(0, 50))
      }),
    TIMEOUT_MILLIS
  )
})
