/** Answers to requests with an idempotency key: kept in the transaction of the effect. */
import type { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Option } from "effect"
import { type Attempt, TAKEN_OVER } from "../../core/idempotency/ClaimStore.ts"
import { CurrentDecision } from "../../core/idempotency/CurrentClaim.ts"
import type { StoreUnavailable } from "../../core/model/Errors.ts"

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
