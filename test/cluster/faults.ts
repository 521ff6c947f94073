/** Seeded faults of a fleet: in its processes, between them and Postgres or the platforms, and of Postgres. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Random } from "../../adapters/demo/random.ts"
import { PLATFORM_IDS, type PlatformId } from "../../fixtures/languages.ts"
import { until } from "../eventually.ts"
import type { Fleet, Server } from "./fleet.ts"
import type { Mode } from "./proxy.ts"

const cut = (side: "postgres" | "platforms", mode: Mode) => async (server: Server, millis: number) => {
  server[side].set(mode)
  await sleep(millis)
  server[side].set("open")
}

const restart = (end: "kill" | "stop") => async (server: Server, millis: number) => {
  await server[end]()
  await sleep(millis)
  // Like a supervisor, because Postgres may be down at the first attempt.
  await until(`${server.name} starts`, () =>
    server.start().then(
      () => true,
      () => sleep(1_000, false)
    )
  )
}

/** Each undoes itself after the given time. */
const faults = {
  kill: restart("kill"),
  stop: restart("stop"),
  freeze: async (server: Server, millis: number) => {
    server.freeze()
    await sleep(millis)
    server.wake()
  },
  "refused by Postgres": cut("postgres", "refused"),
  "silence of Postgres": cut("postgres", "silent"),
  "refused by the platforms": cut("platforms", "refused"),
  "silence of the platforms": cut("platforms", "silent")
}

export type FaultKind = keyof typeof faults | "end of all sessions" | "restart of Postgres"

export const FAULT_KINDS = ["end of all sessions", ...(Object.keys(faults) as Array<keyof typeof faults>)] as const

export interface PlannedFault {
  /** Milliseconds after the start. */
  readonly at: number
  readonly kind: FaultKind
  /** The owner of its stream, or any server. */
  readonly target: PlatformId | "any"
  readonly millis: number
}

export const planFaults = (
  random: Random,
  options: {
    readonly kinds: readonly [FaultKind, ...ReadonlyArray<FaultKind>]
    readonly count: number
    readonly everyMillis: number
    /** Of one fault. Freezes and cuts below the expiry of an ownership end before it is taken over. */
    readonly maxMillis: number
  }
): ReadonlyArray<PlannedFault> => {
  const kind = random.deck(options.kinds)
  return Array.from({ length: options.count }, (_, index) => ({
    at: Math.floor(options.everyMillis * (index + random.below(1_000) / 1_000)),
    kind: kind(),
    target: random.pick([...PLATFORM_IDS, ...PLATFORM_IDS, "any"] as const),
    millis: 500 + random.below(options.maxMillis - 500)
  }))
}

/** What was done. Times in milliseconds. */
export interface DoneFault {
  readonly kind: FaultKind
  /** Absent: all of them. */
  readonly server?: string
  readonly from: number
  readonly to: number
}

/** Runs the plan until every fault is over. One server at least is left alone. */
export const injectAll = async (
  fleet: Fleet,
  options: {
    readonly plan: ReadonlyArray<PlannedFault>
    readonly random: Random
    readonly restartPostgres: (downMillis: number) => Promise<void>
  }
): Promise<ReadonlyArray<DoneFault>> => {
  const busy = new Set<Server>()
  const done: Array<DoneFault> = []
  let isPostgresDown = false

  const ofPostgres = async (kind: "end of all sessions" | "restart of Postgres", millis: number) => {
    if (isPostgresDown) return
    const from = Date.now()
    if (kind === "end of all sessions") await fleet.endSessions()
    else {
      isPostgresDown = true
      await options.restartPostgres(Math.min(millis, 5_000))
      isPostgresDown = false
    }
    done.push({ kind, from, to: Date.now() })
  }
  const inject = async ({ at, kind, target, millis }: PlannedFault) => {
    await sleep(at)
    if (kind === "end of all sessions" || kind === "restart of Postgres") return ofPostgres(kind, millis)
    const free = () => fleet.servers.filter((server) => !busy.has(server))
    await until("a server is free for the next fault", () => free().length > 1, 120)
    const owner = target === "any" ? undefined : fleet.ownerOf(target)
    const [first, ...others] = free()
    const any = first === undefined ? undefined : options.random.pick([first, ...others])
    const server = owner === undefined || busy.has(owner) ? any : owner
    if (server === undefined) return
    busy.add(server)
    const from = Date.now()
    await faults[kind](server, millis)
    busy.delete(server)
    done.push({ kind, server: server.name, from, to: Date.now() })
  }
  await Promise.all(options.plan.map(inject))
  return done
}
