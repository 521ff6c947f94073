/** Where wait_for_matches starts after a rule was created or changed. */
import { Clock, Effect, Predicate } from "effect"
import { matches } from "../../api/matches.ts"
import { firstMatchIdAt, type MatchId, type RuleId, timeOf } from "../../core/model/Ids.ts"
import { decoder } from "../decode.ts"
import type { Call } from "./calls.ts"

/** All matches of a new rule come after it. The rule id contains its creation time. */
export const firstCursor = (rule: RuleId): MatchId => cursorAt(timeOf(rule))

/** All later matches of the rule come after it: its newest match or, if it has none, the present time. */
export const presentCursor = <R>(call: Call<R>, args: unknown): Effect.Effect<MatchId, never, R> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const rule_id = Predicate.hasProperty(args, "rule_id") ? args.rule_id : undefined
    const listed = yield* Effect.option(call({ contract: matches.list, decode: decodeList }, { rule_id, limit: 1 }))
    const newest = listed._tag === "Some" ? listed.value.matches[0] : undefined
    return newest?.id ?? cursorAt(now)
  })

// ---- helpers ----

const decodeList = decoder(matches.list.input)

const CLOCK_SKEW_MILLIS = 60_000

/** Another server with a slower clock may store the first matches. */
const cursorAt = (millis: number): MatchId => firstMatchIdAt(millis - CLOCK_SKEW_MILLIS)
