/** Child processes of the benchmark: one line per command, answered with a number. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export interface BenchProcess {
  readonly ask: (question: string) => Promise<number>
  readonly stop: () => void
}

export const startProcess = async (
  script: "server" | "clients",
  ...args: ReadonlyArray<string>
): Promise<BenchProcess> => {
  const path = fileURLToPath(new URL(`./${script}.js`, import.meta.url))
  const child = spawn(process.execPath, ["--expose-gc", path, ...args], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["pipe", "pipe", "inherit"]
  })
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`"${[script, ...args].join(" ")}" ended`)))
  // The process may end while no command is pending.
  ended.catch(() => {})
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    ask: async (question) => {
      child.stdin.write(`${question}\n`)
      return Number((await Promise.race([lines.next(), ended])).value)
    },
    stop: () => void child.kill()
  }
}

/** Handles commands until standard input closes. */
export const handleCommands = (
  answers: Readonly<Record<string, (...words: ReadonlyArray<number>) => number | Promise<number>>>
): void => {
  const lines = createInterface(process.stdin)
  lines.on("line", async (line) => {
    const [question = "", ...words] = line.split(" ")
    process.stdout.write(`${await answers[question]?.(...words.map(Number))}\n`)
  })
  lines.on("close", () => process.exit(0))
}
