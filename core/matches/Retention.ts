/** Deletes matches that are too old or too many: a little every minute, beside everything else. */
import { Clock, Duration, Effect, Layer, Option, Schedule } from "effect"
import { firstMatchAt, timeOf } from "../model/Ids.ts"
import { MatchStore, type Trim } from "./MatchStore.ts"

export interface Options {
  /** 0 for ever. */
  readonly keepDays: number
  /** 0 for any number. */
  readonly keepMatches: number
}

/** Runs for as long as its scope is open. Any number of processes may do so over one store. */
export const layerWith = ({ keepDays, keepMatches }: Options): Layer.Layer<never, never, MatchStore> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* MatchStore
      const age = Duration.toMillis(Duration.days(keepDays))
      let isBehind = false

      /** One step after another, with a rest between them, until there is nothing more to delete. */
      const trim = (what: Omit<Trim, "atMost">) =>
        Effect.gen(function* () {
          const [took, deleted] = yield* Effect.timed(store.trim({ ...what, atMost: STEP }))
          yield* Effect.sleep(Duration.times(took, REST))
          return deleted
        }).pipe(Effect.repeat({ while: (deleted) => deleted === STEP }))

      const trimByAge = Effect.gen(function* () {
        const due = (yield* Clock.currentTimeMillis) - age
        const oldest = yield* store.oldest
        if (Option.isNone(oldest)) return
        const reach = timeOf(oldest.value) + age / ROUNDS
        if (due > reach && !isBehind) yield* Effect.logWarning(BEHIND)
        isBehind = due > reach
        yield* trim({ before: firstMatchAt(Math.min(due, reach)), keep: Option.none() })
      })

      const trimByCount = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        yield* trim({ before: firstMatchAt(now - SPARED), keep: Option.some(keepMatches) })
      })

      yield* Effect.gen(function* () {
        if (keepDays > 0) yield* trimByAge
        if (keepMatches > 0) yield* trimByCount
      }).pipe(
        // It is tried again soon; that the store is away is told by those who need it more.
        Effect.catchAll(({ cause }) => Effect.logDebug("Old matches could not be deleted", cause)),
        Effect.catchAllDefect((defect) => Effect.logError("Old matches could not be deleted", defect)),
        Effect.repeat(Schedule.spaced("1 minute")),
        Effect.forkScoped
      )
    })
  )

// ---- helpers ----

/** What is deleted at once: the embedded store does one thing at a time. */
const STEP = 500

/** At most a fifth of the time goes into deleting. */
const REST = 4

/**
 * A round deletes at most this part of the age: were the clock years ahead, it would take as many minutes until all is
 * deleted, and not one.
 */
const ROUNDS = 30

const BEHIND =
  "There are matches far older than is kept. They are deleted over the next minutes: if this is a surprise, check the clock of this machine"

/** In milliseconds. A match this young is never one too many: some of its time may not have been stored yet. */
const SPARED = 60_000
