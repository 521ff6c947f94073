/** What is to happen in a simulated day: the same seed makes the same plan. */
import { type Random, seeded } from "../../adapters/demo/random.ts"
import type { ENDPOINTS } from "../../adapters/simulator/endpoints.ts"
import type { FaultKind, FaultRequest } from "../../adapters/simulator/faults.ts"
import { PLATFORM_IDS, type PlatformId } from "../platforms.ts"

/** Words that rules watch for. A rule of each of the first ones is there all day long. */
export const LASTING_TOPICS = ["amber", "birch", "cedar", "dune"] as const
export const PASSING_TOPICS = ["ember", "fjord", "grove", "heath"] as const

export type Owner = "ann" | "bob"

export type Happening =
  | { readonly what: "event"; readonly platform: PlatformId; readonly topics: ReadonlyArray<string> }
  | { readonly what: "fault"; readonly fault: FaultRequest }
  | {
      readonly what: "create"
      readonly owner: Owner
      readonly topic: string
      readonly platforms: ReadonlyArray<PlatformId>
    }
  /** The oldest rule of the owner on one of the passing topics. */
  | { readonly what: "delete"; readonly owner: Owner }

/** `at` in milliseconds from the start of the day. */
export type Planned = Happening & { readonly at: number }

/** Faults and changes come in the first `hours`, events in one hour more. */
export const planOfDay = (
  seed: number,
  { hours, events, faults, changes }: Record<"hours" | "events" | "faults" | "changes", number>
): ReadonlyArray<Planned> => {
  const random = seeded(seed)
  const nextFault = faultMaker(random)
  // Each at a moment of its own: what comes first is never left to chance.
  const taken = new Set<number>()
  const moment = (within: number): number => {
    const at = 1_000 + random.below(within * 3_600_000 - 1_000)
    if (taken.has(at)) return moment(within)
    taken.add(at)
    return at
  }
  const planned: ReadonlyArray<Planned> = [
    ...Array.from({ length: events }, () => ({ ...eventOf(random), at: moment(hours + 1) })),
    ...Array.from({ length: faults }, () => ({ what: "fault" as const, fault: nextFault(), at: moment(hours) })),
    ...Array.from({ length: changes }, () => ({ ...changeOf(random), at: moment(hours) }))
  ]
  return planned.toSorted((a, b) => a.at - b.at)
}

/** Which faults a platform can have. */
export const kindsOf = (platform: PlatformId): ReadonlyArray<FaultKind> =>
  platform === "x" ? [...KINDS, "disconnect", "hold-slot"] : [...KINDS, "stream-error"]

/** With what belongs to its kind left to chance. */
export const faultOf = (random: Random, kind: FaultKind, platform: PlatformId): FaultRequest => {
  const often = { platform, count: 1 + random.below(3) }
  const oftenOrLong = random.chance(0.5) ? often : { platform, seconds: 10 + random.below(300) }
  const calls = random.chance(0.5) ? oftenOrLong : { ...oftenOrLong, endpoint: random.pick(CALLED[platform]) }
  switch (kind) {
    case "refuse":
    case "payment-required":
      return { kind, ...calls }
    case "rate-limit":
      return { kind, ...calls, headers: random.chance(0.5), reset_seconds: random.below(900) }
    case "server-error":
      return { kind, ...calls, status: random.pick([500, 502, 503, 504]) }
    case "slow":
      return { kind, ...often, bytes: 32 + random.below(200), millis: random.below(1_000) }
    case "stall": {
      const stall = { kind, platform, keep_alives: random.chance(0.5) }
      return random.chance(0.5) ? stall : { ...stall, stall_seconds: random.below(600) }
    }
    case "disconnect":
      return {
        kind,
        ...often,
        disconnect_type: random.pick(["OperationalDisconnect", "ForceDisconnect", "InvalidRules", "InternalError"])
      }
    case "stream-error":
      return { kind, ...often, message: "Internal error" }
    case "drop-rules":
      return { kind, platform }
    case "lower-caps": {
      const while_ = { kind, platform, seconds: 60 + random.below(600) }
      return random.chance(0.5) ? { ...while_, rules: random.below(4) } : { ...while_, connections: 0 }
    }
    case "clock-skew":
      return { kind, platform, seconds: 60 + random.below(600), skew_seconds: random.below(7_200) - 3_600 }
    case "hold-slot":
      return { kind, platform, hold_seconds: random.below(900) }
    case "torn-line":
    case "half-utf8":
    case "cut":
    case "duplicate":
    case "close":
      return { kind, ...often }
  }
}

// ---- helpers ----

const KINDS: ReadonlyArray<FaultKind> = [
  "refuse",
  "rate-limit",
  "payment-required",
  "server-error",
  "torn-line",
  "half-utf8",
  "cut",
  "slow",
  "duplicate",
  "stall",
  "close",
  "drop-rules",
  "lower-caps",
  "clock-skew"
]

const eventOf = (random: Random): Happening => ({
  what: "event",
  platform: random.pick(["x", "firehose"]),
  topics: [random.pick(LASTING_TOPICS), ...(random.chance(0.5) ? [random.pick(PASSING_TOPICS)] : [])]
})

const changeOf = (random: Random): Happening => {
  const owner = random.pick<Owner>(["ann", "bob"])
  if (random.chance(0.45)) return { what: "delete", owner }
  const platforms = random.pick<ReadonlyArray<PlatformId>>([["x"], ["firehose"], ["x", "firehose"]])
  return { what: "create", owner, topic: random.pick(PASSING_TOPICS), platforms }
}

/** Every kind of every platform in turn. */
const faultMaker = (random: Random): (() => FaultRequest) => {
  const [first, ...others] = PLATFORM_IDS.flatMap((platform) => kindsOf(platform).map((kind) => ({ platform, kind })))
  if (first === undefined) throw new Error("There is no kind of fault")
  const deal = random.deck([first, ...others])
  return () => {
    const { platform, kind } = deal()
    return faultOf(random, kind, platform)
  }
}

/** The endpoints that the service calls. */
const CALLED = {
  x: ["stream", "rules.list", "rules.update", "rules.counts", "usage"],
  firehose: ["stream", "rules"]
} as const satisfies { readonly [P in PlatformId]: ReadonlyArray<(typeof ENDPOINTS)[P][number]> }
