/** Checks that retention has not deleted the matches that a cursor needs. */
import { Effect, Option } from "effect"
import { CursorExpired, type StoreUnavailable } from "../model/Errors.ts"
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

// ---- helpers ----

const check = (floor: Option.Option<MatchId>, isAbove: (floor: MatchId) => boolean) =>
  Option.isNone(floor) || isAbove(floor.value)
    ? Effect.void
    : new CursorExpired({ floor: fromMillis(timeOf(floor.value)) })
