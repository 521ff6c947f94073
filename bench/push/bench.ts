/**
 * What it costs to tell many of a match: delivery and memory of our event streams beside a bare broadcaster on
 * node:http, which writes a ready string to every response and knows neither keys nor rules nor who is slow.
 */
import process from "node:process"
import { parseArgs } from "node:util"
import { startPart } from "./process.ts"

const SUBSCRIBERS = 2_000
const IDLE = 10_000

const PER_SECOND = 4
const WARM_UP = 12
const MATCHES = 48

/** A heartbeat comes after 15 seconds of quiet. */
const REST_MILLIS = 17_000

/** The most that we may take of the broadcaster's CPU time for a delivery. */
const MOST_OF_BARE = 8

const SERVERS = ["bare", "earshot"] as const

interface Figures {
  readonly kilobytes: number
  readonly p50: number
  readonly p99: number
  readonly cpuMicros: number
}

const { values: options } = parseArgs({ options: { help: { type: "boolean", default: false } } })
if (options.help) {
  console.log(`npm run bench:push

Opens ${SUBSCRIBERS} event streams on one server process, from another process, and stores ${PER_SECOND} matches a second, each of which goes
to all of them: memory for each subscriber, time from when a match is stored to when it is received, CPU time of the
server for each delivery. In the same run a bare broadcaster on node:http, as the floor of what is possible. Then
${IDLE} that hear nothing but heartbeats: memory for each. Takes about two minutes.
  --help    this text

Ends with 1 when a delivery takes more than ${MOST_OF_BARE} times the broadcaster's CPU time.`)
} else {
  const results: Array<readonly [name: string, figures: Figures]> = []
  for (const name of SERVERS) results.push([name, await measure(name)])
  console.log(`\n${SUBSCRIBERS} subscribers, ${PER_SECOND} matches a second, ${MATCHES} matches`)
  console.log(row(["", "kB each", "p50 ms", "p99 ms", "CPU µs/delivery"]))
  for (const [name, { kilobytes, p50, p99, cpuMicros }] of results) {
    console.log(row([name, ...[kilobytes, p50, p99, cpuMicros].map((figure) => figure.toFixed(1))]))
  }
  const [[, bare], [, ours]] = results as [(typeof results)[0], (typeof results)[0]]
  const ratio = ours.cpuMicros / bare.cpuMicros
  const isMet = ratio <= MOST_OF_BARE
  console.log(
    `  earshot = ${ratio.toFixed(2)} × bare in CPU per delivery: ${isMet ? "within" : "OVER"} ${MOST_OF_BARE}`
  )
  console.log(`  earshot = ${(ours.p99 / bare.p99).toFixed(2)} × bare in p99`)

  console.log(`\n${IDLE} idle subscribers`)
  for (const name of SERVERS) console.log(`  ${name.padEnd(12)}${await idle(name)}`)
  process.exitCode = isMet ? 0 : 1
}

// ---- helpers ----

async function measure(name: string): Promise<Figures> {
  const server = await startPart("server", name)
  const clients = await startPart("clients")
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

async function idle(name: string): Promise<string> {
  const server = await startPart("server", name)
  const clients = await startPart("clients")
  try {
    const port = await server.ask("port")
    const before = await server.ask("memory")
    await clients.ask(`open ${port} ${IDLE}`)
    const opened = await server.ask("memory")
    const cpuBefore = await server.ask("cpu")
    await new Promise((resolve) => setTimeout(resolve, REST_MILLIS))
    const rested = await server.ask("memory")
    const cpu = ((await server.ask("cpu")) - cpuBefore) / REST_MILLIS / 10
    const each = (bytes: number) => ((bytes - before) / IDLE / 1_000).toFixed(1)
    return `${each(opened)} kB each when opened, ${each(rested)} kB after a while, ${cpu.toFixed(1)} % of a core`
  } finally {
    clients.stop()
    server.stop()
  }
}

function row([title = "", ...columns]: ReadonlyArray<string>): string {
  return `  ${title.padEnd(12)}${columns.map((column) => column.padStart(18)).join("")}`
}
