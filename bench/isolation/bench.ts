/**
 * Measures what one account can do to the others: the longest delay of the server's event loop under attack, its
 * memory, and how long another account's requests take while one floods the server.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Figure, isSmoke, quantile, reportFigures } from "../figures.ts"
import { attacks } from "./attacks.ts"
import { client } from "./client.ts"

const IDLE_MILLIS = isSmoke ? 1_000 : 30_000
const ATTACK_MILLIS = isSmoke ? 1 : 300_000
const REQUESTS = isSmoke ? 20 : 1_000
const ATTACKER = "attacker-of-the-benchmark"
const VICTIM = "victim"

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"))
const env = { PATH: process.env["PATH"], EARSHOT_DATA_DIR: folder }
const server = fork("dist/main.js", ["serve"], {
  env: { ...env, PORT: "0", EARSHOT_BOOTSTRAP_KEY: ATTACKER, EARSHOT_DEMO_FEED: "off", LOG_LEVEL: "error" },
  execArgv: ["--import", pathToFileURL(beside("probe.js")).href],
  stdio: ["ignore", "pipe", "inherit", "ipc"]
})
try {
  reportFigures(await measure(await addressOf(server)))
} finally {
  server.kill()
  await once(server, "exit")
  rmSync(folder, { recursive: true, force: true })
}

// ---- helpers ----

async function measure(url: string): Promise<ReadonlyArray<Figure>> {
  const victim = client(url, command(["keys", "create", "--account", VICTIM]))
  command(["accounts", "limit", VICTIM, "requests", "0"])
  await victim.post("/api.CreateRule", {
    name: "Cats",
    intent: "Cats",
    platforms: ["x"],
    overrides: { x: "cat" }
  })
  await victim.post(
    "/local/events",
    Array.from({ length: 50 }, (_, i) => ({ data: { id: String(i + 1), text: "a cat" } }))
  )
  const listing = async () => {
    const millis: Array<number> = []
    for (let i = 0; i < REQUESTS; i++) {
      const startedAt = performance.now()
      await victim.post("/matches", {})
      millis.push(performance.now() - startedAt)
    }
    return quantile(millis, 0.99)
  }
  await listing()

  const quiet = await listing()
  const flood = fork(beside("flood.js"), [url, ATTACKER])
  await sleep(1_000)
  const flooded = await listing()
  flood.kill()
  await once(flood, "exit")
  console.log(`POST /matches of another account, p99: ${quiet.toFixed(1)} ms, under flood ${flooded.toFixed(1)} ms`)

  await sleep(1_000)
  await longestDelay()
  await sleep(IDLE_MILLIS)
  const idle = await longestDelay()
  console.log(`longest delay of the event loop, idle: ${idle.toFixed(0)} ms`)

  // The limits on requests and work are off for this part: without them every attack is carried out each time.
  for (const limit of ["requests", "checks", "events"]) command(["accounts", "limit", "default", limit, "0"])
  const attacker = client(url, ATTACKER)
  const delays = new Map<string, number>()
  let memory = residentMemory()
  const end = performance.now() + ATTACK_MILLIS
  await attacks.prepare(attacker)
  do {
    for (const [name, attack] of Object.entries(attacks.all)) {
      await longestDelay()
      await attack(attacker)
      const delay = await longestDelay()
      delays.set(name, Math.max(delays.get(name) ?? 0, delay))
      memory = Math.max(memory, residentMemory())
    }
  } while (performance.now() < end)
  for (const [name, delay] of delays)
    console.log(`longest delay, ${name.padEnd(60)} ${delay.toFixed(0).padStart(5)} ms`)
  const longest = Math.max(...delays.values())
  console.log(`largest memory under attack: ${memory.toFixed(0)} MB, at the end ${residentMemory().toFixed(0)} MB`)

  return [
    {
      name: "p99 of another account under flood, relative to quiet",
      value: flooded / quiet,
      unit: "×",
      better: "lower",
      target: 3
    },
    {
      name: "longest event loop delay under attack, beyond idle",
      value: Math.max(0, longest - idle),
      unit: "ms",
      better: "lower",
      target: 50
    },
    { name: "largest memory under attack", value: memory, unit: "MB", better: "lower" }
  ]
}

function command(args: ReadonlyArray<string>): string {
  return execFileSync(process.execPath, ["dist/main.js", ...args], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  }).trim()
}

function addressOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    stdout?.on("data", (text) => {
      const url = /http:\/\/[^\s)]+/.exec(String(text))?.[0]
      if (url !== undefined) resolve(url)
    })
    stdout?.once("end", () => reject(new Error("The server ended before it listened")))
  })
}

/** Since the last call, in milliseconds. */
async function longestDelay(): Promise<number> {
  server.send("read")
  const [delay] = await once(server, "message")
  return Number(delay)
}

function residentMemory(): number {
  const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]
  return Number(kibibytes) / 1_024
}
