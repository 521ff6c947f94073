/** Compares CPU time per request of our gateway, Fastify and trpc-to-openapi. */
import process from "node:process"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { type Child, startChild } from "../childProcess.ts"
import { type Figure, isMissed, isSmoke, lower, median, reportFigures, tableRow } from "../figures.ts"
import { load } from "./client.ts"
import { type Endpoint, endpoints, KEY } from "./data.ts"

/** Many short rounds, so that background load affects few of them, and neighbours equally. */
const ROUNDS = isSmoke ? 1 : 31
const REQUESTS_PER_ROUND = isSmoke ? 20 : 400
/** Until JIT compilation of the larger gateways has settled. */
const WARM_UP_REQUESTS = isSmoke ? 20 : 8_000

const RUNTIMES = ["node", "deno"] as const
type Runtime = (typeof RUNTIMES)[number]

const SERVERS = [
  ["node", "fastify"],
  ["node", "trpc-to-openapi"],
  ["node", "earshot"],
  ["deno", "trpc-to-openapi"],
  ["deno", "earshot"]
] as const

/** Maximum ratio of our time to that of trpc-to-openapi on the same runtime. */
const TIMES_TRPC_TO_OPENAPI = { node: 0.65, deno: 0.4 }

/** Requests of the profile that is printed for a missed target. */
const PROFILED_REQUESTS = 8_000

interface Server extends Child {
  readonly title: string
  readonly port: number
}

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
  const reports = endpoints.map((endpoint) => ({ endpoint, figures: report(endpoint, measured) }))
  reportFigures(reports.flatMap(({ figures }) => figures))
  for (const { endpoint, figures } of reports) if (!isSmoke && figures.some(isMissed)) await printProfile(endpoint)
} finally {
  for (const server of servers) await server.stop()
}

// ---- helpers ----

async function startServer(runtime: Runtime, name: string): Promise<Server> {
  const script = fileURLToPath(new URL("./server.js", import.meta.url))
  const deno = fileURLToPath(new URL("../../node_modules/.bin/deno", import.meta.url))
  const options = ["--unstable-no-legacy-abort", "--allow-net=127.0.0.1", "--allow-env", "--allow-read", "--allow-sys"]
  const child =
    runtime === "node"
      ? startChild(process.execPath, [script, name])
      : startChild(deno, ["run", ...options, script, name])
  return { ...child, title: `${runtime} ${name}`, port: await child.answer<number>() }
}

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
      const cpuBefore = await server.ask("cpu")
      const before = performance.now()
      await load(server.port, endpoint, REQUESTS_PER_ROUND)
      perSecond.push((REQUESTS_PER_ROUND / (performance.now() - before)) * 1_000)
      cpuMicros.push(((await server.ask("cpu")) - cpuBefore) / REQUESTS_PER_ROUND)
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
  /** Per round: what slows down a whole round affects both sides. */
  const ratios = (ours: string, theirs: string) => {
    const their = microsOf(theirs)
    return microsOf(ours).map((micros, round) => micros / (their[round] ?? Number.NaN))
  }

  console.log(`\n${endpoint.name}, ${Buffer.byteLength(JSON.stringify(endpoint.answer()))} bytes`)
  console.log(row(["", "CPU µs/request", "lowest–highest", "requests/s"]))
  for (const { server, cpuMicros, perSecond } of measured) {
    const range = `${Math.min(...cpuMicros).toFixed(0)}–${Math.max(...cpuMicros).toFixed(0)}`
    console.log(row([server.title, median(cpuMicros).toFixed(0), range, median(perSecond).toFixed(0)]))
  }
  for (const runtime of RUNTIMES) {
    const ours = `${runtime} earshot`
    for (const other of ["node fastify", `${runtime} trpc-to-openapi`]) {
      console.log(`  ${ours} = ${median(ratios(ours, other)).toFixed(2)} × ${other}`)
    }
  }
  return [
    lower({
      name: `${endpoint.name} on node: CPU relative to Fastify`,
      of: ratios("node earshot", "node fastify"),
      unit: "×",
      target: endpoint.timesFastify
    }),
    ...RUNTIMES.flatMap((runtime) => {
      const ours = `${runtime} earshot`
      const name = `${endpoint.name} on ${runtime}`
      const relative = ratios(ours, `${runtime} trpc-to-openapi`)
      const target = TIMES_TRPC_TO_OPENAPI[runtime]
      return [
        lower({ name: `${name}: CPU relative to trpc-to-openapi`, of: relative, unit: "×", target }),
        lower({ name: `${name}: CPU per request`, of: microsOf(ours), unit: "µs" })
      ]
    })
  ]
}

/** Of our gateway on Node: Deno has no profiler that a program can start. */
async function printProfile(endpoint: Endpoint): Promise<void> {
  const server = await startServer("node", "earshot")
  try {
    await load(server.port, endpoint, WARM_UP_REQUESTS)
    const lines = await server.profile(() => load(server.port, endpoint, PROFILED_REQUESTS))
    console.log(`\n${endpoint.name} missed a target. Where the time goes on Node:`)
    for (const line of lines) console.log(`  ${line}`)
  } finally {
    await server.stop()
  }
}

function row(cells: ReadonlyArray<string>): string {
  return tableRow(cells, { first: 20, other: 16 })
}
