/** The server under attack, on one of the two stores. */
import { type ChildProcess, execFile, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { startPostgres } from "../../fixtures/postgres.ts"

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

async function start(store: Server["store"], settings: Record<string, string>, remove: () => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"))
  const env = { PATH: process.env["PATH"], EARSHOT_DATA_DIR: folder, ...settings }
  const server = fork("dist/main.js", ["serve"], {
    env: { ...env, PORT: "0", EARSHOT_BOOTSTRAP_KEY: ATTACKER, EARSHOT_DEMO_FEED: "off", LOG_LEVEL: "error" },
    execArgv: ["--import", pathToFileURL(beside("probe.js")).href],
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  const url = await addressOf(server)
  return {
    store,
    url,
    command: async (args: ReadonlyArray<string>) =>
      (await promisify(execFile)(process.execPath, ["dist/main.js", ...args], { env })).stdout.trim(),
    longestDelay: async () => {
      server.send("read")
      const [delay] = await once(server, "message")
      return Number(delay)
    },
    residentMemory: () => Number(/VmRSS:\s+(\d+)/.exec(procOf(server, "status"))?.[1]) / 1_024,
    cpuSeconds: () => {
      // After the name of the process: user and system time in hundredths of a second.
      const [user, system] = procOf(server, "stat").split(") ").at(-1)?.split(" ").slice(11, 13) ?? []
      return (Number(user) + Number(system)) / 100
    },
    stop: async () => {
      server.kill()
      await once(server, "exit")
      await remove()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function procOf({ pid }: ChildProcess, file: string): string {
  return readFileSync(`/proc/${pid}/${file}`, "utf8")
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
