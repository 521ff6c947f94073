/** Commands that take only the id of a rule or a webhook: one request, and its answer. */
import { Args, Command } from "@effect/cli"
import { Effect } from "effect"
import type { Contract } from "../api/Contract.ts"
import { uncheckedCall } from "../api/calls.ts"
import { AlreadyReported } from "./failures.ts"
import { jsonOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"

export type Kind = "rule" | "webhook"

/** An operation that needs nothing but the id. */
export type IdContract<K extends Kind, A, O, OI> = Contract<A, { readonly [Field in `${K}_id`]: string }, O, OI>

interface Entry<K extends Kind, A, O, OI> {
  readonly name: string
  readonly about: string
  readonly contract: IdContract<K, A, O, OI>
  readonly print: (answer: O) => Effect.Effect<void>
  /** If false, the exit code is 1. Absent: always true. */
  readonly succeeds?: (answer: O) => boolean
}

/** The id and the options of every command for one rule or webhook. */
export const idOptions = (kind: Kind) => ({
  id: Args.text({ name: `${kind}-id` }).pipe(Args.withDescription(`Id of the ${kind}, as shown by ${kind}s list`)),
  ...targetOptions,
  json: jsonOption("Print the response as JSON")
})

/** Makes a command of each entry of a table. */
export const idCommand = <E, K extends Kind>({ connectTo }: TargetActions<E>, kind: K) => {
  const options = idOptions(kind)
  return <A, O, OI>({ name, about, contract, print, succeeds = () => true }: Entry<K, A, O, OI>) =>
    Command.make(name, options, ({ id, json, ...target }) =>
      Effect.gen(function* () {
        const remote = yield* connectTo(target)
        const answer = yield* remote.request(idCall(kind, contract, id))
        yield* json ? printJson(answer) : print(answer)
        if (!succeeds(answer)) return yield* new AlreadyReported()
      }).pipe(Effect.scoped)
    ).pipe(Command.withDescription(targetHelp(about)))
}

export const idCall = <K extends Kind, A, O, OI>(kind: K, contract: IdContract<K, A, O, OI>, id: string) =>
  uncheckedCall(contract, { [`${kind}_id`]: id })
