/** Compares the engine with its peers: events per second of CPU time, bytes per rule, cost of changes. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { isMissed, isSmoke, reportFigures } from "../figures.ts"
import { compileLuceneMonitor, luceneMonitorMissing, startLuceneMonitor } from "./peers/luceneMonitor.ts"
import { PostgresCluster, postgresMissing } from "./peers/Postgres.ts"
import { type Entry, type Pace, progress, type Race, runRace, startNode } from "./race.ts"
import {
  CLOSURES,
  differencesOf,
  figuresOf,
  LUCENE,
  OURS,
  PARSE,
  POSTGRES,
  RECORDS,
  RECORDS_SIZE,
  recordsFigure,
  tableOf
} from "./summary.ts"
import type { WorkloadName } from "./workload/workload.ts"
import { writeEvents, writeRules } from "./workload/writing.ts"

interface Plan {
  readonly pace: Pace
  readonly sizes: ReadonlyArray<readonly [workload: WorkloadName, counts: ReadonlyArray<number>]>
}

const FULL: Plan = {
  pace: { warmUpMillis: 2_000, rounds: 5, roundMillis: 400 },
  sizes: [
    ["posts", [1_000, 10_000, 100_000, 1_000_000]],
    ["pages", [1_000, 10_000, 100_000]]
  ]
}
const QUICK: Plan = {
  pace: { warmUpMillis: 800, rounds: 5, roundMillis: 150 },
  sizes: [
    ["posts", [1_000, 10_000]],
    ["pages", [1_000]]
  ]
}
const SMOKE: Plan = {
  pace: { warmUpMillis: 10, rounds: 1, roundMillis: 20 },
  sizes: [
    ["posts", [200]],
    ["pages", [200]]
  ]
}

await main(isSmoke ? SMOKE : process.argv.includes("--quick") ? QUICK : FULL)

// ---- helpers ----

async function main({ pace, sizes }: Plan): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"))
  let cluster: PostgresCluster | undefined
  const cleanUp = () => {
    cluster?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  // The Postgres server would survive an interrupted benchmark. The other engines end with their input.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      cleanUp()
      process.exit(1)
    })
  }
  try {
    const missing = [
      describeMissing(LUCENE, luceneMonitorMissing()),
      describeMissing(POSTGRES, postgresMissing())
    ].filter((line) => line !== undefined)
    const classes = luceneMonitorMissing() === undefined ? compileLuceneMonitor(folder) : undefined
    cluster = postgresMissing() === undefined ? new PostgresCluster(folder) : undefined

    const races: Array<Race> = []
    for (const [workload, counts] of sizes) {
      progress(`${workload}: writing the events`)
      await writeEvents(folder, workload)
      for (const count of counts) {
        progress(`${workload}, ${count} rules: writing the rules`)
        await writeRules(folder, workload, count)
        races.push(
          await runRace({ workload, count, pace, entries: entries({ folder, classes, cluster, workload, count }) })
        )
        console.log(tableOf(races.slice(-1)))
      }
    }
    report(races, missing)
    const missed = figuresOf(races).filter(isMissed)
    if (!isSmoke && missed.some(({ name }) => name === recordsFigure(RECORDS_SIZE))) await printProfile(folder, pace)
  } finally {
    cleanUp()
  }
}

/** Slow engines only take part where a round of theirs is short. */
function entries(options: {
  readonly folder: string
  readonly classes: string | undefined
  readonly cluster: PostgresCluster | undefined
  readonly workload: WorkloadName
  readonly count: number
}): ReadonlyArray<Entry> {
  const { folder, classes, cluster, workload, count } = options
  const node = (title: string, peer: string): Entry => ({
    title,
    start: () => startNode(peer, folder, workload, count)
  })
  const all = [
    node(OURS, "ours"),
    node(RECORDS, "records"),
    // Matches nothing.
    { ...node(PARSE, "parse"), isInexact: true },
    node(CLOSURES, "closures")
  ]
  if (count <= (workload === "posts" ? 10_000 : 1_000)) all.push(node("naive, all rules", "naive"))
  if (cluster !== undefined && count <= (workload === "posts" ? 100_000 : 10_000)) {
    all.push({ title: POSTGRES, start: () => cluster.load(folder, workload, count) })
  }
  if (classes !== undefined) {
    // At a million rules each takes over a minute to load, so only the faster one runs.
    for (const presearcher of count < 1_000_000 ? (["term", "frequency"] as const) : (["frequency"] as const)) {
      all.push({
        title: `${LUCENE}, ${presearcher}`,
        start: () => startLuceneMonitor({ folder, classes, presearcher, workload, count })
      })
    }
  }
  return all
}

async function printProfile(folder: string, { warmUpMillis }: Pace): Promise<void> {
  const contender = await startNode("records", folder, "posts", RECORDS_SIZE)
  try {
    await contender.round(warmUpMillis)
    const lines = await contender.profile(async () => void (await contender.round(warmUpMillis)))
    console.log(`\nWhole records at ${RECORDS_SIZE} rules missed the target. Where the time goes:`)
    for (const line of lines) console.log(`  ${line}`)
  } finally {
    await contender.stop()
  }
}

function describeMissing(peer: string, remedy: string | undefined): string | undefined {
  if (remedy === undefined) return undefined
  const line = `${peer} is not installed:\n    ${remedy}`
  progress(line)
  return line
}

function report(races: ReadonlyArray<Race>, missing: ReadonlyArray<string>): void {
  console.log(`\nCPU time of one core. Ratios are medians over all rounds`)
  for (const line of missing) console.log(`  ${line}`)
  for (const { workload, count, results } of races) {
    const { figures } = results[0] ?? {}
    const calls = figures?.calls
    if (figures === undefined || calls === undefined) continue
    const micros = (millis: number | undefined) =>
      millis === undefined ? "not measured" : `${(millis * 1_000).toFixed(1)} µs`
    console.log(
      `  ${OURS}, ${workload}, ${count} rules: ${figures.processBytesPerRule?.toFixed(0)} bytes per rule by the process, ${figures.unindexed} rules without an anchor; replace p50 ${micros(calls.replaceP50)}, p99 ${micros(calls.replaceP99)}; longest add ${micros(calls.longestAdd)}, replace ${micros(calls.longestReplace)}, match ${micros(calls.longestMatch)}, collection ${micros(calls.longestCollection)}`
    )
  }
  const differences = differencesOf(races)
  console.log(differences.length === 0 ? "\nAll engines gave the same matches" : "\nMatches DIFFER")
  for (const line of differences) console.log(`  ${line}`)
  process.exitCode = differences.length === 0 ? 0 : 1
  reportFigures(figuresOf(races))
}
