/** `ClaimStore` in SQL. */
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer, Option, Schedule } from "effect"
import { ClaimStore } from "../../core/idempotency/ClaimStore.ts"
import { CommitHooks } from "../../core/idempotency/CommitHooks.ts"
import { keep, unavailable } from "./statements.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  /** The attempts that run in this process. */
  const running = new Set<string>()

  const renew = Effect.gen(function* () {
    if (running.size === 0) return
    yield* sql`update idempotency_keys set renewed_at = clock_timestamp()
      where attempt = any(${[...running]}::uuid[]) and answer is null`
  })
  // Uninterruptible: the embedded engine must not be closed while it runs.
  yield* Effect.forkScoped(Effect.repeat(Effect.uninterruptible(Effect.ignore(renew)), Schedule.spaced("2 seconds")))

  const begin: ClaimStore["Type"]["begin"] = ({ digest, attempt, request, at, expiredBefore }) =>
    Effect.gen(function* () {
      for (;;) {
        const begun = yield* sql`
          insert into idempotency_keys as k (digest, request, attempt, created_at, renewed_at)
          values (${digest}, ${request}, ${attempt}, ${at}, clock_timestamp())
          on conflict (digest) do update set request = excluded.request, attempt = excluded.attempt,
            created_at = excluded.created_at, renewed_at = excluded.renewed_at, answer = null
          where k.created_at < ${expiredBefore}
            or (k.answer is null and k.renewed_at < clock_timestamp() - make_interval(secs => ${ABANDONED_SECONDS}))
          returning 1`
        if (begun.length > 0) {
          running.add(attempt)
          return Option.none()
        }
        const [found] = yield* sql<{ readonly request: string; readonly answer: string | null }>`
          select request, answer from idempotency_keys where digest = ${digest}`
        // None if the other attempt was released in between.
        if (found !== undefined) return Option.some({ ...found, answer: Option.fromNullable(found.answer) })
      }
    }).pipe(unavailable("claims.begin"))

  const stop = (attempt: string) => Effect.sync(() => running.delete(attempt))

  return ClaimStore.of({
    begin,
    keep: (own, answer) => Effect.zipRight(keep(sql, own, answer), stop(own.attempt)).pipe(unavailable("claims.keep")),
    release: (own) =>
      Effect.zipRight(
        stop(own.attempt),
        sql`delete from idempotency_keys
          where digest = ${own.digest} and attempt = ${own.attempt} and answer is null`
      ).pipe(Effect.asVoid, unavailable("claims.release")),
    releaseAll: Effect.asVoid(sql`delete from idempotency_keys where answer is null`).pipe(
      unavailable("claims.releaseAll")
    ),
    atomically: (effect) =>
      Effect.suspend(() => {
        const hooks: Array<Effect.Effect<unknown>> = []
        return Effect.provideService(effect, CommitHooks, Option.some(hooks)).pipe(
          sql.withTransaction,
          Effect.zipLeft(Effect.suspend(() => Effect.all(hooks, { discard: true }))),
          unavailable("claims.atomically")
        )
      }),
    expire: (before, atMost) =>
      sql`delete from idempotency_keys where digest in (
          select digest from idempotency_keys where created_at < ${before} limit ${atMost}
        ) returning 1`.pipe(
        Effect.map(({ length }) => length),
        unavailable("claims.expire")
      )
  })
})

export const layer: Layer.Layer<ClaimStore, never, SqlClient> = Layer.scoped(ClaimStore, make)

// ---- helpers ----

/** An attempt that was not renewed for this long has ended without an answer: three renewals are missing. */
const ABANDONED_SECONDS = 6
