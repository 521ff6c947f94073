/** The plan of a simulated day. The same seed gives the same plan. */
import { type Random, seeded } from "../../adapters/demo/random.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import type { endpoints } from "../../simulator/endpoints.ts"
import type { FaultKind, FaultRequest } from "../../simulator/faults.ts"
import type { SettingsPatch } from "../../simulator/settings.ts"

/** Words that rules match. Rules on permanent topics exist all day. */
export const permanentTopics = ["amber", "birch", "cedar", "dune"] as const
export const temporaryTopics = ["ember", "fjord", "grove", "heath"] as const

export type Owner = "ann" | "bob"

export type Action =
  | { readonly type: "event"; readonly platform: PlatformId; readonly topics: ReadonlyArray<string> }
  | { readonly type: "fault"; readonly fault: FaultRequest }
  | {
      readonly type: "create"
      readonly owner: Owner
      readonly topic: string
      readonly platforms: ReadonlyArray<PlatformId>
    }
  /** The process of the service is stopped, and goes on. */
  | { readonly type: "freeze" | "thaw" }
  | { readonly type: "settings"; readonly patch: SettingsPatch }
  /** Deletes the owner's oldest rule on a temporary topic. */
  | { readonly type: "delete"; readonly owner: Owner }

/** `at` is in milliseconds from the start of the day. */
export type PlannedAction = Action & { readonly at: number }

/** Faults and changes occur in the first `hours`; events for one hour more. */
export const planDay = (
  seed: number,
  { hours, events, faults, changes }: Record<"hours" | "events" | "faults" | "changes", number>
): ReadonlyArray<PlannedAction> => {
  const random = seeded(seed)
  const nextFault = faultDealer(random)
  // Unique times make the order deterministic.
  const taken = new Set<number>()
  const uniqueTime = (hours: number): number => {
    const at = 1_000 + random.below(hours * 3_600_000 - 1_000)
    if (taken.has(at)) return uniqueTime(hours)
    taken.add(at)
    return at
  }
  const planned: ReadonlyArray<PlannedAction> = [
    ...Array.from({ length: events }, () => ({ ...randomEvent(random), at: uniqueTime(hours + 1) })),
    ...Array.from({ length: faults }, () => ({ type: "fault" as const, fault: nextFault(), at: uniqueTime(hours) })),
    ...Array.from({ length: changes }, () => ({ ...randomChange(random), at: uniqueTime(hours) }))
  ]
  return planned.toSorted((a, b) => a.at - b.at)
}

/** The kinds of faults of a platform. */
export const kindsOf = (platform: PlatformId): ReadonlyArray<FaultKind> =>
  platform === "x" ? [...commonKinds, "disconnect", "hold-slot"] : [...commonKinds, "stream-error"]

export const randomFault = (random: Random, kind: FaultKind, platform: PlatformId): FaultRequest => {
  const counted = { platform, count: 1 + random.below(3) }
  const limited = random.chance(0.5) ? counted : { platform, seconds: 10 + random.below(300) }
  const onCalls = random.chance(0.5) ? limited : { ...limited, endpoint: random.pick(calledEndpoints[platform]) }
  switch (kind) {
    case "refuse":
    case "payment-required":
      return { kind, ...onCalls }
    case "rate-limit":
      return { kind, ...onCalls, headers: random.chance(0.5), reset_seconds: random.below(900) }
    case "server-error":
      return { kind, ...onCalls, status: random.pick([500, 502, 503, 504]) }
    case "slow":
      return { kind, ...counted, bytes: 32 + random.below(200), millis: random.below(1_000) }
    case "stall": {
      const stall = { kind, platform, keep_alives: random.chance(0.5) }
      return random.chance(0.5) ? stall : { ...stall, stall_seconds: random.below(600) }
    }
    case "disconnect":
      return {
        kind,
        ...counted,
        disconnect_type: random.pick(["OperationalDisconnect", "ForceDisconnect", "InvalidRules", "InternalError"])
      }
    case "stream-error":
      return { kind, ...counted, message: "Internal error" }
    case "drop-rules":
      return { kind, platform }
    case "lower-caps": {
      const timed = { kind, platform, seconds: 60 + random.below(600) }
      return random.chance(0.5) ? { ...timed, rules: random.below(4) } : { ...timed, connections: 0 }
    }
    case "clock-skew":
      return { kind, platform, seconds: 60 + random.below(600), skew_seconds: random.below(7_200) - 3_600 }
    case "hold-slot":
      return { kind, platform, hold_seconds: random.below(900) }
    case "cut-backfill":
      return { kind, ...counted, records: 1 + random.below(40) }
    case "oversized":
      return { kind, platform, bytes: 17 * 1024 * 1024 }
    case "redirect":
      return { kind, ...counted, status: random.pick([301, 302, 303, 307, 308]) }
    case "switch":
    case "offset-jump":
    case "gone":
    case "window-jump":
    case "new-ids":
    case "wrong-charset":
    case "entity-bomb":
    case "web-page":
    case "without-rules":
    case "unknown-rules":
    case "torn-line":
    case "half-utf8":
    case "cut":
    case "duplicate":
    case "close":
      return { kind, ...counted }
  }
}

/**
 * Hours with an X that breaks its promises. It drops a client that is frozen, and its usage cap is raised soon after it is
 * reached.
 */
export const planHostile = (
  seed: number,
  { hours, events, faults, changes }: Record<"hours" | "events" | "faults" | "changes", number>
): ReadonlyArray<PlannedAction> => {
  const random = seeded(seed)
  const deal = random.deck<HostileKind>(hostileKinds)
  const time = () => 1_000 + random.below(hours * 3_600_000 - 1_000)
  const planned = [
    ...Array.from({ length: events }, () => ({
      ...randomEvent(random),
      platform: "x" as const,
      at: 1_000 + random.below((hours + 0.1) * 3_600_000)
    })),
    ...Array.from({ length: faults }, () => hostileFault(random, deal(), time())).flat(),
    ...Array.from({ length: changes }, () => ({ ...randomChange(random), at: time() }))
  ]
  return planned.toSorted((a, b) => a.at - b.at)
}

// ---- helpers ----

const hostileKinds = [
  "cut-backfill",
  "outage",
  "freeze",
  "without-rules",
  "unknown-rules",
  "oversized",
  "slow",
  "clock-skew",
  "cap",
  "close",
  "cut",
  "torn-line",
  "drop-rules",
  "stall"
] as const
type HostileKind = (typeof hostileKinds)[number]

const hostileFault = (random: Random, kind: HostileKind, at: number): ReadonlyArray<PlannedAction> => {
  const fault = (fault: FaultRequest, after = 0): PlannedAction => ({ type: "fault", fault, at: at + after })
  const platform = "x"
  switch (kind) {
    case "freeze":
      return [
        { type: "freeze", at },
        fault({ kind: "close", platform }, 3_000),
        { type: "thaw", at: at + 5_000 + random.below(20_000) }
      ]
    case "outage":
      return [
        fault({ kind: "refuse", platform, endpoint: "stream", seconds: 5 + random.below(400) }),
        fault({ kind: "close", platform }, 1)
      ]
    case "cut-backfill":
      return [
        fault({ kind: "refuse", platform, endpoint: "stream", seconds: 65 + random.below(36) }),
        fault({ kind: "close", platform }, 1),
        fault({ kind, platform, records: 1 + random.below(10), count: 1 + random.below(2) }, 2)
      ]
    case "cap":
      return [
        { type: "settings", patch: { x: { usage_cap: 0 } }, at },
        { type: "settings", patch: { x: { usage_cap: null } }, at: at + 60_000 + random.below(300_000) }
      ]
    case "slow":
      return [fault({ kind, platform, bytes: 1, millis: 1_000 })]
    case "clock-skew":
      return [
        fault({ kind, platform, seconds: 600, skew_seconds: random.below(7_200) - 3_600 }),
        fault({ kind: "rate-limit", platform, endpoint: "stream", headers: true, reset_seconds: 60 }, 1),
        fault({ kind: "close", platform }, 2)
      ]
    case "stall":
      return [fault({ kind, platform, keep_alives: random.chance(0.5), stall_seconds: random.below(200) })]
    default:
      return [fault(randomFault(random, kind, platform))]
  }
}

const commonKinds: ReadonlyArray<FaultKind> = [
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

const randomEvent = (random: Random): Action => ({
  type: "event",
  platform: random.pick(["x", "firehose"]),
  topics: [random.pick(permanentTopics), ...(random.chance(0.5) ? [random.pick(temporaryTopics)] : [])]
})

const randomChange = (random: Random): Action => {
  const owner = random.pick<Owner>(["ann", "bob"])
  if (random.chance(0.45)) return { type: "delete", owner }
  const platforms = random.pick<ReadonlyArray<PlatformId>>([["x"], ["firehose"], ["x", "firehose"]])
  return { type: "create", owner, topic: random.pick(temporaryTopics), platforms }
}

/** Deals every kind of every platform in turn. */
const faultDealer = (random: Random): (() => FaultRequest) => {
  const [first, ...others] = PLATFORM_IDS.flatMap((platform) => kindsOf(platform).map((kind) => ({ platform, kind })))
  if (first === undefined) throw new Error("No kinds of faults")
  const deal = random.deck([first, ...others])
  return () => {
    const { platform, kind } = deal()
    return randomFault(random, kind, platform)
  }
}

/** The endpoints that the service calls. */
const calledEndpoints = {
  x: ["stream", "rules.list", "rules.update", "rules.counts", "usage"],
  firehose: ["stream", "rules"]
} as const satisfies { readonly [P in PlatformId]: ReadonlyArray<(typeof endpoints)[P][number]> }
