/** Compares delivery and memory of our event streams with a bare broadcaster on node:http. */
import { isSmoke, reportFigures } from "../figures.ts"
import { KEY } from "../gateway/data.ts"
import { startProcess } from "./process.ts"

const SUBSCRIBERS = isSmoke ? 20 : 2_000
const IDLE_SUBSCRIBERS = isSmoke ? 20 : 10_000

const PER_SECOND = isSmoke ? 20 : 4
const WARM_UP = isSmoke ? 1 : 12
const MATCHES = isSmoke ? 4 : 48

/** Longer than 15 seconds, so that heartbeats are included. */
const IDLE_MILLIS = isSmoke ? 100 : 17_000

/** Maximum ratio of our CPU time per delivery to the bare broadcaster's. */
const MAX_OF_BARE = 8

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

const delivery = { bare: await measureDelivery("bare"), earshot: await measureDelivery("earshot") }
const ratio = delivery.earshot.cpuMicros / delivery.bare.cpuMicros
console.log(`${SUBSCRIBERS} subscribers, ${PER_SECOND} matches a second, ${MATCHES} matches`)
console.log(row(["", "kB each", "p50 ms", "p99 ms", "CPU µs/delivery"]))
for (const [name, { kilobytes, p50, p99, cpuMicros }] of Object.entries(delivery)) {
  console.log(row([name, ...[kilobytes, p50, p99, cpuMicros].map((value) => value.toFixed(1))]))
}
console.log(`  earshot = ${ratio.toFixed(2)} × bare in CPU per delivery`)
console.log(`  earshot = ${(delivery.earshot.p99 / delivery.bare.p99).toFixed(2)} × bare in p99`)

const idleCost = { bare: await measureIdle("bare"), earshot: await measureIdle("earshot") }
console.log(`\n${IDLE_SUBSCRIBERS} idle subscribers`)
console.log(row(["", "kB when opened", "kB after a while", "% of a core"]))
for (const [name, { openedKilobytes, restedKilobytes, percent }] of Object.entries(idleCost)) {
  console.log(row([name, ...[openedKilobytes, restedKilobytes, percent].map((value) => value.toFixed(1))]))
}

const { kilobytes, p99, cpuMicros } = delivery.earshot
reportFigures([
  {
    name: "CPU per delivery relative to a bare broadcaster",
    value: ratio,
    unit: "×",
    better: "lower",
    target: MAX_OF_BARE
  },
  { name: "CPU per delivery", value: cpuMicros, unit: "µs", better: "lower" },
  { name: "from stored to received, p99", value: p99, unit: "ms", better: "lower" },
  { name: "memory per subscriber", value: kilobytes, unit: "kB", better: "lower" },
  { name: "memory per idle subscriber", value: idleCost.earshot.restedKilobytes, unit: "kB", better: "lower" }
])

// ---- helpers ----

/** Measures a server with its subscribers while matches are published. */
async function measureDelivery(name: string): Promise<Delivery> {
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
    await server.ask(`publish ${MATCHES} ${PER_SECOND}`)
    await clients.ask(`receive ${MATCHES * SUBSCRIBERS}`)
    const cpuMicros = ((await server.ask("cpu")) - cpuBefore) / (MATCHES * SUBSCRIBERS)
    return { kilobytes, p50: await clients.ask("quantile 0.5"), p99: await clients.ask("quantile 0.99"), cpuMicros }
  } finally {
    clients.stop()
    server.stop()
  }
}

/** Measures subscribers that only receive heartbeats. */
async function measureIdle(name: string): Promise<IdleCost> {
  const server = await startProcess("server", name)
  const clients = await startProcess("clients", KEY)
  try {
    const port = await server.ask("port")
    const before = await server.ask("memory")
    await clients.ask(`open ${port} ${IDLE_SUBSCRIBERS}`)
    const opened = await server.ask("memory")
    const cpuBefore = await server.ask("cpu")
    await new Promise((resolve) => setTimeout(resolve, IDLE_MILLIS))
    const rested = await server.ask("memory")
    const percent = ((await server.ask("cpu")) - cpuBefore) / IDLE_MILLIS / 10
    const each = (bytes: number) => (bytes - before) / IDLE_SUBSCRIBERS / 1_000
    return { openedKilobytes: each(opened), restedKilobytes: each(rested), percent }
  } finally {
    clients.stop()
    server.stop()
  }
}

function row([title = "", ...columns]: ReadonlyArray<string>): string {
  return `  ${title.padEnd(12)}${columns.map((column) => column.padStart(18)).join("")}`
}
