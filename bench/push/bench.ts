/** Compares delivery and memory of our event streams with a bare broadcaster on node:http. */
import { type Figure, isMissed, isSmoke, median, overRounds, reportFigures } from "../figures.ts"
import { KEY } from "../gateway/data.ts"
import { type BenchProcess, startProcess } from "./process.ts"

/** Each with new processes. The servers take turns, so that background load affects both. */
const ROUNDS = isSmoke ? 1 : 3

const SUBSCRIBERS = isSmoke ? 20 : 2_000
const IDLE_SUBSCRIBERS = isSmoke ? 20 : 10_000

const PER_SECOND = isSmoke ? 20 : 4
const WARM_UP = isSmoke ? 1 : 12
const MATCHES = isSmoke ? 4 : 48

/** Longer than 15 seconds, so that heartbeats are included. */
const IDLE_MILLIS = isSmoke ? 100 : 17_000

const TARGETS = {
  /** Ratio of our CPU time per delivery to the bare broadcaster's. */
  delivery: 2,
  kilobytes: 18,
  idlePercent: 5
}

interface Delivery {
  readonly kilobytes: number
  readonly p50: number
  readonly p99: number
  readonly cpuMicros: number
}

interface IdleCost {
  readonly openedKilobytes: number
  readonly restedKilobytes: number
  /** Share of one core. */
  readonly percent: number
}

const delivery = await inTurns(measureDelivery)
console.log(`${SUBSCRIBERS} subscribers, ${PER_SECOND} matches a second, ${MATCHES} matches; medians (lowest–highest)`)
console.log(row(["", "kB each", "p50 ms", "p99 ms", "CPU µs/delivery"]))
for (const [name, rounds] of Object.entries(delivery)) {
  const columns = (["kilobytes", "p50", "p99", "cpuMicros"] as const).map((key) => rounds.map((round) => round[key]))
  console.log(row([name, ...columns.map(withSpread)]))
}
const ratios = delivery.earshot.map(({ cpuMicros }, i) => cpuMicros / (delivery.bare[i]?.cpuMicros ?? Number.NaN))
console.log(`  earshot = ${withSpread(ratios)} × bare in CPU per delivery`)

const idle = await inTurns(measureIdle)
console.log(`\n${IDLE_SUBSCRIBERS} idle subscribers`)
console.log(row(["", "kB when opened", "kB after a while", "% of a core"]))
for (const [name, rounds] of Object.entries(idle)) {
  const keys = ["openedKilobytes", "restedKilobytes", "percent"] as const
  console.log(row([name, ...keys.map((key) => withSpread(rounds.map((round) => round[key])))]))
}

const delivered = (key: keyof Delivery) => overRounds(delivery.earshot.map((round) => round[key]))
const idled = (key: keyof IdleCost) => overRounds(idle.earshot.map((round) => round[key]))
const deliveryFigures: ReadonlyArray<Figure> = [
  {
    name: "CPU per delivery relative to a bare broadcaster",
    ...overRounds(ratios),
    unit: "×",
    better: "lower",
    target: TARGETS.delivery
  },
  { name: "CPU per delivery", ...delivered("cpuMicros"), unit: "µs", better: "lower" },
  { name: "from stored to received, p99", ...delivered("p99"), unit: "ms", better: "lower" },
  { name: "memory per subscriber", ...delivered("kilobytes"), unit: "kB", better: "lower", target: TARGETS.kilobytes }
]
const idleFigures: ReadonlyArray<Figure> = [
  { name: "memory per idle subscriber", ...idled("restedKilobytes"), unit: "kB", better: "lower" },
  {
    name: "CPU of 10,000 idle subscribers",
    ...idled("percent"),
    unit: "% of a core",
    better: "lower",
    target: TARGETS.idlePercent
  }
]
reportFigures([...deliveryFigures, ...idleFigures])
if (!isSmoke && deliveryFigures.some(isMissed)) {
  console.log("\nDelivery missed a target. Memory, and where the time goes:")
  await measureDelivery("earshot", profiled)
}
if (!isSmoke && idleFigures.some(isMissed)) {
  console.log("\nIdle subscribers missed a target. Memory, and where the time goes:")
  await measureIdle("earshot", profiled)
}

// ---- helpers ----

async function inTurns<A>(
  measure: (name: string) => Promise<A>
): Promise<Record<"bare" | "earshot", ReadonlyArray<A>>> {
  const rounds: Record<"bare" | "earshot", Array<A>> = { bare: [], earshot: [] }
  for (let round = 0; round < ROUNDS; round++) {
    rounds.bare.push(await measure("bare"))
    rounds.earshot.push(await measure("earshot"))
  }
  return rounds
}

/** Prints the memory and a CPU profile of the server. */
async function profiled(server: BenchProcess, work: () => Promise<void>): Promise<void> {
  await server.ask("printMemory")
  await server.ask("startProfile")
  await work()
  await server.ask("printProfile")
}

function plainly(_: BenchProcess, work: () => Promise<void>): Promise<void> {
  return work()
}

/** Measures a server with its subscribers while matches are published. */
async function measureDelivery(name: string, around = plainly): Promise<Delivery> {
  const server = await startProcess("server", name)
  const clients = await startProcess("clients", KEY)
  try {
    const port = await server.ask("port")
    const before = await server.ask("memory")
    await clients.ask(`open ${port} ${SUBSCRIBERS}`)
    const kilobytes = ((await server.ask("memory")) - before) / SUBSCRIBERS / 1_000
    await server.ask(`publish ${WARM_UP} ${PER_SECOND}`)
    await clients.ask(`receive ${WARM_UP * SUBSCRIBERS}`)
    const cpuBefore = await server.ask("cpu")
    await around(server, async () => {
      await server.ask(`publish ${MATCHES} ${PER_SECOND}`)
      await clients.ask(`receive ${MATCHES * SUBSCRIBERS}`)
    })
    const cpuMicros = ((await server.ask("cpu")) - cpuBefore) / (MATCHES * SUBSCRIBERS)
    return { kilobytes, p50: await clients.ask("quantile 0.5"), p99: await clients.ask("quantile 0.99"), cpuMicros }
  } finally {
    clients.stop()
    server.stop()
  }
}

/** Measures subscribers that only receive heartbeats. */
async function measureIdle(name: string, around = plainly): Promise<IdleCost> {
  const server = await startProcess("server", name)
  const clients = await startProcess("clients", KEY)
  try {
    const port = await server.ask("port")
    const before = await server.ask("memory")
    await clients.ask(`open ${port} ${IDLE_SUBSCRIBERS}`)
    const opened = await server.ask("memory")
    const cpuBefore = await server.ask("cpu")
    await around(server, () => new Promise((resolve) => setTimeout(resolve, IDLE_MILLIS)))
    // Before the memory is measured, which collects garbage.
    const percent = ((await server.ask("cpu")) - cpuBefore) / IDLE_MILLIS / 10
    const rested = await server.ask("memory")
    const each = (bytes: number) => (bytes - before) / IDLE_SUBSCRIBERS / 1_000
    return { openedKilobytes: each(opened), restedKilobytes: each(rested), percent }
  } finally {
    clients.stop()
    server.stop()
  }
}

function withSpread(values: ReadonlyArray<number>): string {
  return `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`
}

function row([title = "", ...columns]: ReadonlyArray<string>): string {
  return `  ${title.padEnd(12)}${columns.map((column) => column.padStart(24)).join("")}`
}
