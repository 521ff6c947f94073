/** Compares delivery and memory of our event streams with a bare broadcaster on node:http. */
import process from "node:process"
import { fileURLToPath } from "node:url"
import { type Child, startChild } from "../childProcess.ts"
import { isMissed, isSmoke, lower, median, reportFigures, tableRow } from "../figures.ts"
import { KEY } from "./match.ts"

/** Each with new processes. The servers take turns, so that background load affects both. */
const ROUNDS = isSmoke ? 1 : 3

const SUBSCRIBERS = isSmoke ? 20 : 2_000
const IDLE_SUBSCRIBERS = isSmoke ? 20 : 10_000

const PER_SECOND = isSmoke ? 20 : 4
const WARM_UP = isSmoke ? 1 : 12
const MATCHES = isSmoke ? 4 : 48

/** Longer than 15 seconds, so that heartbeats are included. */
const IDLE_MILLIS = isSmoke ? 100 : 17_000

/** Ratio of our CPU time per delivery to the bare broadcaster's. */
const MAX_OF_BARE = 2
const MAX_KILOBYTES = 18
const MAX_IDLE_PERCENT = 5

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

const delivered = (key: keyof Delivery) => delivery.earshot.map((round) => round[key])
const idled = (key: keyof IdleCost) => idle.earshot.map((round) => round[key])
const deliveryFigures = [
  lower({ name: "CPU per delivery relative to a bare broadcaster", of: ratios, unit: "×", target: MAX_OF_BARE }),
  lower({ name: "CPU per delivery", of: delivered("cpuMicros"), unit: "µs" }),
  lower({ name: "from stored to received, p99", of: delivered("p99"), unit: "ms" }),
  lower({ name: "memory per subscriber", of: delivered("kilobytes"), unit: "kB", target: MAX_KILOBYTES })
]
const idleFigures = [
  lower({ name: "memory per idle subscriber", of: idled("restedKilobytes"), unit: "kB" }),
  lower({ name: "CPU of 10,000 idle subscribers", of: idled("percent"), unit: "% of a core", target: MAX_IDLE_PERCENT })
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
async function profiled(server: Child, work: () => Promise<void>): Promise<void> {
  await server.ask("printMemory")
  for (const line of await server.profile(work)) console.log(`  ${line}`)
}

function plainly(_: Child, work: () => Promise<void>): Promise<void> {
  return work()
}

/** A server with idle subscribers, and what they take of its memory: `before` and `after`, in bytes. */
async function withSubscribers<A>(
  { name, count }: { readonly name: string; readonly count: number },
  measure: (started: Started) => Promise<A>
): Promise<A> {
  const start = (script: string, argument: string) =>
    startChild(process.execPath, ["--expose-gc", fileURLToPath(new URL(`./${script}.js`, import.meta.url)), argument])
  const server = start("server", name)
  const clients = start("clients", KEY)
  try {
    const port = await server.ask("port")
    const before = await server.ask("memory")
    await clients.ask(`open ${port} ${count}`)
    const kilobytes = async () => ((await server.ask("memory")) - before) / count / 1_000
    return await measure({ server, clients, kilobytes, opened: await kilobytes() })
  } finally {
    await clients.stop()
    await server.stop()
  }
}

interface Started {
  readonly server: Child
  readonly clients: Child
  /** Memory per subscriber now. */
  readonly kilobytes: () => Promise<number>
  /** The same when all streams were open. */
  readonly opened: number
}

/** Measures a server with its subscribers while matches are published. */
function measureDelivery(name: string, around = plainly): Promise<Delivery> {
  return withSubscribers({ name, count: SUBSCRIBERS }, async ({ server, clients, opened }) => {
    await server.ask(`publish ${WARM_UP} ${PER_SECOND}`)
    await clients.ask(`receive ${WARM_UP * SUBSCRIBERS}`)
    const cpuBefore = await server.ask("cpu")
    await around(server, async () => {
      await server.ask(`publish ${MATCHES} ${PER_SECOND}`)
      await clients.ask(`receive ${MATCHES * SUBSCRIBERS}`)
    })
    const cpuMicros = ((await server.ask("cpu")) - cpuBefore) / (MATCHES * SUBSCRIBERS)
    const [p50, p99] = [await clients.ask("quantile 0.5"), await clients.ask("quantile 0.99")]
    return { kilobytes: opened, p50, p99, cpuMicros }
  })
}

/** Measures subscribers that only receive heartbeats. */
function measureIdle(name: string, around = plainly): Promise<IdleCost> {
  return withSubscribers({ name, count: IDLE_SUBSCRIBERS }, async ({ server, opened, kilobytes }) => {
    const cpuBefore = await server.ask("cpu")
    await around(server, () => new Promise((resolve) => setTimeout(resolve, IDLE_MILLIS)))
    // Before the memory is measured, which collects garbage.
    const percent = ((await server.ask("cpu")) - cpuBefore) / IDLE_MILLIS / 10
    return { openedKilobytes: opened, restedKilobytes: await kilobytes(), percent }
  })
}

function withSpread(values: ReadonlyArray<number>): string {
  return `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`
}

function row(cells: ReadonlyArray<string>): string {
  return tableRow(cells, { first: 12, other: 24 })
}
