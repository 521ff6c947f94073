/** An engine under test: a child process that answers commands. */
import { startChild } from "../childProcess.ts"
import type { LoadFigures } from "./peers/loaded.ts"

export interface Contender {
  readonly figures: LoadFigures
  /** Matches events until this much CPU time is used. */
  readonly round: (millis: number) => Promise<Round>
  /** Rules that match each of the first timed events: ascending numbers, separated by commas. */
  readonly sets: (events: number) => Promise<ReadonlyArray<string>>
  readonly stop: () => Promise<void>
}

export interface Round {
  readonly events: number
  readonly cpuMicros: number
  readonly matches: number
}

/** Resolves once the process has loaded its rules. */
export const startContender = async (command: string, options: ReadonlyArray<string>) => {
  const { answer, ask, profile, stop } = startChild(command, options)
  const contender: Contender = {
    figures: await answer<LoadFigures>(),
    round: (millis) => ask(`round ${millis}`),
    sets: (events) => ask(`sets ${events}`),
    stop
  }
  return { ...contender, profile }
}
