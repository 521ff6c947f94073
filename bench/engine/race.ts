/** Runs all engines on the same rules and events, in turns. */
import process from "node:process"
import { fileURLToPath } from "node:url"
import { isSmoke } from "../figures.ts"
import { type Contender, type Round, startContender } from "./contender.ts"
import type { LoadFigures } from "./peers/loaded.ts"
import type { WorkloadName } from "./workload/workload.ts"

export interface Entry {
  readonly title: string
  readonly start: () => Promise<Contender>
  /** Its matches differ for a known reason and are not compared. */
  readonly isInexact?: boolean
}

export interface Result {
  readonly title: string
  readonly figures: LoadFigures
  /** CPU microseconds per event, round by round. */
  readonly micros: ReadonlyArray<number>
  readonly matchesPerEvent: number
  /** The first event with different matches. */
  readonly difference: string | undefined
}

/** How long each engine is measured. */
export interface Pace {
  /** Until JIT compilation has settled. */
  readonly warmUpMillis: number
  readonly rounds: number
  readonly roundMillis: number
}

export interface Race {
  readonly workload: WorkloadName
  readonly count: number
  /** Ours comes first. */
  readonly results: ReadonlyArray<Result>
}

/** Starts an engine that runs in Node. */
export const startNode = (peer: string, folder: string, workload: WorkloadName, count: number) =>
  startContender(process.execPath, [
    // Single-threaded, so that garbage collection and JIT compilation count too.
    "--single-threaded",
    "--expose-gc",
    "--max-old-space-size=8192",
    fileURLToPath(new URL("./runner.js", import.meta.url)),
    peer,
    folder,
    workload,
    String(count),
    ...(isSmoke ? ["--smoke"] : [])
  ])

export const runRace = async (options: {
  readonly workload: WorkloadName
  readonly count: number
  readonly pace: Pace
  readonly entries: ReadonlyArray<Entry>
}): Promise<Race> => {
  const { workload, count, pace, entries } = options
  const running: Array<Running> = []
  try {
    for (const { title, start, isInexact = false } of entries) {
      progress(`${workload}, ${count} rules: ${title} loads the rules`)
      running.push({ title, isInexact, contender: await start(), rounds: [] })
    }
    progress(`${workload}, ${count} rules: matches of the first ${COMPARED_EVENTS} events`)
    const sets = []
    for (const { contender } of running) sets.push(await contender.sets(COMPARED_EVENTS))
    progress(`${workload}, ${count} rules: warm-up and ${pace.rounds} rounds`)
    for (const { contender } of running) await contender.round(pace.warmUpMillis)
    // Engines take turns within each round, so that background load affects all equally.
    for (let round = 0; round < pace.rounds; round++) {
      for (const { contender, rounds } of running) rounds.push(await contender.round(pace.roundMillis))
    }
    const results: Array<Result> = []
    for (const [index, { title, isInexact, contender, rounds }] of running.entries()) {
      results.push({
        title,
        figures: contender.figures,
        micros: rounds.map(({ cpuMicros, events }) => cpuMicros / events),
        matchesPerEvent: sum(rounds.map(({ matches }) => matches)) / sum(rounds.map(({ events }) => events)),
        difference: isInexact ? undefined : differenceOf(sets[0] ?? [], sets[index] ?? [])
      })
    }
    return { workload, count, results }
  } finally {
    for (const { contender } of running) await contender.stop()
  }
}

export const progress = (text: string): void => {
  process.stderr.write(`${process.uptime().toFixed(0).padStart(4)} s  ${text}\n`)
}

// ---- helpers ----

const COMPARED_EVENTS = 50

interface Running {
  readonly title: string
  readonly isInexact: boolean
  readonly contender: Contender
  readonly rounds: Array<Round>
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((one, other) => one + other, 0)

const differenceOf = (ours: ReadonlyArray<string>, theirs: ReadonlyArray<string>): string | undefined => {
  const event = ours.findIndex((set, index) => set !== theirs[index])
  return event < 0 ? undefined : `event ${event}: ours matches rules "${ours[event]}", theirs "${theirs[event]}"`
}
