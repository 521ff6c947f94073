/** Deletes matches beyond the limits of the server and of each account, in small batches every minute. */
import { Clock, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { StoreUnavailable } from "../model/Errors.ts"
import { type AccountId, firstMatchIdAt, timeOf } from "../model/Ids.ts"
import { Ownership } from "../ownership/Ownership.ts"
import { Platforms } from "../platforms/Platform.ts"
import { isOver, MatchStore, type Trim, type Usage } from "./MatchStore.ts"

export interface Options {
  /** 0 means no limit. */
  readonly keepDays: number
  /** 0 means no limit. */
  readonly keepMatches: number
  readonly limitsOf: (account: AccountId) => Effect.Effect<Usage, StoreUnavailable>
  /** Runs with each round. */
  readonly forgetOthers: Effect.Effect<void, StoreUnavailable>
}

/** One server at a time does it. */
export const layerWith = ({
  keepDays,
  keepMatches,
  limitsOf,
  forgetOthers
}: Options): Layer.Layer<never, never, MatchStore | Platforms> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* MatchStore
      const { ids } = yield* Platforms
      const age = Duration.toMillis(Duration.days(keepDays))
      let isBehind = false

      const inBatches = (trim: Effect.Effect<number, StoreUnavailable>) =>
        Effect.gen(function* () {
          const [took, deleted] = yield* Effect.timed(trim)
          yield* Effect.sleep(Duration.times(took, REST_FACTOR))
          return deleted
        }).pipe(Effect.repeat({ while: (deleted) => deleted === BATCH }))

      const trim = (what: Omit<Trim, "atMost">) => inBatches(store.trim({ ...what, atMost: BATCH }))

      const trimByAge = Effect.gen(function* () {
        const cutoff = (yield* Clock.currentTimeMillis) - age
        const oldest = yield* store.oldest
        if (Option.isNone(oldest)) return
        const limit = timeOf(oldest.value) + age / ROUNDS
        if (cutoff > limit && !isBehind) yield* Effect.logWarning(CLOCK_WARNING)
        isBehind = cutoff > limit
        yield* trim({ before: firstMatchIdAt(Math.min(cutoff, limit)), keep: Option.none() })
      })

      const trimByCount = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        yield* trim({ before: firstMatchIdAt(now - GRACE_MILLIS), keep: Option.some(keepMatches) })
      })

      const trimAccounts = Effect.gen(function* () {
        const before = firstMatchIdAt((yield* Clock.currentTimeMillis) - GRACE_MILLIS)
        const platforms = yield* ids
        for (const [account, used] of yield* store.usages) {
          const limits = yield* limitsOf(account)
          if (!isOver(used, limits)) continue
          yield* inBatches(store.trimAccount({ account, platforms, before, limits, atMost: BATCH }))
        }
      })

      const trimRegularly = Effect.gen(function* () {
        if (keepDays > 0) yield* trimByAge
        if (keepMatches > 0) yield* trimByCount
        yield* trimAccounts
        yield* forgetOthers
      }).pipe(
        // Debug level: other services report that the store is down.
        Effect.catchAll(({ cause }) => Effect.logDebug("Cannot delete old matches", cause)),
        Effect.catchAllDefect((defect) => Effect.logError("Cannot delete old matches", defect)),
        Effect.repeat(Schedule.spaced("1 minute")),
        Effect.asVoid
      )
      yield* (yield* Ownership).own("retention", trimRegularly)
    })
  )

// ---- helpers ----

/** Small, because the embedded store runs one statement at a time. */
const BATCH = 500

/** Sleeps four times as long as each delete took, so that deleting takes at most a fifth of the time. */
const REST_FACTOR = 4

/** One round deletes at most 1/30 of the age limit. A clock that runs ahead then takes minutes to delete everything. */
const ROUNDS = 30

const CLOCK_WARNING =
  "Many matches are older than the retention limit and will be deleted over the next minutes: if you do not expect this, check the clock of this machine"

/** Younger matches are never deleted by count: older ones of the same time may still be on their way to the store. */
const GRACE_MILLIS = 60_000
