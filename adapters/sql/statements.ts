/**
 * What statements run in: database errors become `StoreUnavailable`, the write of an owner has an effect only while no
 * other server has replaced it, and the write that decides an operation is stored with its answer.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Effect, Option, Predicate } from "effect"
import { Disk } from "../../core/disk/Disk.ts"
import { type Attempt, TAKEN_OVER } from "../../core/idempotency/ClaimStore.ts"
import { CurrentDecision } from "../../core/idempotency/Idempotency.ts"
import { type DiskProblem, StoreUnavailable } from "../../core/model/Errors.ts"
import { CurrentFence, type Fence } from "../../core/ownership/Ownership.ts"

/**
 * Translates database errors to `StoreUnavailable`. Also a defect with a driver error: when the connection is lost in a
 * transaction, rollback and commit die with it. Other defects are bugs and stay defects.
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

/** Runs the write in one transaction with the check of the current fence, if there is one. */
export const fenced =
  (sql: SqlClient) =>
  <A, E, R>(write: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.flatMap(
      CurrentFence,
      Option.match({
        onNone: () => write,
        onSome: (fence) => orLost(fence)(sql.withTransaction(Effect.zipRight(sql`select ${check(sql, fence)}`, write)))
      })
    )

/** An expression for a statement that has to run under the fence. */
export const check = (sql: SqlClient, { name, epoch }: Fence): Fragment => sql`check_owner(${name}, ${epoch})`

export const orLost =
  ({ lost }: Fence) =>
  <A, E, R>(write: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.catchIf(
      write,
      (error) => Option.contains(codeOf(error), REPLACED),
      () => lost
    )

/** Runs the write in one transaction with the answer that it decides, if there is one and the write had an effect. */
export const decided =
  <A>(sql: SqlClient, hadEffect: (written: A) => boolean = () => true) =>
  <E, R>(write: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError | StoreUnavailable, R> =>
    Effect.flatMap(
      CurrentDecision,
      Option.match({
        onNone: (): Effect.Effect<A, E | SqlError | StoreUnavailable, R> => write,
        onSome: ({ answer, ...attempt }) =>
          Effect.gen(function* () {
            const written = yield* write
            if (hadEffect(written)) yield* keep(sql, attempt, yield* answer)
            return written
          }).pipe(sql.withTransaction)
      })
    )

/** Fails if another attempt has taken over: the transaction must not have an effect then. */
export const keep = (sql: SqlClient, { digest, attempt }: Attempt, answer: string): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const kept = yield* sql`update idempotency_keys set answer = ${answer}
      where digest = ${digest} and attempt = ${attempt} returning 1`
    if (kept.length === 0) return yield* new SqlError({ cause: new Error(TAKEN_OVER) })
  })

// ---- helpers ----

/** Raised by `check_owner`. */
const REPLACED = "ES002"

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
