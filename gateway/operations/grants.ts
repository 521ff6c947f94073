/** Handles the operations on grants, for the account of the caller. */
import { Effect, Option } from "effect"
import type { grants } from "../../api/grants.ts"
import { Grants } from "../../core/grants/Grants.ts"
import { Actor } from "../../core/keys/Key.ts"
import type { Handlers } from "./Handlers.ts"

export const grantHandlers: Handlers<typeof grants> = {
  list: (account) =>
    Effect.gen(function* () {
      const grants = yield* Grants
      return { grants: yield* grants.list(account) }
    }),

  revoke: (account, { grant_id }) =>
    Effect.gen(function* () {
      const grants = yield* Grants
      return { grant: yield* grants.revoke(grant_id, account) }
    }),

  request: (_, { request }) => Effect.flatMap(Grants, (grants) => grants.asked(request)),

  decide: (account, { request, decision }) =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const { key, grant } = yield* Actor
      // A client must not give access to others.
      const decider = { account, key: grant === undefined ? Option.fromNullable(key) : Option.none() }
      const scope = decision === "deny" ? Option.none() : Option.some(decision)
      return { redirect_uri: yield* grants.decide(decider, request, scope) }
    })
}
