/** Any schedule of faults: the platforms are never asked for more than they allow, and all is well when the faults end. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { seeded } from "../../adapters/demo/random.ts"
import type { FaultRequest } from "../../adapters/simulator/faults.ts"
import { sized } from "../long.ts"
import { PLATFORM_IDS, type PlatformId } from "../platforms.ts"
import { Day } from "./day.ts"
import { wrongMatches, wrongRules } from "./judgement.ts"
import { badManners } from "./manners.ts"
import { faultOf, kindsOf, type Planned } from "./plan.ts"
import { START, withService } from "./service.ts"

it("Under any faults no platform is asked for more than it allows, and both streams are live again in time", () =>
  fc.assert(
    fc.asyncProperty(schedules(), (schedule) =>
      Effect.runPromise(troubles(schedule)).then((found) => assert.deepStrictEqual(found, []))
    ),
    { numRuns: sized(5, 40) }
  ))

// ---- helpers ----

/** In seconds: close together, so that faults meet. */
const TIME_OF_FAULTS = 900

interface Scheduled {
  /** In seconds. */
  readonly at: number
  readonly fault: FaultRequest
  /** The stream is closed then too: most faults touch only those who connect, and X's stream could go on all day. */
  readonly isClosed: boolean
}

/** What is wrong after these faults and the time that the platforms' manners take to recover from them. */
const troubles = (schedule: ReadonlyArray<Scheduled>) =>
  withService(1, (service) =>
    Effect.gen(function* () {
      const { clock, control, platforms, wire } = service
      const faults = schedule.flatMap(({ at, fault, isClosed }): ReadonlyArray<Planned> => {
        const { platform } = fault
        const planned = { what: "fault", at: at * 1_000, fault } as const
        return isClosed ? [planned, { ...planned, fault: { kind: "close", platform } }] : [planned]
      })
      const end = Math.max(TIME_OF_FAULTS, ...schedule.map(({ at, fault }) => at + (fault.seconds ?? 0)))
      const due = PLATFORM_IDS.map((id) => ({ id, at: end + recoverySeconds(id, schedule) })).toSorted(byTime)
      const recovered = Math.max(...due.map(({ at }) => at))
      const events = everyHalfMinute(recovered)
      const upTo = (from: number, to: number) => events.filter(({ at }) => at > from * 1_000 && at <= to * 1_000)
      const day = new Day(service)

      yield* day.begin(["amber"])
      yield* day.play([...faults, ...upTo(0, end)].toSorted(byTime))
      yield* clock.passTo(START + end * 1_000)
      yield* day.clear
      const down: Array<string> = []
      let reached = end
      for (const { id, at } of due) {
        yield* day.play(upTo(reached, at))
        yield* clock.passTo(START + at * 1_000)
        const { state, detail } = yield* (yield* platforms.get(id)).status
        if (state !== "live") down.push(`${id} is ${state} ${at - end} s after the last fault: ${detail}`)
        reached = at
      }
      const news = [
        { what: "event", platform: "x", topics: ["amber"], at: (recovered + 1) * 1_000 },
        { what: "event", platform: "firehose", topics: ["amber"], at: (recovered + 2) * 1_000 }
      ] as const
      yield* day.play(news)
      yield* clock.pass(1)
      yield* day.end
      const [ann] = day.rules
      const missing = day.events.slice(-news.length).filter(({ name }) => ann?.stored.includes(name) !== true)
      return [
        ...down,
        ...missing.map(({ name }) => `${name} came when all faults were over, and is not stored`),
        ...wrongMatches(day, wire),
        ...(yield* wrongRules(day, service)),
        ...badManners(yield* control.state)
      ]
    })
  )

/** By the manners of the platforms, in seconds. */
const X_BACK_OFF = 320
const X_LIMITED = 900
const FIREHOSE_BACK_OFF = 300
const FIREHOSE_GUARD = 360
const RECONCILE = 120

/**
 * How long a platform's stream may be down after the last fault has ended: up to its longest back-off, which for X is
 * longer after a 429, and what was under way by then: a reset that was told, a slot that is held, a stall. Rules that
 * are to be registered again wait for the next comparison.
 */
const recoverySeconds = (platform: PlatformId, schedule: ReadonlyArray<Scheduled>): number => {
  const faults = schedule.map(({ fault }) => fault).filter((fault) => fault.platform === platform)
  const longest = (seconds: (fault: FaultRequest) => number) => Math.max(0, ...faults.map(seconds))
  const reset = longest((fault) => (fault.kind === "rate-limit" ? Math.max(60, fault.reset_seconds) : 0))
  if (platform === "firehose") {
    return FIREHOSE_BACK_OFF + RECONCILE + reset + longest(({ kind }) => (kind === "stall" ? FIREHOSE_GUARD : 0))
  }
  const limited = longest(({ kind }) => (["rate-limit", "hold-slot", "lower-caps"].includes(kind) ? X_LIMITED : 0))
  const held = longest((fault) => (fault.kind === "hold-slot" ? fault.hold_seconds : 0))
  const stalled = longest((fault) => (fault.kind === "stall" ? (fault.stall_seconds ?? 0) : 0))
  return X_BACK_OFF + RECONCILE + Math.max(limited, reset) + held + stalled
}

/** Of a few kinds, so that the same ones meet again and again. */
const schedules = (): fc.Arbitrary<ReadonlyArray<Scheduled>> =>
  fc
    .constantFrom<ReadonlyArray<PlatformId>>(["x"], ["firehose"], PLATFORM_IDS)
    .map((platforms) => platforms.flatMap((platform) => kindsOf(platform).map((kind) => ({ platform, kind }))))
    .chain((all) => fc.subarray(all, { minLength: 1, maxLength: 5 }))
    .chain((some) => fc.array(scheduled(some), { minLength: 1, maxLength: 12, size: "max" }))

/** One on X that is kept alive for ever: how soon that is found out depends on how often posts come. */
const isHiddenStall = (fault: FaultRequest): boolean =>
  fault.kind === "stall" && fault.platform === "x" && fault.keep_alives && fault.stall_seconds === undefined

const scheduled = (kinds: ReadonlyArray<Pick<FaultRequest, "platform" | "kind">>): fc.Arbitrary<Scheduled> =>
  fc
    .record({
      at: fc.integer({ min: 0, max: TIME_OF_FAULTS }),
      of: fc.constantFrom(...kinds),
      chance: fc.nat(),
      isClosed: fc.boolean()
    })
    .map(({ at, of, chance, isClosed }) => ({ at, fault: faultOf(seeded(chance), of.kind, of.platform), isClosed }))
    .filter(({ fault }) => !isHiddenStall(fault))

const everyHalfMinute = (untilSecond: number): ReadonlyArray<Planned> =>
  Array.from({ length: Math.floor(untilSecond / 30) }, (_, index) => ({
    what: "event",
    platform: index % 2 === 0 ? "x" : "firehose",
    topics: ["amber"],
    // Between the faults, which come at whole seconds.
    at: (index + 1) * 30_000 + 500
  }))

const byTime = (a: { readonly at: number }, b: { readonly at: number }): number => a.at - b.at
