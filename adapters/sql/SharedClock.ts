/**
 * A clock that follows that of the database, so that several servers agree on the time: a gap that one of them begins
 * by its clock is ended by another one.
 */
import { SqlClient } from "@effect/sql/SqlClient"
import { Clock, Effect, Schedule, type Scope } from "effect"

export interface SharedClock {
  readonly clock: Clock.Clock
  /** Compares the clocks now, and from then on in the background. */
  readonly follow: Effect.Effect<void, never, SqlClient | Scope.Scope>
}

export const make = (): SharedClock => {
  const own = Clock.make()
  let offset = 0

  const millis = () => own.unsafeCurrentTimeMillis() + offset
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: millis,
    currentTimeMillis: Effect.sync(millis),
    // For durations only.
    unsafeCurrentTimeNanos: () => own.unsafeCurrentTimeNanos(),
    currentTimeNanos: own.currentTimeNanos,
    sleep: (duration) => own.sleep(duration)
  }

  const compare = Effect.gen(function* () {
    const sql = yield* SqlClient
    const before = own.unsafeCurrentTimeMillis()
    const [row] = yield* sql<{ readonly millis: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as millis`
    const after = own.unsafeCurrentTimeMillis()
    // A slow answer says little.
    if (row === undefined || after - before > MAX_MILLIS) return
    const next = Math.round(row.millis - (before + after) / 2)
    if (Math.abs(next - offset) > NOTABLE_MILLIS) yield* Effect.logWarning(describe(next))
    offset = next
  })

  const follow = Effect.gen(function* () {
    // Debug level: other services report that the database is down.
    const attempt = Effect.catchAll(compare, ({ cause }) => Effect.logDebug("Cannot compare the clocks", cause))
    yield* attempt
    yield* Effect.forkScoped(Effect.repeat(Effect.delay(attempt, INTERVAL), Schedule.forever))
  })

  return { clock, follow }
}

// ---- helpers ----

const MAX_MILLIS = 100

const NOTABLE_MILLIS = 250

const INTERVAL = "10 seconds"

const describe = (offset: number): string =>
  Math.abs(offset) <= NOTABLE_MILLIS
    ? "The clock of this machine agrees with that of the database again"
    : `The clock of this machine is ${(Math.abs(offset) / 1_000).toFixed(1)} s ${offset < 0 ? "ahead of" : "behind"} that of the database: this server uses the time of the database`
