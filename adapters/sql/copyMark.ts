/** The mark of a database to which a store is being copied. Until the copy is complete, nothing else may use it. */
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { StoreCannotOpen } from "./StoreCannotOpen.ts"

/** A table with one row, which also has the progress of the copy (`storeCopy.ts`). */
export const MARK = "earshot_copy"

export const isMarked = (sql: SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql<{ readonly found: boolean }>`select to_regclass(${MARK}) is not null as found`,
    ([row]) => row?.found === true
  )

export const checkNotMarked = (location: string): Effect.Effect<void, StoreCannotOpen | SqlError, SqlClient> =>
  Effect.gen(function* () {
    if (!(yield* isMarked(yield* SqlClient))) return
    return yield* new StoreCannotOpen({
      location,
      reason: "a store is being copied to it, and the copy is not complete",
      remedy: "Run earshot store copy again, which resumes it, or drop this database",
      cause: undefined
    })
  })
