/** Compares CPU time per request of our gateway, node:http, Fastify and trpc-to-openapi. */
import { isDeepStrictEqual } from "node:util"
import { type Figure, isSmoke, median, reportFigures } from "../figures.ts"
import { load } from "./client.ts"
import { type Endpoint, endpoints, KEY } from "./data.ts"
import { RUNTIMES, type Server, startServer } from "./process.ts"

/** Many short rounds, so that background load affects few of them, and neighbours equally. */
const ROUNDS = isSmoke ? 1 : 31
const REQUESTS_PER_ROUND = isSmoke ? 20 : 400
/** Until JIT compilation of the larger gateways has settled. */
const WARM_UP_REQUESTS = isSmoke ? 20 : 8_000

const SERVERS = [
  ["node", "raw"],
  ["node", "fastify"],
  ["node", "trpc-to-openapi"],
  ["node", "earshot"],
  ["deno", "trpc-to-openapi"],
  ["deno", "earshot"]
] as const

/** Maximum ratio of our time to that of trpc-to-openapi on the same runtime. */
const TARGETS = { node: 0.65, deno: 0.5 }

/** Results of one server for one endpoint, by round. */
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
  reportFigures(endpoints.flatMap((endpoint) => report(endpoint, measured)))
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
  // Servers take turns within each round, so that background load affects all equally.
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

/** All servers must give the same answer, and refuse a wrong key. */
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
  const isSame = answered.status === 200 && isDeepStrictEqual(withoutTime(await answered.json()), withoutTime(answer()))
  if (refused.status !== 401 || !isSame) {
    throw new Error(`"${title}" answers "${method} ${path}" differently`)
  }
}

/** Removes the time of the answer. */
function withoutTime(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (key, value) => (key === "to" ? "" : value)))
}

/** Prints the results of an endpoint and returns our gateway's figures. */
function report(endpoint: Endpoint, all: ReadonlyArray<Measured>): ReadonlyArray<Figure> {
  const measured = all.filter((one) => one.endpoint === endpoint)
  const microsOf = (title: string) => measured.find(({ server }) => server.title === title)?.cpuMicros ?? []
  /** The median of per-round ratios: what slows down a whole round affects both sides. */
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
        name: `${name}: CPU relative to trpc-to-openapi`,
        value: ratio(ours, theirs),
        unit: "×",
        better: "lower",
        target: TARGETS[runtime]
      },
      { name: `${name}: CPU per request`, value: median(microsOf(ours)), unit: "µs", better: "lower" }
    ]
  })
}

function row([title = "", ...columns]: ReadonlyArray<string>): string {
  return `  ${title.padEnd(20)}${columns.map((column) => column.padStart(16)).join("")}`
}
