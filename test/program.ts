/** Starts the real program as a child process, on Node or Deno, with its own store. */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { ConfigProvider, Console, Effect, Fiber, Layer, Logger, Option } from "effect"
import { until } from "./eventually.ts"
import { sized } from "./long.ts"

export type RuntimeName = "node" | "deno"

export const BOTH_RUNTIMES: ReadonlyArray<RuntimeName> = ["node", "deno"]

/** Both in the long tests. The others use both for the HTTP contract and a fresh start. */
export const RUNTIMES = sized<ReadonlyArray<RuntimeName>>(["node"], BOTH_RUNTIMES)

/** Deno in the long tests. */
export const OTHER_RUNTIME = sized<RuntimeName>("node", "deno")

export const ROOT = fileURLToPath(new URL("..", import.meta.url))

/** The API key of every started service. */
export const KEY = "test-key-of-the-first-account"

/** Timeout of a start on a busy machine. */
export const START_MILLIS = 240_000

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Served {
  readonly url: string
  readonly host: string
  readonly port: number
  /** Waits until standard output matches; resolves with the first group, or the whole match. */
  readonly printed: (pattern: RegExp) => Promise<string>
  /** Stops as SIGTERM does, and waits for the end. */
  readonly stop: () => Promise<Ended>
}

/** A process of its own. */
export interface Running extends Served {
  readonly signal: (name: NodeJS.Signals) => void
  readonly ended: Promise<Ended>
}

/** Undefined removes a setting. */
type Environment = Readonly<Record<string, string | undefined>>

/** Serves on a free port. Resolves when it listens. `umask` is octal; by default that of the tests. */
export const startService = async (
  runtime: RuntimeName,
  settings: Environment = {},
  { umask }: { readonly umask?: string } = {}
): Promise<Running> => {
  const folder = await mkdtemp(join(tmpdir(), "earshot-test-"))
  const environment = { PORT: "0", EARSHOT_DATA_DIR: folder, EARSHOT_BOOTSTRAP_KEY: KEY, ...settings }
  const shell = umask === undefined ? [] : ["sh", "-c", `umask ${umask}; exec "$0" "$@"`]
  const { child, ended, output } = launch(runtime, ["serve"], environment, shell)
  const signal = (name: NodeJS.Signals) => void child.kill(name)
  const cleaned = ended.finally(() => rm(folder, { recursive: true, force: true }))
  const url = await Promise.race([printed(child.stdout, () => output.stdout, ADDRESS), endedEarly(cleaned)])
  return {
    ...addressOf(url),
    signal,
    ended: cleaned,
    printed: (pattern) => printed(child.stdout, () => output.stdout, pattern),
    stop: () => {
      signal("SIGTERM")
      return cleaned
    }
  }
}

/**
 * Serves in this process, which costs a tenth of a child process. For tests that need no process of their own: there are
 * no signals, and the metrics are those of all servers in the process.
 */
export const serveInProcess = async (settings: Environment = {}): Promise<Served> => {
  // Imported here because most tests of the program do not need its sources.
  const [{ serve }, { outputSettings }, { outcomeOf }, Log] = await Promise.all([
    import("../app/serve.ts"),
    import("../app/settings.ts"),
    import("../app/run.ts"),
    import("../adapters/runtimes/log.ts")
  ])
  const folder = await mkdtemp(join(tmpdir(), "earshot-test-"))
  const output = { stdout: "", stderr: "" }
  const printing = Layer.unwrapEffect(
    Effect.map(outputSettings, ({ logFormat, logLevel }) =>
      Layer.mergeAll(
        Log.layerWith(logFormat, (text) => {
          output.stderr += text
        }),
        Logger.minimumLogLevel(logLevel),
        Layer.setUnhandledErrorLogLevel(Option.none())
      )
    )
  )
  const printTo = (stream: keyof typeof output) => (line: unknown) =>
    Effect.sync(() => {
      output[stream] += `${line}\n`
    })
  const program = Effect.flatMap(Effect.console, (console) =>
    Console.withConsole(serve, { ...console, log: printTo("stdout"), error: printTo("stderr") })
  )
  const environment = { EARSHOT_DATA_DIR: folder, EARSHOT_BOOTSTRAP_KEY: KEY, ...settings }
  const fiber = Effect.runFork(Effect.withConfigProvider(Effect.provide(program, printing), configOf(environment)))
  const ended = Effect.runPromise(Fiber.await(fiber))
    .then((exit) => {
      const { code, report } = outcomeOf(exit, { args: ["serve"], runsUntilStopped: true })
      return { code, stdout: output.stdout, stderr: output.stderr + report }
    })
    .finally(() => rm(folder, { recursive: true, force: true }))
  const printedHere = async (pattern: RegExp) => {
    await until(`the server prints ${pattern}`, () => pattern.test(output.stdout))
    const [whole, group] = pattern.exec(output.stdout) ?? []
    return group ?? whole ?? ""
  }
  const url = await Promise.race([printedHere(ADDRESS), endedEarly(ended)])
  return {
    ...addressOf(url),
    printed: printedHere,
    stop: () => {
      Effect.runFork(Fiber.interrupt(fiber))
      return ended
    }
  }
}

/** In this process on Node, as a process of its own on Deno. */
export const serveOn = (runtime: RuntimeName, settings: Environment = {}): Promise<Served> =>
  runtime === "node" ? serveInProcess(settings) : startService(runtime, settings)

/** Runs a command to its end. */
export const runCommand = async (
  runtime: RuntimeName,
  args: ReadonlyArray<string>,
  settings: Environment = {}
): Promise<Ended> => {
  const folder = await mkdtemp(join(tmpdir(), "earshot-test-"))
  const { ended } = launch(runtime, args, { PORT: "0", EARSHOT_DATA_DIR: folder, ...settings })
  return ended.finally(() => rm(folder, { recursive: true, force: true }))
}

/**
 * Runs a command in this process, which is faster than a child process. Runs are serialized, because everything printed
 * meanwhile counts as the command's output.
 */
export const runInProcess = (args: ReadonlyArray<string>, settings: Environment = {}): Promise<Ended> => {
  const next = last.then(async () => {
    // Imported here because most tests of the program do not need its sources.
    const [{ commands, runsUntilStopped }, { outcomeOf }] = await Promise.all([
      import("../app/commands.ts"),
      import("../app/run.ts")
    ])
    const folder = await mkdtemp(join(tmpdir(), "earshot-test-"))
    const environment = { EARSHOT_DATA_DIR: folder, ...settings }
    const output = { stdout: "", stderr: "" }
    const { stdout, stderr } = process
    const original = [stdout.write, stderr.write] as const
    const capture = (stream: keyof typeof output) => (text: unknown) => {
      output[stream] += String(text)
      return true
    }
    stdout.write = capture("stdout")
    stderr.write = capture("stderr")
    try {
      const program = Effect.withConfigProvider(commands(args), configOf(environment))
      const exit = await Effect.runPromiseExit(program)
      const { code, report } = outcomeOf(exit, { args, runsUntilStopped: runsUntilStopped(args) })
      return { code, stdout: output.stdout, stderr: output.stderr + report }
    } finally {
      ;[stdout.write, stderr.write] = original
      await rm(folder, { recursive: true, force: true })
    }
  })
  last = next.catch(() => undefined)
  return next
}
let last: Promise<unknown> = Promise.resolve()

/** Starts a command that needs no store, and leaves its standard input to the caller. */
export const startCommand = (runtime: RuntimeName, args: ReadonlyArray<string>, settings: Environment = {}) => {
  const { child, ended, output } = launch(runtime, args, settings)
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    printed: (pattern: RegExp) => printed(child.stdout, () => output.stdout, pattern),
    printedError: (pattern: RegExp) => printed(child.stderr, () => output.stderr, pattern),
    signal: (name: NodeJS.Signals) => void child.kill(name),
    ended
  }
}

// ---- helpers ----

/** Without the demo feed: only the test's own events. */
/** Without a limit on requests: many tests send them as fast as they can. */
const baseSettings = { NO_COLOR: "1", EARSHOT_DEMO_FEED: "off", EARSHOT_LIMIT_REQUESTS: "0" }

/** Settings for a program in this process. */
const configOf = (settings: Environment): ConfigProvider.ConfigProvider => {
  const all = Object.entries({ ...baseSettings, PORT: "0", ...settings })
  return ConfigProvider.fromMap(new Map(all.filter((entry): entry is [string, string] => entry[1] !== undefined)))
}

/** The first line of the output of a server. */
const ADDRESS = /^[^\n]*?(http:\/\/[^\s/]+)[^\n]*\n/

const addressOf = (url: string) => {
  const { hostname, port } = new URL(url)
  return { url, host: hostname, port: Number(port) }
}

const endedEarly = async (ended: Promise<Ended>): Promise<never> => {
  const { code, stderr } = await ended
  throw new Error(`It ended with ${code} before it listened: ${stderr}`)
}

const runtimeCommands: Readonly<Record<RuntimeName, readonly [string, ...ReadonlyArray<string>]>> = {
  // Not `process.execPath`: the tests may run on Deno. The long tests set another version.
  node: [process.env["EARSHOT_TEST_NODE"] ?? "node", "dist/main.js"],
  // Without the optimizing compiler for WebAssembly, the embedded store starts with a third less CPU time.
  deno: ["node_modules/.bin/deno", "run", "-A", ...sized(["--v8-flags=--liftoff-only"], []), "dist/main.js"]
}

/** `shell` is a command that runs the one that follows it. */
const launch = (
  runtime: RuntimeName,
  args: ReadonlyArray<string>,
  settings: Environment,
  shell: ReadonlyArray<string> = []
) => {
  const [command = "", ...rest] = [...shell, ...runtimeCommands[runtime], ...args]
  const child = spawn(command, rest, {
    cwd: ROOT,
    // Settings of the developer must not leak in.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...baseSettings, ...settings },
    stdio: ["pipe", "pipe", "pipe"]
  })
  const output = { stdout: "", stderr: "" }
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, ...output }))
  })
  return { child, ended, output }
}

const printed = (stream: Readable, text: () => string, pattern: RegExp) =>
  new Promise<string>((resolve) => {
    const look = () => {
      const found = pattern.exec(text())
      if (found === null) return
      stream.off("data", look)
      resolve(found[1] ?? found[0])
    }
    stream.on("data", look)
    look()
  })
