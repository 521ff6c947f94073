/** Whether what follows a cursor can still be had. */
import { Effect, Option } from "effect"
import { CursorExpired, type StorageUnavailable } from "../model/Errors.ts"
import { type MatchId, timeOf } from "../model/Ids.ts"
import { fromMillis } from "../model/Timestamp.ts"
import type { MatchStore } from "./MatchStore.ts"

/** By a floor that was read after the page, never before: what is deleted in between would be missing without a word. */
export const checkCursor = (floor: Option.Option<MatchId>, cursor: MatchId): Effect.Effect<void, CursorExpired> =>
  check(floor, (floor) => cursor > floor)

/** The same for reading on from the cursor to what is newer: all up to it may be gone. */
export const checkNothingMissed = (
  store: MatchStore["Type"],
  cursor: MatchId
): Effect.Effect<void, CursorExpired | StorageUnavailable> =>
  Effect.flatMap(store.floor, (floor) => check(floor, (floor) => cursor >= floor))

// ---- helpers ----

const check = (floor: Option.Option<MatchId>, isAbove: (floor: MatchId) => boolean) =>
  Option.isNone(floor) || isAbove(floor.value)
    ? Effect.void
    : new CursorExpired({ floor: fromMillis(timeOf(floor.value)) })
