/** Translates database errors to `StoreUnavailable`. */
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Option, Predicate } from "effect"
import { StoreUnavailable } from "../../core/model/Errors.ts"

/**
 * Also for a defect with a driver error: when the connection is lost in a transaction, rollback and commit die with it.
 * Other defects are bugs and stay defects.
 */
export const unavailable =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, Exclude<E, SqlError> | StoreUnavailable, R> =>
    driverDefectsAsErrors(effect).pipe(
      Effect.catchIf(isSqlError, (error) => new StoreUnavailable({ operation, cause: error.cause ?? error }))
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

const isSqlError = (error: unknown): error is SqlError => error instanceof SqlError
