/** Checks that a cursor can be used: it is not in the future, and retention has not deleted the matches it needs. */
import { Clock, Duration, Effect, Option } from "effect"
import { CursorExpired, InvalidArgument, type StoreUnavailable } from "../model/Errors.ts"
import { type AccountId, type MatchId, timeOf } from "../model/Ids.ts"
import { fromMillis } from "../model/Timestamp.ts"
import type { MatchStore } from "./MatchStore.ts"

/** For paging to older matches. Read `floor` after the page, or a deletion in between goes unnoticed. */
export const checkCursor = (floor: Option.Option<MatchId>, cursor: MatchId): Effect.Effect<void, CursorExpired> =>
  check(floor, (floor) => cursor > floor)

/** For reading newer matches: everything up to the cursor may be deleted. */
export const checkResumeCursor = (
  store: MatchStore["Type"],
  account: AccountId,
  cursor: MatchId
): Effect.Effect<void, CursorExpired | StoreUnavailable> =>
  Effect.flatMap(store.floor(account), (floor) => check(floor, (floor) => cursor >= floor))

/** No response had such a cursor. With it, a reader would silently miss all matches until then. */
export const checkNotInFuture = (
  store: MatchStore["Type"],
  cursor: MatchId
): Effect.Effect<void, InvalidArgument | StoreUnavailable> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (timeOf(cursor) <= now + MAX_SKEW_MILLIS) return
    // Ids run ahead of this clock if another process with a faster clock writes to the store.
    const newest = yield* store.newest
    if (Option.exists(newest, (id) => cursor <= id)) return
    return yield* new InvalidArgument({ issues: [{ path: "cursor", message: IN_FUTURE }] })
  })

// ---- helpers ----

const MAX_SKEW_MILLIS = Duration.toMillis("5 minutes")

const IN_FUTURE = "Lies in the future: send the cursor of an earlier response, or leave it out"

const check = (floor: Option.Option<MatchId>, isAbove: (floor: MatchId) => boolean) =>
  Option.isNone(floor) || isAbove(floor.value)
    ? Effect.void
    : new CursorExpired({ floor: fromMillis(timeOf(floor.value)) })
