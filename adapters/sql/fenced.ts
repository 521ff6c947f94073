/** Fences: the database refuses the writes of an owner that was replaced by another server. */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Effect, Option } from "effect"
import { CurrentFence, type Fence } from "../../core/ownership/Ownership.ts"
import { codeOf } from "./unavailable.ts"

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

/** Raised by `check_owner`. */
const REPLACED = "ES002"
