/**
 * Copies a store to an empty database, table by table. Foreign keys and triggers are off meanwhile: the triggers would
 * count everything a second time. At the end both sides are compared, by the number of rows and a digest of each table.
 *
 * A copy can be resumed at any time. Places are physical (`ctid`), because not every table has a key; they are valid
 * while nothing is written to the source, which the number of its last transaction tells.
 */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { CannotCopyStore, CopyStopped } from "./copyErrors.ts"
import { copyRows, digestOf, type Step } from "./copyRows.ts"
import { type Begun, begin, checkUsable, complete, placesIn, versionOf } from "./copyTarget.ts"
import { migrateAt } from "./migrate.ts"
import type { StoreCannotOpen } from "./StoreCannotOpen.ts"
import { driverDefectsAsErrors } from "./statements.ts"
import { copySequences, createPartitions, type Leaf, tablesIn } from "./tables.ts"

export interface Options {
  /** Migrated, and not written meanwhile. */
  readonly source: SqlClient
  readonly target: SqlClient
  /** Of the target, for messages. */
  readonly location: string
  readonly report: (progress: CopyProgress) => Effect.Effect<void>
}

export interface CopyProgress {
  readonly phase: "copying" | "verifying"
  readonly begun: Begun
  /** Copied or verified by this process. */
  readonly rows: number
  readonly doneBytes: number
  readonly totalBytes: number
}

export interface Copied {
  readonly begun: Begun
  readonly tables: ReadonlyArray<{ readonly name: string; readonly rows: number; readonly digest: string }>
}

export const copyStore = (options: Options): Effect.Effect<Copied, CannotCopyStore | CopyStopped | StoreCannotOpen> =>
  driverDefectsAsErrors(copy(options)).pipe(
    Effect.catchTag("SqlError", ({ cause }) => new CopyStopped({ location: options.location, cause }))
  )

// ---- helpers ----

const copy = ({ source, target, location, report }: Options) =>
  Effect.gen(function* () {
    const tables = yield* tablesIn(source)
    const goal = { target, location, tables, version: yield* versionOf(source) }
    // Before the schema is brought up to date: a database in use must not be changed.
    yield* checkUsable(goal)
    yield* Effect.provideService(migrateAt(location), SqlClient, target)
    const begun = yield* begin(goal)
    yield* createPartitions({ source, target })

    const reporter = (phase: CopyProgress["phase"], leaves: ReadonlyArray<Leaf>) => {
      const totalBytes = leaves.reduce((sum, { bytes }) => sum + bytes, 0)
      const done = { rows: 0, bytes: 0 }
      return ({ rows, bytes }: Step) => {
        done.rows += rows
        done.bytes += bytes
        return report({ phase, begun, rows: done.rows, doneBytes: Math.round(done.bytes), totalBytes })
      }
    }

    const leaves = tables.flatMap((table) => table.leaves)
    const reportCopied = reporter("copying", leaves)
    yield* reportCopied({ rows: 0, bytes: 0 })
    const places = yield* placesIn(target)
    for (const table of tables) {
      for (const leaf of table.leaves) {
        const from = places[leaf.name] ?? null
        yield* copyRows({ source, target, table, leaf, from, report: reportCopied }).pipe(
          Effect.catchTag("PlaceTaken", () => inUse(location))
        )
      }
    }
    yield* copySequences({ source, target })

    const made = yield* tablesIn(target)
    const reportVerified = reporter("verifying", [...leaves, ...made.flatMap((table) => table.leaves)])
    const verified: Array<Copied["tables"][number]> = []
    for (const table of tables) {
      const original = yield* digestOf(source, table, reportVerified)
      const copied = yield* digestOf(target, made.find(({ name }) => name === table.name) ?? table, reportVerified)
      if (copied.rows !== original.rows || copied.digest !== original.digest) {
        return yield* differs({ location, table: table.name, original, copied })
      }
      yield* target`analyze ${target(table.name)}`
      verified.push({ name: table.name, ...original })
    }
    yield* complete({ target, tables })
    return { begun, tables: verified }
  })

const inUse = (location: string) =>
  new CannotCopyStore({
    location,
    reason: "another process copies to it, too",
    remedy: "Stop one of them, and run the command again"
  })

interface Digest {
  readonly rows: number
  readonly digest: string
}

const differs = (found: {
  readonly location: string
  readonly table: string
  readonly original: Digest
  readonly copied: Digest
}) => {
  const describe = ({ rows, digest }: Digest) => `${rows} rows with the digest ${digest}`
  return new CannotCopyStore({
    location: found.location,
    reason: `the table "${found.table}" has ${describe(found.original)}, and its copy has ${describe(found.copied)}`,
    remedy: "The store itself is unchanged. Drop that database, and copy to a new one"
  })
}
