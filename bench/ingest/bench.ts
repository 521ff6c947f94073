/** Measures ingest: durable matches per second compared with bare ways of writing, latency, and listing. */
import process from "node:process"
import { Effect, Layer } from "effect"
import { type Figure, higher, isMissed, isSmoke, lower, median, quantile, reportFigures } from "../figures.ts"
import { type Engine, pglite, postgres } from "./engines.ts"
import { addedLatency, EVENTS_PER_SECOND, type Latencies } from "./latency.ts"
import { KINDS, type Listing, measureLists } from "./listing.ts"
import { RULES } from "./posts.ts"
import { printProfile, type Result, race, ratiosTo, report, rowsPerSecond } from "./race.ts"
import { layer, makeRules, startIngest } from "./setup.ts"
import { BARE, bareWriter, COPY, copyWriter, makeRawTable, PIPELINE, pipelineWriter } from "./writers.ts"

/** On Postgres a batch is sent while the one before is being stored. The embedded store runs in this process. */
const MIN_OF_BARE = { Postgres: 1.3, PGlite: 1 }
const MIN_OF_COPY = { Postgres: 0.45, PGlite: undefined }
/** Of the p99 of bare inserts. */
const MAX_OF_BARE_LATENCY = 3
/** 1.0 × within what a busy machine adds. */
const MAX_OF_SMALL = 1.1

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
        const owned = yield* makeRules(RULES)
        const feed = yield* startIngest
        yield* makeRawTable
        const results = yield* race([pipelineWriter(feed), bareWriter(owned), copyWriter(owned, engine)])
        report(engine.name, results)
        const latencies = yield* addedLatency(feed, owned)
        console.log(
          `  from received to listable at ${EVENTS_PER_SECOND} events/s: ${formatLatencies(latencies.pipeline)}`
        )
        console.log(`  the same with bare inserts: ${formatLatencies(latencies.bare)}`)
        const figures = figuresOf(engine, results, latencies)
        if (!isSmoke && figures.some(isMissed)) yield* printProfile(engine.name, pipelineWriter(feed))
        return figures
      }),
      context
    )
  })
}

function figuresOf({ name }: Engine, results: ReadonlyArray<Result>, latencies: Latencies): ReadonlyArray<Figure> {
  const ratio = (other: string) => ratiosTo(results, other)
  const p99 = quantile(latencies.pipeline, 0.99)
  return [
    higher({
      name: `${name}: pipeline relative to a bare loop`,
      of: ratio(BARE),
      unit: "×",
      target: MIN_OF_BARE[name]
    }),
    higher({ name: `${name}: pipeline relative to COPY`, of: ratio(COPY), unit: "×", target: MIN_OF_COPY[name] }),
    higher({ name: `${name}: pipeline`, of: rowsPerSecond(results, PIPELINE), unit: "rows/s" }),
    lower({ name: `${name}: from received to listable, p99`, of: p99, unit: "ms" }),
    lower({
      name: `${name}: from received to listable relative to bare inserts, p99`,
      of: p99 / quantile(latencies.bare, 0.99),
      unit: "×",
      target: MAX_OF_BARE_LATENCY
    })
  ]
}

/** Prints the listing times and returns the figures. */
function reportLists(listings: ReadonlyArray<Listing>): ReadonlyArray<Figure> {
  console.log("\nPostgres: a page of 50 matches")
  return KINDS.flatMap((kind) => {
    const pages = listings.map(({ rows, millis }) => ({ rows, millis: millis.get(kind) ?? [] }))
    console.log(`  ${kind.title}`)
    for (const { rows, millis } of pages)
      console.log(`    at ${String(rows).padStart(8)} rows: ${formatLatencies(millis)}`)
    const [small, ...larger] = pages
    return larger.map(({ rows, millis }) => {
      const name = `page at ${rows} rows relative to ${SMALL}, ${kind.title}`
      return lower({ name, of: median(millis) / median(small?.millis ?? []), unit: "×", target: MAX_OF_SMALL })
    })
  })
}

function formatLatencies(values: ReadonlyArray<number>): string {
  return `p50 ${quantile(values, 0.5).toFixed(1)} ms, p99 ${quantile(values, 0.99).toFixed(1)} ms`
}
