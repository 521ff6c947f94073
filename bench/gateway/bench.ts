/** Compares CPU time per request of our service with that of Fastify, on Postgres and on PGlite. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { asSuperuser, startPostgres } from "../../fixtures/postgres.ts"
import { type Child, startChild } from "../childProcess.ts"
import { type Figure, isMissed, isSmoke, lower, median, reportFigures, tableRow } from "../figures.ts"
import { load, type Target } from "./client.ts"
import { type Endpoint, endpoints, KEY } from "./data.ts"

/** Many short rounds, so that background load affects few of them, and neighbours equally. */
const ROUNDS = isSmoke ? 1 : 31
const REQUESTS_PER_ROUND = isSmoke ? 20 : 100
/** Until JIT compilation has settled. */
const WARM_UP_REQUESTS = isSmoke ? 20 : 3_000

/** Requests of the profile that is printed for a missed target. */
const PROFILED_REQUESTS = 2_000

const STORES = ["Postgres", "PGlite"] as const
type Store = (typeof STORES)[number]

/** The peers are Fastify, which answers with objects, or writes the text of payloads. */
const NAMES = ["earshot", "objects", "text"] as const

interface Server extends Child {
  readonly name: string
  readonly store: Store
  readonly port: number
}

/** Results of one server for one endpoint, by round. */
interface Measured extends Target {
  readonly server: Server
  readonly cpuMicros: Array<number>
  readonly perSecond: Array<number>
}

const postgres = await startPostgres()
const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"))
const servers: Array<Server> = []
try {
  for (const store of STORES) for (const name of NAMES) servers.push(await startServer(store, name))
  const measured = await measure()
  const reports = endpoints.flatMap((endpoint) =>
    STORES.map((store) => {
      const compared = measured.filter((one) => one.endpoint === endpoint && one.server.store === store)
      return { compared, figures: report(`${endpoint.name} on ${store}`, compared) }
    })
  )
  reportFigures(reports.flatMap(({ figures }) => figures))
  for (const { compared, figures } of reports) if (!isSmoke && figures.some(isMissed)) await printProfile(compared)
} finally {
  for (const server of servers) await server.stop()
  await postgres.remove()
  rmSync(folder, { recursive: true, force: true })
}

// ---- helpers ----

async function startServer(store: Store, name: string): Promise<Server> {
  const location = store === "PGlite" ? join(folder, name) : new URL(`/${name}`, postgres.url).href
  if (store === "Postgres") await asSuperuser(postgres.url, `create database ${name}`)
  const child = startChild(process.execPath, [fileURLToPath(new URL("./server.js", import.meta.url)), name, location])
  return { ...child, name, store, port: await child.answer<number>() }
}

async function measure(): Promise<ReadonlyArray<Measured>> {
  const all: Array<Measured> = []
  for (const endpoint of endpoints) {
    for (const server of servers) {
      if (server.name !== "earshot" && !(server.name in endpoint.targets)) continue
      const bytes = await checkAnswer(server, endpoint)
      const measured = { server, port: server.port, endpoint, bytes, cpuMicros: [], perSecond: [] }
      await load(measured, WARM_UP_REQUESTS)
      all.push(measured)
    }
  }
  // Servers take turns within each round, so that background load affects all equally.
  for (let round = 0; round < ROUNDS; round++) {
    for (const measured of all) {
      const cpuBefore = await measured.server.ask("cpu")
      const before = performance.now()
      await load(measured, REQUESTS_PER_ROUND)
      measured.perSecond.push((REQUESTS_PER_ROUND / (performance.now() - before)) * 1_000)
      measured.cpuMicros.push(((await measured.server.ask("cpu")) - cpuBefore) / REQUESTS_PER_ROUND)
    }
  }
  return all
}

/** All servers must answer with the same rows, and refuse a wrong key. Returns the size of the answer. */
async function checkAnswer({ name, store, port }: Server, { method, path, body, answer }: Endpoint): Promise<number> {
  const ask = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const init = { method, headers, ...(body === "" ? {} : { body }) }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    return { status: response.status, text: await response.text() }
  }
  const refused = await ask("wrong")
  const { status, text } = await ask(KEY)
  const { coverage: _, next_cursor: __, ...rows } = JSON.parse(text)
  if (refused.status !== 401 || status !== 200 || !isDeepStrictEqual(rows, answer)) {
    throw new Error(`"${name}" on ${store} answers "${method} ${path}" differently: ${text.slice(0, 1_000)}`)
  }
  return Buffer.byteLength(text)
}

/** Prints the results of an endpoint on a store, and returns our figures. */
function report(title: string, compared: ReadonlyArray<Measured>): ReadonlyArray<Figure> {
  console.log(`\n${title}`)
  console.log(row(["", "CPU µs/request", "lowest–highest", "requests/s", "bytes"]))
  for (const { server, cpuMicros, perSecond, bytes } of compared) {
    const range = `${Math.min(...cpuMicros).toFixed(0)}–${Math.max(...cpuMicros).toFixed(0)}`
    console.log(row([server.name, median(cpuMicros).toFixed(0), range, median(perSecond).toFixed(0), String(bytes)]))
  }
  const [ours, ...peers] = compared
  if (ours === undefined) throw new Error("Nothing was measured")
  return [
    ...peers.map(({ server: { name }, cpuMicros }) => {
      // Per round: what slows down a whole round affects both sides.
      const of = ours.cpuMicros.map((micros, round) => micros / (cpuMicros[round] ?? Number.NaN))
      const target = ours.endpoint.targets[name]
      return lower({ name: `${title}: CPU relative to Fastify with ${name}`, of, unit: "×", target })
    }),
    lower({ name: `${title}: CPU per request`, of: ours.cpuMicros, unit: "µs" })
  ]
}

async function printProfile([ours]: ReadonlyArray<Measured>): Promise<void> {
  if (ours === undefined) return
  const { server, endpoint } = ours
  console.log(`\n${endpoint.name} on ${server.store} missed a target. Where the time goes:`)
  for (const line of await server.profile(() => load(ours, PROFILED_REQUESTS))) console.log(`  ${line}`)
}

function row(cells: ReadonlyArray<string>): string {
  return tableRow(cells, { first: 10, other: 16 })
}
