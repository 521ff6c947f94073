/** The built program in a process of its own, and the CPU time and memory of processes. */
import { type ChildProcess, execFile, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import process from "node:process"
import { promisify } from "node:util"

export type Settings = Readonly<Record<string, string>>

export interface Program {
  readonly child: ChildProcess
  readonly url: string
  readonly pid: string
  readonly stop: () => Promise<void>
}

/** Resolves when the server listens. */
export const serve = async (settings: Settings, execArgv: ReadonlyArray<string> = []): Promise<Program> => {
  const child = fork("dist/main.js", ["serve"], {
    env: environment({ PORT: "0", ...settings }),
    execArgv: [...execArgv],
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  const ended = once(child, "exit")
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (text) => {
      const address = /http:\/\/[^\s)]+/.exec(String(text))?.[0]
      if (address !== undefined) resolve(address)
    })
    child.stdout?.once("end", () => reject(new Error("The server ended before it listened")))
  })
  const stop = async () => {
    child.kill()
    await ended
  }
  return { child, url: await url, pid: String(child.pid), stop }
}

/** Runs a command on the store and returns its output. */
export const command = async (settings: Settings, args: ReadonlyArray<string>): Promise<string> =>
  (await promisify(execFile)(process.execPath, ["dist/main.js", ...args], { env: environment(settings) })).stdout.trim()

/** User and system time of a process, and of its children that have ended, in microseconds. */
export const cpuOf = (pid: string) => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The name of the program, in brackets, can contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const micros = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * TICK_MICROS
  return { parent: fields[1] ?? "", own: micros(11), ofEndedChildren: micros(13) }
}

/** `VmHWM` is the peak, `VmRSS` the present. In units of 1,048,576 bytes, as in `free -m`. */
export const memoryOf = (pid: string, field: "VmHWM" | "VmRSS"): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024

// ---- helpers ----

/** Linux counts in hundredths of a second. */
const TICK_MICROS = 10_000

const environment = (settings: Settings) => ({ PATH: process.env["PATH"], NODE_ENV: "production", ...settings })
