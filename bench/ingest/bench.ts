/** Measures ingest: durable matches per second compared with bare ways of writing, latency, and listing. */
import process from "node:process"
import { Effect, Layer } from "effect"
import { type Figure, isSmoke, median, quantile, reportFigures } from "../figures.ts"
import { type Engine, pglite, postgres } from "./engines.ts"
import { addedLatency, EVENTS_PER_SECOND } from "./latency.ts"
import { type Listing, measureLists } from "./listing.ts"
import { type Result, race, ratiosTo, report, rowsPerSecond } from "./race.ts"
import { layer, makeRules, startIngest } from "./setup.ts"
import { BARE, bareWriter, COPY, copyWriter, makeRawTables, PIPELINE, pipelineWriter, rowsWriter } from "./writers.ts"

/** For Postgres. The embedded store is measured without targets. */
const MIN_OF_BARE = 0.8
const MIN_OF_COPY = 0.45
const MAX_OF_SMALL = 2

const SMALL = 10_000
const LARGE = 10_000_000
const SIZES = [SMALL, ...(isSmoke ? [] : [1_000_000]), ...(process.argv.includes("--large") ? [LARGE] : [])]

const measureAll = Effect.gen(function* () {
  const embedded = yield* Effect.scoped(Effect.flatMap(pglite, measureEngine))
  const server = yield* Effect.scoped(Effect.flatMap(postgres, measureEngine))
  const lists = reportLists(yield* measureLists(SIZES))
  return [...embedded, ...server, ...lists]
})
reportFigures(await Effect.runPromise(Effect.scoped(measureAll)))

// ---- helpers ----

function measureEngine(engine: Engine) {
  return Effect.gen(function* () {
    const context = yield* Layer.build(layer(engine.client))
    return yield* Effect.provide(
      Effect.gen(function* () {
        const owned = yield* makeRules
        const feed = yield* startIngest
        yield* makeRawTables
        const results = yield* race([
          pipelineWriter(feed),
          bareWriter(owned),
          rowsWriter(owned),
          copyWriter(owned, engine)
        ])
        report(engine.name, results)
        const latencies = yield* addedLatency(feed)
        console.log(`  from received to listable at ${EVENTS_PER_SECOND} events/s: ${formatLatencies(latencies)}`)
        return figuresOf(engine, results, latencies)
      }),
      context
    )
  })
}

function figuresOf(
  { name }: Engine,
  results: ReadonlyArray<Result>,
  latencies: ReadonlyArray<number>
): ReadonlyArray<Figure> {
  const hasTargets = name === "Postgres"
  return [
    {
      name: `${name}: pipeline relative to a bare loop`,
      value: median(ratiosTo(results, BARE)),
      unit: "×",
      better: "higher",
      target: hasTargets ? MIN_OF_BARE : undefined
    },
    {
      name: `${name}: pipeline relative to COPY`,
      value: median(ratiosTo(results, COPY)),
      unit: "×",
      better: "higher",
      target: hasTargets ? MIN_OF_COPY : undefined
    },
    { name: `${name}: pipeline`, value: rowsPerSecond(results, PIPELINE), unit: "rows/s", better: "higher" },
    {
      name: `${name}: from received to listable, p99`,
      value: quantile(latencies, 0.99),
      unit: "ms",
      better: "lower"
    }
  ]
}

/** Prints the listing times and returns the figures. */
function reportLists(listings: ReadonlyArray<Listing>): ReadonlyArray<Figure> {
  console.log("\nPostgres: a page of 50 matches of a rule")
  for (const { rows, newest, deep } of listings) {
    console.log(
      `  at ${String(rows).padStart(8)} rows   newest: ${formatLatencies(newest)}   deep: ${formatLatencies(deep)}`
    )
  }
  const pages = listings.map(({ rows, newest }) => ({ rows, p99: quantile(newest, 0.99) }))
  const p99At = (wanted: number) => pages.find(({ rows }) => rows === wanted)?.p99 ?? Number.NaN
  const figures = pages.map(
    ({ rows, p99 }): Figure => ({ name: `page at ${rows} rows, p99`, value: p99, unit: "ms", better: "lower" })
  )
  const name = `page at ${LARGE} rows relative to ${SMALL}, p99`
  const ratio: Figure = { name, value: p99At(LARGE) / p99At(SMALL), unit: "×", better: "lower", target: MAX_OF_SMALL }
  return SIZES.includes(LARGE) ? [...figures, ratio] : figures
}

function formatLatencies(values: ReadonlyArray<number>): string {
  return `p50 ${quantile(values, 0.5).toFixed(1)} ms, p99 ${quantile(values, 0.99).toFixed(1)} ms`
}
