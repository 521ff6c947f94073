/** Whether what follows a cursor can still be had. */
import { Effect, Option } from "effect"
import { CursorExpired, type StorageUnavailable } from "./Errors.ts"
import { type MatchId, timeOf } from "./Ids.ts"
import type { MatchStore } from "./MatchStore.ts"
import { fromMillis } from "./Timestamp.ts"

/** To be asked after the page was read, never before: what is deleted in between would be missing without a word. */
export const checkCursor = (store: MatchStore["Type"], cursor: MatchId) => check(store, (floor) => cursor > floor)

/** The same for reading on from the cursor to what is newer: all up to it may be gone. */
export const checkNothingMissed = (store: MatchStore["Type"], cursor: MatchId) =>
  check(store, (floor) => cursor >= floor)

// ---- helpers ----

const check = (
  store: MatchStore["Type"],
  isAbove: (floor: MatchId) => boolean
): Effect.Effect<void, CursorExpired | StorageUnavailable> =>
  Effect.flatMap(store.floor, (floor) =>
    Option.isNone(floor) || isAbove(floor.value)
      ? Effect.void
      : new CursorExpired({ floor: fromMillis(timeOf(floor.value)) })
  )
