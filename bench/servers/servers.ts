/** Real servers on one Postgres, each a process of the built program, and the CPU time that they and Postgres used. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import process from "node:process"

export interface Server {
  readonly url: string
  /** In microseconds. */
  readonly cpu: () => number
  readonly stop: () => Promise<void>
}

/** Resolves when it listens. Both platforms run in process, and accounts have no limits. */
export const startServer = async (databaseUrl: string): Promise<Server> => {
  const child = spawn(process.execPath, ["dist/main.js", "serve"], {
    env: {
      ...environment(databaseUrl),
      PORT: "0",
      EARSHOT_DEMO_FEED: "off",
      EARSHOT_LIMIT_REQUESTS: "0",
      EARSHOT_LIMIT_EVENTS: "0",
      EARSHOT_LIMIT_STREAMS: "0",
      LOG_LEVEL: "error"
    },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = once(child, "exit")
  return {
    url: await addressOf(child),
    cpu: () => cpuOf(String(child.pid)).own,
    stop: async () => {
      child.kill()
      await ended
    }
  }
}

/** Runs a command on the store and returns its output. */
export const command = (databaseUrl: string, args: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, ["dist/main.js", ...args], {
    env: environment(databaseUrl),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  }).trim()

/** Of all processes of the Postgres server, also those that have ended, in microseconds. `backend`: one of them. */
export const postgresCpu = (backend: number): number => {
  const { parent: postmaster } = cpuOf(String(backend))
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const running = processes.flatMap((pid) => {
    try {
      const { own, parent } = cpuOf(pid)
      return parent === postmaster ? [own] : []
    } catch {
      // It has ended since the listing.
      return []
    }
  })
  const { own, ofEndedChildren } = cpuOf(postmaster)
  return running.reduce((sum, one) => sum + one, own + ofEndedChildren)
}

// ---- helpers ----

const environment = (databaseUrl: string) => ({
  PATH: process.env["PATH"],
  NODE_ENV: "production",
  DATABASE_URL: databaseUrl
})

const addressOf = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    stdout?.on("data", (text) => {
      const url = /http:\/\/[^\s)]+/.exec(String(text))?.[0]
      if (url !== undefined) resolve(url)
    })
    stdout?.once("end", () => reject(new Error("The server ended before it listened")))
  })

/** Linux counts in hundredths of a second. */
const TICK_MICROS = 10_000

const cpuOf = (pid: string) => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The name of the program, in brackets, can contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const ticks = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * TICK_MICROS
  return { parent: fields[1] ?? "", own: ticks(11), ofEndedChildren: ticks(13) }
}
