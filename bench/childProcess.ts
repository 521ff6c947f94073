/** Processes that answer each line of their input with a line of JSON. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { createInterface } from "node:readline"
import { cpuMicros, startProfile } from "./figures.ts"

export interface Child {
  /** The next line that it prints. We wrote the program, so each answer has a known type. */
  readonly answer: <A>() => Promise<A>
  readonly ask: <A = number>(command: string) => Promise<A>
  /** The functions that take most time during `work`. Only of programs on Node. */
  readonly profile: (work: () => Promise<void>) => Promise<ReadonlyArray<string>>
  readonly stop: () => Promise<void>
}

export const startChild = (command: string, args: ReadonlyArray<string>): Child => {
  const env = { ...process.env, NODE_ENV: "production" }
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] })
  const exited = once(child, "exit")
  const ended = exited.then(() => Promise.reject(new Error(`"${[command, ...args].join(" ")}" ended`)))
  // The process may end while no answer is awaited.
  ended.catch(() => {})
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const answer = async <A>() => JSON.parse((await Promise.race([lines.next(), ended])).value) as A
  const ask = <A>(question: string) => {
    child.stdin.write(`${question}\n`)
    return answer<A>()
  }
  return {
    answer,
    ask,
    profile: async (work) => {
      await ask("startProfile")
      await work()
      return ask("endProfile")
    },
    stop: async () => {
      child.kill()
      await exited
    }
  }
}

/** Answers commands until the input ends, with the end of the benchmark. */
export const answerCommands = async (
  commands: Readonly<Record<string, (...args: ReadonlyArray<number>) => unknown>>
): Promise<void> => {
  let endProfile: () => Promise<ReadonlyArray<string>> = async () => []
  const all: typeof commands = {
    cpu: cpuMicros,
    startProfile: async () => {
      endProfile = await startProfile()
    },
    endProfile: () => endProfile(),
    ...commands
  }
  for await (const line of createInterface(process.stdin)) {
    const [name = "", ...args] = line.split(" ")
    printJson(await all[name]?.(...args.map(Number)))
  }
  process.exit(0)
}

export const printJson = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value ?? null)}\n`)
}
