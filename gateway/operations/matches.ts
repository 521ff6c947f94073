/** Handles the operations on matches. */
import { Effect } from "effect"
import type { matches } from "../../api/matches.ts"
import { Explanations } from "../../core/explanations/Explanations.ts"
import { Matches } from "../../core/matches/Matches.ts"
import type { Handlers } from "./Handlers.ts"

export const matchHandlers: Handlers<typeof matches> = {
  list: (account, query) => Effect.flatMap(Matches, (matches) => matches.list(account, query)),

  get: (account, { match_id }) =>
    Effect.flatMap(Matches, (matches) => Effect.map(matches.get(account, match_id), (match) => ({ match }))),

  wait: (account, query) => Effect.flatMap(Matches, (matches) => matches.wait(account, query)),

  histogram: (account, query) => Effect.flatMap(Matches, (matches) => matches.histogram(account, query)),

  explain: (account, request) => Effect.flatMap(Explanations, ({ explain }) => explain(account, request))
}
