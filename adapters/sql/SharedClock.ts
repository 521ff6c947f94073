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
    if (row === undefined) return
    const next = offsetAfter(offset, { before, answer: row.millis, after })
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

/** `answer`: the time of the database, somewhere between `before` and `after` on the own clock. */
export const offsetAfter = (
  offset: number,
  { before, answer, after }: { readonly before: number; readonly answer: number; readonly after: number }
): number => {
  const [min, max] = [answer - after, answer - before]
  // On one machine the clocks are the same, and the middle of an answer is off by half the time that it took.
  if (offset >= Math.floor(min) && offset <= Math.ceil(max)) return offset
  const isQuick = after - before <= QUICK_MILLIS
  // A slow answer says little: only what cannot be true is corrected.
  return Math.round(isQuick ? (min + max) / 2 : Math.min(Math.max(offset, min), max))
}

// ---- helpers ----

const QUICK_MILLIS = 100

const NOTABLE_MILLIS = 250

const INTERVAL = "10 seconds"

const describe = (offset: number): string =>
  Math.abs(offset) <= NOTABLE_MILLIS
    ? "The clock of this machine agrees with that of the database again"
    : `The clock of this machine is ${(Math.abs(offset) / 1_000).toFixed(1)} s ${offset < 0 ? "ahead of" : "behind"} that of the database: this server uses the time of the database`
