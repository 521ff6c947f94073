/** The server under attack, on one of the two stores. */
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { startPostgres } from "../../fixtures/postgres.ts"
import { command, cpuOf, memoryOf, type Settings, serve } from "../program.ts"

export interface Server {
  readonly store: "PGlite" | "Postgres"
  readonly url: string
  /** Runs a command of the operator and returns what it prints. */
  readonly command: (args: ReadonlyArray<string>) => Promise<string>
  /** Of the event loop since the last call, in milliseconds. */
  readonly longestDelay: () => Promise<number>
  /** In megabytes. */
  readonly residentMemory: () => number
  readonly cpuSeconds: () => number
  readonly stop: () => Promise<void>
}

/** The key of the first account. */
export const ATTACKER = "attacker-of-the-benchmark"

export const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export const embedded = (): Promise<Server> => start("PGlite", {}, async () => {})

export const onPostgres = async (): Promise<Server> => {
  const { url, remove } = await startPostgres(["fsync=on"])
  return start("Postgres", { DATABASE_URL: url }, remove)
}

// ---- helpers ----

async function start(store: Server["store"], settings: Settings, remove: () => Promise<void>): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"))
  const own = { EARSHOT_DATA_DIR: folder, ...settings }
  const { child, url, pid, stop } = await serve(
    { ...own, EARSHOT_BOOTSTRAP_KEY: ATTACKER, EARSHOT_DEMO_FEED: "off", LOG_LEVEL: "error" },
    ["--import", pathToFileURL(beside("probe.js")).href]
  )
  return {
    store,
    url,
    command: (args) => command(own, args),
    longestDelay: async () => {
      child.send("read")
      const [delay] = await once(child, "message")
      return Number(delay)
    },
    residentMemory: () => memoryOf(pid, "VmRSS"),
    cpuSeconds: () => cpuOf(pid).own / 1_000_000,
    stop: async () => {
      await stop()
      await remove()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
