/** Runs many crash runs with consecutive seeds: `npm run crash:ingest -- 200 1` (count, first seed). */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Effect, type Scope } from "effect"
import pg from "pg"
import { type PostgresServer, startPostgres } from "../../fixtures/postgres.ts"
import { type CrashRun, crashRun } from "./crashRuns.ts"

const runs = Number(process.argv[2] ?? 200)
const firstSeed = Number(process.argv[3] ?? 1)
const postgres = await startPostgres()
let failed = 0
let expected = 0
let kills = 0
try {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    // An even seed has X's backfill: every store runs with and without it.
    const open = seed % 4 < 2 ? databaseOn(postgres, seed) : folder()
    const store = seed % 4 < 2 ? "Postgres" : "embedded"
    const runtime = seed % 8 < 6 ? "node" : "deno"
    const report = await Effect.runPromise(
      Effect.scoped(Effect.flatMap(open, (settings) => crashRun({ seed, runtime, store: settings })))
    )
    expected += report.expected
    kills += report.kills.length
    if (report.differences.length > 0) failed++
    console.log(
      `${seed - firstSeed + 1}/${runs} seed ${seed}, ${store}, ${runtime}: ${report.expected} matches, ${report.missed} missed in reported gaps, killed at ${report.kills.join(", ")}`
    )
    for (const difference of report.differences) console.log(`  ${difference}`)
  }
} finally {
  await postgres.remove()
}
console.log(
  `${runs} runs, ${kills} kills, ${expected} matches: ${failed === 0 ? "no difference" : `${failed} runs differ`}`
)
process.exit(failed === 0 ? 0 : 1)

// ---- helpers ----

type StoreSettings = Effect.Effect<CrashRun["store"], never, Scope.Scope>

function databaseOn({ url }: PostgresServer, seed: number): StoreSettings {
  const name = `crash_${seed}`
  const database = new URL(url)
  database.pathname = name
  return Effect.acquireRelease(
    Effect.as(execute(url, `create database ${name}`), { DATABASE_URL: database.href }),
    () => execute(url, `drop database ${name} with (force)`)
  )
}

function execute(url: string, statement: string) {
  return Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(statement)
    await client.end()
  })
}

function folder(): StoreSettings {
  return Effect.acquireRelease(
    Effect.sync(() => ({ EARSHOT_DATA_DIR: mkdtempSync(join(tmpdir(), "earshot-crash-")) })),
    ({ EARSHOT_DATA_DIR }) => Effect.sync(() => rmSync(EARSHOT_DATA_DIR, { recursive: true, force: true }))
  )
}
