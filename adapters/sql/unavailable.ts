/** The one place where failures of the database become failures of a port. */
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Option, Predicate } from "effect"
import { StorageUnavailable } from "../../core/model/Errors.ts"

/**
 * Turns every failure of the driver into `StorageUnavailable`, also where `withTransaction` has made it a defect: a
 * connection that is lost there fails the rollback or the commit too, and those die. Any other defect is a bug and
 * stays one.
 */
export const unavailable =
  (operation: string) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | SqlError, R>
  ): Effect.Effect<A, Exclude<E, SqlError> | StorageUnavailable, R> =>
    driverDefectsAsErrors(effect).pipe(
      Effect.catchIf(isSqlError, (error) => new StorageUnavailable({ operation, cause: error.cause ?? error }))
    )

export const driverDefectsAsErrors = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchSomeDefect(effect, (defect) => (isSqlError(defect) ? Option.some(Effect.fail(defect)) : Option.none()))

/** Postgres' five characters for what went wrong, or the operating system's name for it. */
export const codeOf = (error: unknown): Option.Option<string> => {
  const cause = isSqlError(error) ? error.cause : error
  return Predicate.hasProperty(cause, "code") && typeof cause.code === "string"
    ? Option.some(cause.code)
    : Option.none()
}

// ---- helpers ----

const isSqlError = (error: unknown): error is SqlError => error instanceof SqlError
