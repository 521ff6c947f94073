/** Translates database errors to `StoreUnavailable`. */
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Option, Predicate } from "effect"
import { Disk } from "../../core/disk/Disk.ts"
import { type DiskProblem, StoreUnavailable } from "../../core/model/Errors.ts"

/**
 * Also for a defect with a driver error: when the connection is lost in a transaction, rollback and commit die with it.
 * Other defects are bugs and stay defects.
 */
export const unavailable =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, Exclude<E, SqlError> | StoreUnavailable, R> =>
    driverDefectsAsErrors(effect).pipe(
      Effect.catchIf(isSqlError, (error) =>
        Effect.flatMap(diskProblemOf(error), (reason) => {
          const failure = { operation, cause: error.cause ?? error }
          return new StoreUnavailable(Option.isSome(reason) ? { ...failure, reason: reason.value } : failure)
        })
      )
    )

export const driverDefectsAsErrors = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchSomeDefect(effect, (defect) => (isSqlError(defect) ? Option.some(Effect.fail(defect)) : Option.none()))

/** The SQLSTATE of Postgres, or the error code of the operating system. */
export const codeOf = (error: unknown): Option.Option<string> => {
  const cause = isSqlError(error) ? error.cause : error
  return Predicate.hasProperty(cause, "code") && typeof cause.code === "string"
    ? Option.some(cause.code)
    : Option.none()
}

// ---- helpers ----

/** Tells the disk, too: other processes may be the only ones that see it. */
const diskProblemOf = (error: SqlError): Effect.Effect<Option.Option<DiskProblem>> =>
  Effect.gen(function* () {
    const found = problemIn(error)
    if (Option.isNone(found)) return found
    const disk = yield* Disk
    // The embedded store is made read-only while its disk is full.
    const known = yield* disk.problem
    if (Option.isSome(known)) return known
    yield* disk.noteFailure(found.value)
    return found
  })

const problemIn = (error: SqlError): Option.Option<DiskProblem> => {
  const code = Option.getOrElse(codeOf(error), () => "")
  if (FULL.has(code)) return Option.some("disk_full")
  // Postgres has no code of its own for a read-only file system.
  const isReadOnly = READ_ONLY.has(code) || /read-only file system/i.test(String(error.cause))
  return isReadOnly ? Option.some("read_only") : Option.none()
}

/** disk_full of Postgres. */
const FULL: ReadonlySet<string> = new Set(["53100", "ENOSPC", "EDQUOT"])

/** read_only_sql_transaction of Postgres: a standby, for example. */
const READ_ONLY: ReadonlySet<string> = new Set(["25006", "EROFS"])

const isSqlError = (error: unknown): error is SqlError => error instanceof SqlError
