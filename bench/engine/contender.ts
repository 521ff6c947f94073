/** An engine under test: a child process that answers commands. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { LoadFigures } from "./peers/loaded.ts"

export interface Contender {
  readonly figures: LoadFigures
  /** Matches events until this much CPU time is used. */
  readonly round: (millis: number) => Promise<Round>
  /** Rules that match each of the first timed events: ascending numbers, separated by commas. */
  readonly sets: (events: number) => Promise<ReadonlyArray<string>>
  readonly stop: () => Promise<void>
}

/** Answers the commands of `runner.ts`. */
export interface Runner extends Contender {
  /** The functions that take most of a round. Only of engines in Node. */
  readonly profile: (millis: number) => Promise<ReadonlyArray<string>>
}

export interface Round {
  readonly events: number
  readonly cpuMicros: number
  readonly matches: number
}

/** Resolves once the process has loaded its rules. */
export const startContender = async (command: string, options: ReadonlyArray<string>): Promise<Runner> => {
  const child = spawn(command, options, { stdio: ["pipe", "pipe", "inherit"] })
  const exited = once(child, "exit")
  const ended = exited.then(() => Promise.reject(new Error(`"${command} ${options.join(" ")}" ended`)))
  // The process may end while no request is pending.
  ended.catch(() => {})

  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  // Our own processes: each command has a known answer type.
  const answer = async <A>() => JSON.parse((await Promise.race([lines.next(), ended])).value) as A
  const ask = <A>(request: string): Promise<A> => {
    child.stdin.write(`${request}\n`)
    return answer<A>()
  }
  try {
    return {
      figures: await answer<LoadFigures>(),
      round: (millis) => ask(`round ${millis}`),
      sets: (events) => ask(`sets ${events}`),
      profile: (millis) => ask(`profile ${millis}`),
      stop: async () => {
        child.kill()
        await exited
      }
    }
  } catch (error) {
    child.kill()
    throw error
  }
}
