/** Ids that keep the one order of matches and redactions. */
import { Option } from "effect"
import { firstMatchIdAt, type MatchId, matchIdsAfter, timeOf } from "../model/Ids.ts"
import type { Match } from "./Match.ts"

/** Cannot collide with the id of a match: those are random. */
export const watermarkAt = (now: number, newest: Option.Option<MatchId>): MatchId => {
  const first = firstMatchIdAt(now)
  return Option.match(newest, {
    onNone: () => first,
    onSome: (id) => (id < first ? first : firstMatchIdAt(timeOf(id) + 1))
  })
}

/** After every id handed out so far, so that a reader at any cursor still gets the redactions. */
export const redactionIds = (now: number, newest: Option.Option<MatchId>, count: number): ReadonlyArray<MatchId> => {
  const first = firstMatchIdAt(now)
  const last = Option.filter(newest, (id) => id > first)
  return matchIdsAfter(
    Option.getOrElse(last, () => first),
    count
  )
}

/** Assigns new ids unless all ids are already greater than `newest`. */
export const withIdsAfter = (matches: ReadonlyArray<Match>, newest: Option.Option<MatchId>): ReadonlyArray<Match> => {
  if (Option.isNone(newest) || matches.every(({ id }) => id > newest.value)) return matches
  const ids = matchIdsAfter(newest.value, matches.length)
  return matches.map((match, i) => ({ ...match, id: ids[i] ?? match.id }))
}
