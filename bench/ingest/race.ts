/** Runs the writers on one engine in turns: rows per second, and the pipeline's ratio to each other writer. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { isSmoke, median, quantile, startProfile } from "../figures.ts"
import { newPosts } from "./posts.ts"
import { PIPELINE, type Writer } from "./writers.ts"

/** Short turns, so that background load affects neighbours equally. */
const ROUNDS = isSmoke ? 1 : 31
const WARM_UP_ROUNDS = isSmoke ? 0 : 2
const ROWS_PER_TURN = isSmoke ? 200 : 5_000

export interface Result {
  readonly title: string
  /** One value per round. */
  readonly millis: Array<number>
}

export const race = (writers: ReadonlyArray<Writer>) =>
  Effect.gen(function* () {
    const results = writers.map((way) => ({ way, title: way.title, millis: [] as number[] }))
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const { way, millis } of results) {
        const taken = yield* timeTurn(way)
        if (round >= 0) millis.push(taken)
      }
      // Rotates the order, so that no writer always follows the one that leaves the most cleanup.
      results.push(...results.splice(0, 1))
    }
    return writers.flatMap((way): ReadonlyArray<Result> => results.filter((result) => result.way === way))
  })

/** Speed of the pipeline relative to another writer, by round: what slows down a round affects both. */
export const ratiosTo = (results: ReadonlyArray<Result>, other: string): ReadonlyArray<number> => {
  const [ours, theirs] = [PIPELINE, other].map(
    (title) => results.find((result) => result.title === title)?.millis ?? []
  )
  return ours?.map((millis, round) => (theirs?.[round] ?? Number.NaN) / millis) ?? []
}

export const rowsPerSecond = (results: ReadonlyArray<Result>, title: string): number =>
  perSecond(median(results.find((result) => result.title === title)?.millis ?? []))

export const report = (engine: string, results: ReadonlyArray<Result>): void => {
  console.log(`\n${engine}: durable rows per second, ${ROWS_PER_TURN} rows per turn, ${ROUNDS} rounds`)
  for (const { title, millis } of results) {
    const [rate, slowest, fastest] = [median(millis), Math.max(...millis), Math.min(...millis)].map((value) =>
      perSecond(value).toFixed(0)
    )
    const ratio = title === PIPELINE ? "" : `pipeline = ${withQuartiles(ratiosTo(results, title))}`
    console.log(`  ${title.padEnd(26)}${rate?.padStart(8)}${`${slowest}–${fastest}`.padStart(16)}   ${ratio}`.trimEnd())
  }
}

/** Prints where the time goes in this process while the writer takes some turns. */
export const printProfile = (engine: string, writer: Writer) =>
  Effect.gen(function* () {
    const endProfile = yield* Effect.promise(startProfile)
    const millis = yield* Effect.replicateEffect(timeTurn(writer), PROFILED_TURNS)
    const lines = yield* Effect.promise(endProfile)
    const seconds = (millis.reduce((sum, turn) => sum + turn, 0) / 1_000).toFixed(1)
    console.log(`\n${engine} missed a target. Where the time goes in this process, in ${seconds} s:`)
    for (const line of lines) console.log(`  ${line}`)
  })

// ---- helpers ----

const PROFILED_TURNS = 4

const perSecond = (millis: number): number => (ROWS_PER_TURN / millis) * 1_000

/** Shows the quartiles too: if they are far apart on a busy machine, a target between them is inconclusive. */
const withQuartiles = (ratios: ReadonlyArray<number>): string => {
  const [lower, middle, upper] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2))
  return `${middle} × (${lower}–${upper})`
}

/** Writes into an empty table. In milliseconds. */
const timeTurn = (writer: Writer) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`truncate ${sql(writer.table)}`
    const write = yield* writer.prepare(newPosts(ROWS_PER_TURN))
    const before = performance.now()
    yield* write
    const taken = performance.now() - before
    const [row] = yield* sql<{ readonly rows: number }>`select count(*)::int as rows from ${sql(writer.table)}`
    if (row?.rows !== ROWS_PER_TURN) {
      return yield* Effect.dieMessage(`"${writer.title}" stored ${row?.rows} rows instead of ${ROWS_PER_TURN}`)
    }
    return taken
  })
