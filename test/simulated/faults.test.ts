/** Property test: under any schedule of faults, the service stays within limits and recovers. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { seeded } from "../../adapters/demo/random.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import type { FaultRequest } from "../../simulator/faults.ts"
import { sized } from "../long.ts"
import { matchProblems, ruleProblems } from "./checks.ts"
import { Day } from "./day.ts"
import { limitViolations } from "./limits.ts"
import { kindsOf, type PlannedAction, randomFault } from "./plan.ts"
import { START, withService } from "./service.ts"

/** Enough for a busy machine. */
const TIMEOUT_MILLIS = 1_800_000

it(
  "the service exceeds no limit under any faults, and both streams recover in time",
  () =>
    fc.assert(
      fc.asyncProperty(schedules(), (schedule) =>
        Effect.runPromise(problemsAfter(schedule)).then((problems) => assert.deepStrictEqual(problems, []))
      ),
      { numRuns: sized(5, 40) }
    ),
  TIMEOUT_MILLIS
)

// ---- helpers ----

/** Short, so that faults overlap. */
const FAULT_PERIOD_SECONDS = 900

interface ScheduledFault {
  /** In seconds. */
  readonly at: number
  readonly fault: FaultRequest
  /** Also closes the stream: most faults affect only new connections, and X's stream could stay open all day. */
  readonly closes: boolean
}

const problemsAfter = (schedule: ReadonlyArray<ScheduledFault>) =>
  withService(1, (service) =>
    Effect.gen(function* () {
      const { clock, control, platforms, traffic } = service
      const faults = schedule.flatMap(({ at, fault, closes }): ReadonlyArray<PlannedAction> => {
        const { platform } = fault
        const planned = { type: "fault", at: at * 1_000, fault } as const
        return closes ? [planned, { ...planned, fault: { kind: "close", platform } }] : [planned]
      })
      const end = Math.max(FAULT_PERIOD_SECONDS, ...schedule.map(({ at, fault }) => at + (fault.seconds ?? 0)))
      const deadlines = PLATFORM_IDS.map((id) => ({ id, at: end + recoverySeconds(id, schedule) })).toSorted(byTime)
      const recovered = Math.max(...deadlines.map(({ at }) => at))
      const events = eventEveryHalfMinute(recovered)
      const between = (from: number, to: number) => events.filter(({ at }) => at > from * 1_000 && at <= to * 1_000)
      const day = new Day(service)

      yield* day.start(["amber"])
      yield* day.run([...faults, ...between(0, end)].toSorted(byTime))
      yield* clock.advanceTo(START + end * 1_000)
      yield* day.clearFaults
      const notLive: Array<string> = []
      let reached = end
      for (const { id, at } of deadlines) {
        yield* day.run(between(reached, at))
        yield* clock.advanceTo(START + at * 1_000)
        const { state, detail } = yield* (yield* platforms.get(id)).status
        if (state !== "live") notLive.push(`${id} is ${state} ${at - end} s after the last fault: ${detail}`)
        reached = at
      }
      const finalEvents = [
        { type: "event", platform: "x", topics: ["amber"], at: (recovered + 1) * 1_000 },
        { type: "event", platform: "firehose", topics: ["amber"], at: (recovered + 2) * 1_000 }
      ] as const
      yield* day.run(finalEvents)
      yield* clock.advance(1)
      yield* day.finish
      const [ann] = day.rules
      const missing = day.events.slice(-finalEvents.length).filter(({ name }) => ann?.stored.includes(name) !== true)
      return [
        ...notLive,
        ...missing.map(({ name }) => `${name} was published after all faults and is not stored`),
        ...matchProblems(day, traffic),
        ...(yield* ruleProblems(day, service)),
        ...limitViolations(yield* control.state)
      ]
    })
  )

/** In seconds. */
const X_MAX_BACKOFF = 320
const X_WINDOW = 900
const FIREHOSE_MAX_BACKOFF = 300
const FIREHOSE_STALL_TIMEOUT = 360
const RECONCILE_INTERVAL = 120

/**
 * The longest time a stream may be down after the last fault: the maximum backoff (longer on X after a 429), a rate-limit
 * reset, a held slot or a stall that is still active, and the next reconciliation of rules.
 */
const recoverySeconds = (platform: PlatformId, schedule: ReadonlyArray<ScheduledFault>): number => {
  const faults = schedule.map(({ fault }) => fault).filter((fault) => fault.platform === platform)
  const longest = (seconds: (fault: FaultRequest) => number) => Math.max(0, ...faults.map(seconds))
  const reset = longest((fault) => (fault.kind === "rate-limit" ? Math.max(60, fault.reset_seconds) : 0))
  if (platform === "firehose") {
    const stalled = longest(({ kind }) => (kind === "stall" ? FIREHOSE_STALL_TIMEOUT : 0))
    return FIREHOSE_MAX_BACKOFF + RECONCILE_INTERVAL + reset + stalled
  }
  const limited = longest(({ kind }) => (["rate-limit", "hold-slot", "lower-caps"].includes(kind) ? X_WINDOW : 0))
  const held = longest((fault) => (fault.kind === "hold-slot" ? fault.hold_seconds : 0))
  const stalled = longest((fault) => (fault.kind === "stall" ? (fault.stall_seconds ?? 0) : 0))
  return X_MAX_BACKOFF + RECONCILE_INTERVAL + Math.max(limited, reset) + held + stalled
}

/** Few kinds per schedule, so that the same kinds overlap often. */
const schedules = (): fc.Arbitrary<ReadonlyArray<ScheduledFault>> =>
  fc
    .constantFrom<ReadonlyArray<PlatformId>>(["x"], ["firehose"], PLATFORM_IDS)
    .map((platforms) => platforms.flatMap((platform) => kindsOf(platform).map((kind) => ({ platform, kind }))))
    .chain((all) => fc.subarray(all, { minLength: 1, maxLength: 5 }))
    .chain((some) => fc.array(scheduledFault(some), { minLength: 1, maxLength: 12, size: "max" }))

/** An endless stall on X with keep-alives: the time to detect it depends on the rate of posts. */
const isHiddenStall = (fault: FaultRequest): boolean =>
  fault.kind === "stall" && fault.platform === "x" && fault.keep_alives && fault.stall_seconds === undefined

const scheduledFault = (kinds: ReadonlyArray<Pick<FaultRequest, "platform" | "kind">>): fc.Arbitrary<ScheduledFault> =>
  fc
    .record({
      at: fc.integer({ min: 0, max: FAULT_PERIOD_SECONDS }),
      of: fc.constantFrom(...kinds),
      seed: fc.nat(),
      closes: fc.boolean()
    })
    .map(({ at, of, seed, closes }) => ({
      at,
      fault: randomFault(seeded(seed), of.kind, of.platform === "x" ? "x" : "firehose"),
      closes
    }))
    .filter(({ fault }) => !isHiddenStall(fault))

const eventEveryHalfMinute = (untilSecond: number): ReadonlyArray<PlannedAction> =>
  Array.from({ length: Math.floor(untilSecond / 30) }, (_, index) => ({
    type: "event",
    platform: index % 2 === 0 ? "x" : "firehose",
    topics: ["amber"],
    // Faults occur at whole seconds.
    at: (index + 1) * 30_000 + 500
  }))

const byTime = (a: { readonly at: number }, b: { readonly at: number }): number => a.at - b.at
