/**
 * CPU time per request of our gateway beside node:http, Fastify and trpc-to-openapi's own handler. Requests per second
 * are shown but not judged: they say more about the machine's other work than about ours.
 */
import { isDeepStrictEqual } from "node:util"
import { type Figure, handIn, isSmoke, median } from "../figures.ts"
import { load } from "./client.ts"
import { type Endpoint, endpoints, KEY } from "./data.ts"
import { RUNTIMES, type Server, startServer } from "./process.ts"

/** Many and short: what else the machine does for a second then falls on few of them, and on neighbours alike. */
const ROUNDS = isSmoke ? 1 : 31
const REQUESTS_PER_ROUND = isSmoke ? 20 : 400
/** Until the compilers of the runtimes are through with the larger gateways. */
const WARM_UP_REQUESTS = isSmoke ? 20 : 8_000

const SERVERS = [
  ["node", "raw"],
  ["node", "fastify"],
  ["node", "trpc-to-openapi"],
  ["node", "earshot"],
  ["deno", "trpc-to-openapi"],
  ["deno", "earshot"]
] as const

/** The most that our gateway may take of the time of trpc-to-openapi's handler on the same runtime. */
const FLOORS = { node: 0.65, deno: 0.5 }

/** What one server took for one endpoint, round by round. */
interface Measured {
  readonly server: Server
  readonly endpoint: Endpoint
  readonly cpuMicros: Array<number>
  readonly perSecond: Array<number>
}

const servers: Array<Server> = []
try {
  for (const [runtime, name] of SERVERS) servers.push(await startServer(runtime, name))
  const measured = await measure(servers)
  handIn(endpoints.flatMap((endpoint) => report(endpoint, measured)))
} finally {
  for (const server of servers) server.stop()
}

// ---- helpers ----

async function measure(servers: ReadonlyArray<Server>): Promise<ReadonlyArray<Measured>> {
  const all = endpoints.flatMap((endpoint) =>
    servers.map((server): Measured => ({ server, endpoint, cpuMicros: [], perSecond: [] }))
  )
  for (const { server, endpoint } of all) {
    await checkAnswer(server, endpoint)
    await load(server.port, endpoint, WARM_UP_REQUESTS)
  }
  // One server after the other in each round: whatever else the machine does falls on all alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const { server, endpoint, cpuMicros, perSecond } of all) {
      const cpuBefore = await server.cpu()
      const before = performance.now()
      await load(server.port, endpoint, REQUESTS_PER_ROUND)
      perSecond.push((REQUESTS_PER_ROUND / (performance.now() - before)) * 1_000)
      cpuMicros.push(((await server.cpu()) - cpuBefore) / REQUESTS_PER_ROUND)
    }
  }
  return all
}

/** All must answer the same, whenever they are asked, and nobody without a key. */
async function checkAnswer({ title, port }: Server, { method, path, body, answer }: Endpoint): Promise<void> {
  const ask = (key: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === "" ? {} : { body })
    })
  const refused = await ask("wrong")
  await refused.arrayBuffer()
  const answered = await ask(KEY)
  const isAlike = answered.status === 200 && isDeepStrictEqual(atAnyTime(await answered.json()), atAnyTime(answer()))
  if (refused.status !== 401 || !isAlike) {
    throw new Error(`"${title}" does not answer ${method} ${path} like the others`)
  }
}

/** Without the time at which it was given. */
function atAnyTime(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (key, value) => (key === "to" ? "" : value)))
}

/** Prints what was measured of an endpoint, and gives the figures of our gateway. */
function report(endpoint: Endpoint, all: ReadonlyArray<Measured>): ReadonlyArray<Figure> {
  const measured = all.filter((one) => one.endpoint === endpoint)
  const microsOf = (title: string) => measured.find(({ server }) => server.title === title)?.cpuMicros ?? []
  /** Round by round, then the median: what slows a whole round slows both sides of its ratio. */
  const ratio = (ours: string, theirs: string) => {
    const their = microsOf(theirs)
    return median(microsOf(ours).map((micros, round) => micros / (their[round] ?? Number.NaN)))
  }

  console.log(`\n${endpoint.name}, ${Buffer.byteLength(JSON.stringify(endpoint.answer()))} bytes`)
  console.log(row(["", "CPU µs/request", "lowest–highest", "requests/s"]))
  for (const { server, cpuMicros, perSecond } of measured) {
    const range = `${Math.min(...cpuMicros).toFixed(0)}–${Math.max(...cpuMicros).toFixed(0)}`
    console.log(row([server.title, median(cpuMicros).toFixed(0), range, median(perSecond).toFixed(0)]))
  }
  return RUNTIMES.flatMap((runtime): ReadonlyArray<Figure> => {
    const ours = `${runtime} earshot`
    const theirs = `${runtime} trpc-to-openapi`
    for (const other of ["node raw", "node fastify", theirs]) {
      console.log(`  ${ours} = ${ratio(ours, other).toFixed(2)} × ${other}`)
    }
    const name = `${endpoint.name} on ${runtime}`
    return [
      {
        name: `${name}: CPU, of trpc-to-openapi's`,
        value: ratio(ours, theirs),
        unit: "×",
        better: "lower",
        floor: FLOORS[runtime]
      },
      { name: `${name}: CPU per request`, value: median(microsOf(ours)), unit: "µs", better: "lower" }
    ]
  })
}

function row([title = "", ...columns]: ReadonlyArray<string>): string {
  return `  ${title.padEnd(20)}${columns.map((column) => column.padStart(16)).join("")}`
}
