/** Starts the servers, each in its own process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export const RUNTIMES = ["node", "deno"] as const
export type Runtime = (typeof RUNTIMES)[number]

/** A line of input of a server. It prints the answer as JSON. */
export type Command = "cpu" | "startProfile" | "endProfile"

export interface Server {
  readonly title: string
  readonly port: number
  /** Microseconds of user and system time since the process started. */
  readonly cpu: () => Promise<number>
  /** The functions that take most time during `work`. Only on Node. */
  readonly profile: (work: () => Promise<void>) => Promise<ReadonlyArray<string>>
  readonly stop: () => void
}

export const startServer = async (runtime: Runtime, name: string): Promise<Server> => {
  const [command, flags] = COMMANDS[runtime]
  const script = fileURLToPath(new URL("./server.js", import.meta.url))
  const child = spawn(command, [...flags, script, name], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["pipe", "pipe", "inherit"]
  })
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`The server "${name}" on ${runtime} ended`)))
  // The process may end while no request is pending.
  ended.catch(() => {})

  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const answer = async () => JSON.parse((await Promise.race([lines.next(), ended])).value)
  const ask = (command: Command) => {
    child.stdin.write(`${command}\n`)
    return answer()
  }
  return {
    title: `${runtime} ${name}`,
    port: await answer(),
    cpu: () => ask("cpu"),
    profile: async (work) => {
      await ask("startProfile")
      await work()
      return ask("endProfile")
    },
    stop: () => void child.kill()
  }
}

// ---- helpers ----

const COMMANDS: Readonly<Record<Runtime, readonly [string, ReadonlyArray<string>]>> = {
  node: [process.execPath, []],
  deno: [
    fileURLToPath(new URL("../../node_modules/.bin/deno", import.meta.url)),
    ["run", "--unstable-no-legacy-abort", "--allow-net=127.0.0.1", "--allow-env", "--allow-read", "--allow-sys"]
  ]
}
