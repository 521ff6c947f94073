/** `earshot grants`: what OAuth clients may do for an account. */
import { Args, Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import { type Grant, isActive } from "../core/grants/Grant.ts"
import * as Timestamp from "../core/model/Timestamp.ts"
import { jsonOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { aligned } from "./table.ts"
import { visible } from "./terminal.ts"

export const grantsCommand = <E>(actions: TargetActions<E>) =>
  Command.make("grants").pipe(
    Command.withDescription("List and revoke what OAuth clients, such as assistants, may do"),
    Command.withSubcommands([list(actions), revoke(actions)])
  )

// ---- helpers ----

const list = <E>({ connectTo }: TargetActions<E>) =>
  Command.make("list", { ...targetOptions, json: jsonOption("Print the response as JSON") }, ({ json, ...target }) =>
    Effect.gen(function* () {
      const remote = yield* connectTo(target)
      const answer = yield* remote.request(callOf(contracts.grants.list))
      if (json) return yield* printJson(answer)
      yield* Console.log(
        answer.grants.length === 0
          ? "No grants yet. A client gets one when it signs in: see docs/agents.md"
          : table(answer.grants, yield* Timestamp.now)
      )
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("List the grants of the account, oldest first.")))

const revoke = <E>({ connectTo }: TargetActions<E>) =>
  Command.make(
    "revoke",
    {
      id: Args.text({ name: "grant-id" }).pipe(Args.withDescription("Id of the grant, as shown by grants list")),
      ...targetOptions,
      json: jsonOption("Print the grant as JSON")
    },
    ({ id, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* connectTo(target)
        const { grant } = yield* remote.request(callOf(contracts.grants.revoke, { grant_id: id }))
        if (json) return yield* printJson(grant)
        yield* Console.log(`Revoked ${grant.id} (client "${visible(grant.client_name)}")`)
      }).pipe(Effect.scoped)
  ).pipe(
    Command.withDescription(
      targetHelp("Revoke a grant. A server rejects the tokens of the client at once, other servers within seconds.")
    )
  )

const table = (grants: ReadonlyArray<Grant>, now: Timestamp.Timestamp): string =>
  aligned([
    ["ID", "CLIENT", "REDIRECT", "SCOPE", "CREATED", "LAST USED", "STATE"],
    ...grants.map((grant) => [
      grant.id,
      visible(grant.client_name),
      visible(grant.redirect_host),
      grant.scope,
      grant.created_at,
      grant.last_used_at ?? "never",
      stateOf(grant, now)
    ])
  ])

const stateOf = (grant: Grant, now: Timestamp.Timestamp): string => {
  if (isActive(grant, now)) return `active until ${grant.expires_at}`
  return grant.ended_at === null ? "expired" : `ended ${grant.ended_at} (${grant.ended_by})`
}
