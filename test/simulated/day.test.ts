/** Hours of the whole service in seconds, a day in the long form: two platforms, thousands of events, hundreds of faults. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isLong, sized } from "../long.ts"
import { Day } from "./day.ts"
import { unfired, wrongMatches, wrongRules } from "./judgement.ts"
import { badManners } from "./manners.ts"
import { LASTING_TOPICS, planOfDay } from "./plan.ts"
import { withService } from "./service.ts"

const SEED = 1

const HOURS = sized(5, 24)

/** Milliseconds, on the busiest of machines. */
const A_HANG = 600_000

const dayOf = (seed: number, hours: number) =>
  withService(seed, (service) =>
    Effect.gen(function* () {
      const began = performance.now()
      const day = new Day(service)
      const end = hours * 3_600_000
      const plan = planOfDay(seed, { hours, events: hours * 208, faults: hours * 15, changes: hours * 6 })
      yield* day.begin(LASTING_TOPICS)
      yield* day.play(plan.filter(({ at }) => at <= end))
      yield* day.clear
      yield* day.play(plan.filter(({ at }) => at > end))
      yield* service.clock.pass(60)
      yield* day.end
      const state = yield* service.control.state
      const platforms = yield* service.platforms.all
      const statuses = yield* Effect.all(platforms.map(({ status }) => status))
      return {
        day,
        state,
        seconds: (performance.now() - began) / 1_000,
        log: service.log,
        streams: statuses.map((status) => status.state),
        wrongMatches: wrongMatches(day, service.wire),
        wrongRules: yield* wrongRules(day, service)
      }
    })
  )

describe("A simulated day", () => {
  let one: Effect.Effect.Success<ReturnType<typeof dayOf>>

  beforeAll(async () => {
    one = await Effect.runPromise(dayOf(SEED, HOURS))
  }, A_HANG)

  it("has thousands of events that meet rules, and hundreds of faults, of every kind on each platform", () => {
    const { day, state, seconds } = one
    const met = day.events.filter(({ due }) => due.length > 0).length
    const stored = day.rules.reduce((sum, rule) => sum + rule.stored.length, 0)
    console.log(
      `${seconds.toFixed(1)} s, ${day.events.length} events of which ${met} met rules, ${stored} matches, ` +
        `${day.faults.length} faults, ${day.rules.length} rules, ${state.connection_attempts.length} connects`
    )
    assert.isAbove(met, HOURS * 160)
    assert.isAbove(stored, HOURS * 160)
    assert.isAtLeast(day.faults.length, HOURS * 12)
    assert.deepStrictEqual(unfired(state), [])
  })

  it("stores what came whole once for each rule, and nothing else; Firehose brings all that was not damaged", () => {
    assert.deepStrictEqual(one.wrongMatches, [])
  })

  it("ends with both streams live, and platforms that hold what the store wants, and all that is someone else's", () => {
    assert.deepStrictEqual(one.streams, ["live", "live"])
    assert.deepStrictEqual(one.wrongRules, [])
  })

  it("never asks more of a platform than it allows", () => {
    assert.deepStrictEqual(badManners(one.state), [])
  })

  it("keeps the matches of a rule coming when another one with the same text on X is deleted", () => {
    const { day } = one
    const kept = day.survivors.filter(({ rule, since }) =>
      day.events.some(({ name, at }) => name.startsWith("x ") && at > since && rule.stored.includes(name))
    )
    assert.isAbove(kept.length, HOURS / 3)
  })

  it.live(
    "gives the same log again for the same seed, and another for another",
    () =>
      Effect.gen(function* () {
        const first = isLong ? one : yield* dayOf(SEED, 1)
        const again = yield* dayOf(SEED, sized(1, HOURS))
        assert.deepStrictEqual(again.log, first.log)
        const other = yield* dayOf(SEED + 1, 1)
        assert.notDeepEqual(other.log.slice(0, 50), first.log.slice(0, 50))
      }),
    A_HANG
  )
})
