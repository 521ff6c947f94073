/** Finds one match of an account. */
import { Effect, Option, Schema } from "effect"
import { MatchNotFound } from "../model/Errors.ts"
import { type AccountId, MatchId, matchIdsAfter } from "../model/Ids.ts"
import type { PlatformId } from "../model/PlatformId.ts"
import type { MatchStore } from "./MatchStore.ts"

/** A malformed id and one of another account are like an unknown one. */
export const ownMatch = Effect.fnUntraced(function* (
  store: MatchStore["Type"],
  { account, platforms }: { readonly account: AccountId; readonly platforms: ReadonlyArray<PlatformId> },
  matchId: string
) {
  const id = asMatchId(matchId)
  if (Option.isNone(id)) return yield* new MatchNotFound({ matchId })
  const before = Option.fromNullable(matchIdsAfter(id.value, 1)[0])
  const [match] = (yield* store.list({ account, rules: Option.none(), platforms, before, limit: 1 })).items
  return match?.id === id.value ? match : yield* new MatchNotFound({ matchId })
})

// ---- helpers ----

const asMatchId = Schema.decodeUnknownOption(MatchId)
