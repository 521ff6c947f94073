/** The ways of writing on one engine, in turns: rows per second, and what ours is of each other's. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { isSmoke, median, quantile } from "../figures.ts"
import { newPosts } from "./posts.ts"
import { PIPELINE, type Way } from "./ways.ts"

/** Short turns: what else the machine does then falls on neighbours alike. */
const ROUNDS = isSmoke ? 1 : 31
const WARM_UP_ROUNDS = isSmoke ? 0 : 2
const ROWS_A_TURN = isSmoke ? 200 : 5_000

export interface Result {
  readonly title: string
  /** Of each round. */
  readonly millis: Array<number>
}

export const race = (ways: ReadonlyArray<Way>) =>
  Effect.gen(function* () {
    const results = ways.map((way) => ({ way, title: way.title, millis: [] as number[] }))
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const { way, millis } of results) {
        const taken = yield* turn(way)
        if (round >= 0) millis.push(taken)
      }
      // Nobody is always the one after the one that leaves most to tidy up.
      results.push(...results.splice(0, 1))
    }
    return ways.flatMap((way): ReadonlyArray<Result> => results.filter((result) => result.way === way))
  })

/** How many times as fast the pipeline is as another, round by round: what slows a whole round slows both. */
export const ratiosTo = (results: ReadonlyArray<Result>, other: string): ReadonlyArray<number> => {
  const [ours, theirs] = [PIPELINE, other].map(
    (title) => results.find((result) => result.title === title)?.millis ?? []
  )
  return ours?.map((millis, round) => (theirs?.[round] ?? Number.NaN) / millis) ?? []
}

export const rowsPerSecond = (results: ReadonlyArray<Result>, title: string): number =>
  perSecond(median(results.find((result) => result.title === title)?.millis ?? []))

export const report = (engine: string, results: ReadonlyArray<Result>): void => {
  console.log(`\n${engine}: durable rows per second, ${ROWS_A_TURN} rows a turn, ${ROUNDS} rounds`)
  for (const { title, millis } of results) {
    const [rate, slowest, fastest] = [median(millis), Math.max(...millis), Math.min(...millis)].map((value) =>
      perSecond(value).toFixed(0)
    )
    const ratio = title === PIPELINE ? "" : `pipeline = ${inQuartiles(ratiosTo(results, title))}`
    console.log(`  ${title.padEnd(26)}${rate?.padStart(8)}${`${slowest}–${fastest}`.padStart(16)}   ${ratio}`.trimEnd())
  }
}

// ---- helpers ----

const perSecond = (millis: number): number => (ROWS_A_TURN / millis) * 1_000

/** The middle half is told too: on a busy machine it is wide, and a floor inside it is neither met nor missed for sure. */
const inQuartiles = (ratios: ReadonlyArray<number>): string => {
  const [lower, middle, upper] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2))
  return `${middle} × (${lower}–${upper})`
}

/** Into an empty table: in milliseconds. */
const turn = (way: Way) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`truncate ${sql(way.table)}`
    const write = yield* way.prepare(newPosts(ROWS_A_TURN))
    const before = performance.now()
    yield* write
    const taken = performance.now() - before
    const [row] = yield* sql<{ readonly rows: number }>`select count(*)::int as rows from ${sql(way.table)}`
    if (row?.rows !== ROWS_A_TURN) {
      return yield* Effect.dieMessage(`"${way.title}" stored ${row?.rows} rows in place of ${ROWS_A_TURN}`)
    }
    return taken
  })
