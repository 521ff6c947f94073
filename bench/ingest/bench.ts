/** What ingest makes of its store: durable matches per second beside the bare ways of writing, latency, and listing. */
import process from "node:process"
import { parseArgs } from "node:util"
import { Effect, Layer } from "effect"
import { type Engine, pglite, postgres } from "./engines.ts"
import { median, quantile, type Verdict } from "./figures.ts"
import { addedLatency, EVENTS_PER_SECOND } from "./latency.ts"
import { type Listing, measureLists } from "./listing.ts"
import { RULES } from "./posts.ts"
import { race, ratiosTo, report } from "./race.ts"
import { BARE, bareWay, COPY, copyWay, makeRawTables, pipelineWay, rowsWay } from "./ways.ts"
import { layer, makeRules, startIngest } from "./world.ts"

const LEAST_OF_BARE = 0.8
const LEAST_OF_COPY = 0.45
const MOST_OF_SMALL = 2

const SMALL = 10_000
const LARGE = 10_000_000

const { values: options } = parseArgs({
  options: { help: { type: "boolean", default: false }, large: { type: "boolean", default: false } }
})
if (options.help) {
  console.log(`npm run bench:ingest [-- --large]

Drives the whole pipeline with ${RULES} rules and posts of about 1.5 kB, on PGlite and on a Postgres of its own, in turns
with a loop of its insert, a multi-row INSERT and COPY; then measures how soon a match can be listed at
${EVENTS_PER_SECOND} events per second, and how long a page of 50 matches takes at ${SMALL} and 1000000 rows.
  --large   ${LARGE} rows too: some minutes and 25 GB in the folder for temporary files
  --help    this text

Ends with 1 when a floor that was measured is missed.`)
} else {
  const verdicts = await Effect.runPromise(Effect.scoped(main(options.large)))
  console.log("\nFloors")
  for (const { title, floor, reached, isMet } of verdicts) {
    console.log(`  ${title.padEnd(52)}${floor.padStart(14)}   ${reached.toFixed(2)} ${isMet ? "met" : "MISSED"}`)
  }
  process.exitCode = verdicts.every(({ isMet }) => isMet) ? 0 : 1
}

// ---- helpers ----

function main(isLarge: boolean) {
  return Effect.gen(function* () {
    yield* Effect.scoped(Effect.flatMap(pglite, measureEngine))
    const results = yield* Effect.scoped(Effect.flatMap(postgres, measureEngine))
    const listings = yield* measureLists([SMALL, 1_000_000, ...(isLarge ? [LARGE] : [])])
    reportLists(listings)
    return [
      least("pipeline on Postgres, of the bare loop", median(ratiosTo(results, BARE)), LEAST_OF_BARE),
      least("pipeline on Postgres, of COPY", median(ratiosTo(results, COPY)), LEAST_OF_COPY),
      ...listVerdict(listings)
    ]
  })
}

function measureEngine(engine: Engine) {
  return Effect.gen(function* () {
    const context = yield* Layer.build(layer(engine.client))
    return yield* Effect.provide(
      Effect.gen(function* () {
        const owned = yield* makeRules
        const feed = yield* startIngest
        yield* makeRawTables
        const results = yield* race([pipelineWay(feed), bareWay(owned), rowsWay(owned), copyWay(owned, engine)])
        report(engine.name, results)
        const latencies = yield* addedLatency(feed)
        console.log(`  from received to listable at ${EVENTS_PER_SECOND} events/s: ${inMillis(latencies)}`)
        return results
      }),
      context
    )
  })
}

function reportLists(listings: ReadonlyArray<Listing>): void {
  console.log("\nPostgres: a page of 50 matches of a rule")
  for (const { rows, newest, deep } of listings) {
    console.log(`  at ${String(rows).padStart(8)} rows   newest: ${inMillis(newest)}   deep: ${inMillis(deep)}`)
  }
}

function listVerdict(listings: ReadonlyArray<Listing>): ReadonlyArray<Verdict> {
  const p99 = (rows: number) => {
    const found = listings.find((listing) => listing.rows === rows)
    return found === undefined ? undefined : quantile(found.newest, 0.99)
  }
  const [small, large] = [p99(SMALL), p99(LARGE)]
  if (small === undefined || large === undefined) return []
  const reached = large / small
  const title = `p99 of a newest page at ${LARGE} rows, of that at ${SMALL}`
  return [{ title, floor: `at most ${MOST_OF_SMALL}`, reached, isMet: reached <= MOST_OF_SMALL }]
}

function least(title: string, reached: number, floor: number): Verdict {
  return { title, floor: `at least ${floor}`, reached, isMet: reached >= floor }
}

function inMillis(values: ReadonlyArray<number>): string {
  return `p50 ${quantile(values, 0.5).toFixed(1)} ms, p99 ${quantile(values, 0.99).toFixed(1)} ms`
}
