/**
 * What it costs to tell many of a match: delivery and memory of our event streams beside a bare broadcaster on
 * node:http, which writes a ready string to every response and knows neither keys nor rules nor who is slow.
 */
import { handIn, isSmoke } from "../figures.ts"
import { KEY } from "../gateway/data.ts"
import { startPart } from "./process.ts"

const SUBSCRIBERS = isSmoke ? 20 : 2_000
const IDLE = isSmoke ? 20 : 10_000

const PER_SECOND = isSmoke ? 20 : 4
const WARM_UP = isSmoke ? 1 : 12
const MATCHES = isSmoke ? 4 : 48

/** A heartbeat comes after 15 seconds of quiet. */
const REST_MILLIS = isSmoke ? 100 : 17_000

/** The most that we may take of the broadcaster's CPU time for a delivery. */
const MOST_OF_BARE = 8

interface Delivery {
  readonly kilobytes: number
  readonly p50: number
  readonly p99: number
  readonly cpuMicros: number
}

interface Idleness {
  readonly openedKilobytes: number
  readonly restedKilobytes: number
  /** Of a core. */
  readonly percent: number
}

const delivery = { bare: await measure("bare"), earshot: await measure("earshot") }
const ratio = delivery.earshot.cpuMicros / delivery.bare.cpuMicros
console.log(`${SUBSCRIBERS} subscribers, ${PER_SECOND} matches a second, ${MATCHES} matches`)
console.log(row(["", "kB each", "p50 ms", "p99 ms", "CPU µs/delivery"]))
for (const [name, { kilobytes, p50, p99, cpuMicros }] of Object.entries(delivery)) {
  console.log(row([name, ...[kilobytes, p50, p99, cpuMicros].map((value) => value.toFixed(1))]))
}
console.log(`  earshot = ${ratio.toFixed(2)} × bare in CPU per delivery`)
console.log(`  earshot = ${(delivery.earshot.p99 / delivery.bare.p99).toFixed(2)} × bare in p99`)

const idleness = { bare: await idle("bare"), earshot: await idle("earshot") }
console.log(`\n${IDLE} idle subscribers`)
console.log(row(["", "kB when opened", "kB after a while", "% of a core"]))
for (const [name, { openedKilobytes, restedKilobytes, percent }] of Object.entries(idleness)) {
  console.log(row([name, ...[openedKilobytes, restedKilobytes, percent].map((value) => value.toFixed(1))]))
}

const { kilobytes, p99, cpuMicros } = delivery.earshot
handIn([
  { name: "CPU of a delivery, of a bare broadcaster's", value: ratio, unit: "×", better: "lower", floor: MOST_OF_BARE },
  { name: "CPU of a delivery", value: cpuMicros, unit: "µs", better: "lower" },
  { name: "from stored to received, p99", value: p99, unit: "ms", better: "lower" },
  { name: "memory of a subscriber", value: kilobytes, unit: "kB", better: "lower" },
  { name: "memory of an idle subscriber", value: idleness.earshot.restedKilobytes, unit: "kB", better: "lower" }
])

// ---- helpers ----

/** A server with its subscribers, and what the matches that it stores take. */
async function measure(name: string): Promise<Delivery> {
  const server = await startPart("server", name)
  const clients = await startPart("clients", KEY)
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

/** Subscribers that hear nothing but heartbeats. */
async function idle(name: string): Promise<Idleness> {
  const server = await startPart("server", name)
  const clients = await startPart("clients", KEY)
  try {
    const port = await server.ask("port")
    const before = await server.ask("memory")
    await clients.ask(`open ${port} ${IDLE}`)
    const opened = await server.ask("memory")
    const cpuBefore = await server.ask("cpu")
    await new Promise((resolve) => setTimeout(resolve, REST_MILLIS))
    const rested = await server.ask("memory")
    const percent = ((await server.ask("cpu")) - cpuBefore) / REST_MILLIS / 10
    const each = (bytes: number) => (bytes - before) / IDLE / 1_000
    return { openedKilobytes: each(opened), restedKilobytes: each(rested), percent }
  } finally {
    clients.stop()
    server.stop()
  }
}

function row([title = "", ...columns]: ReadonlyArray<string>): string {
  return `  ${title.padEnd(12)}${columns.map((column) => column.padStart(18)).join("")}`
}
