/** `earshot account` shows the limits of one's own account; `earshot accounts` is for the operator. */
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Option, Schema } from "effect"
import { callOf } from "../api/calls.ts"
import { contracts } from "../api/contracts.ts"
import { type Account, type AccountSummary, Accounts } from "../core/accounts/Accounts.ts"
import type { Keys } from "../core/keys/Keys.ts"
import { parseWholeNumber } from "../core/model/wholeNumber.ts"
import { findAccount, jsonOption, printJson, type TargetActions, targetHelp, targetOptions } from "./remote.ts"
import { aligned } from "./table.ts"
import { visible } from "./terminal.ts"

export interface AccountsActions<E> {
  /** Provides the accounts of the configured store, or of the server that uses it. */
  readonly withAccounts: <A, E2>(effect: Effect.Effect<A, E2, Accounts | Keys>) => Effect.Effect<A, E | E2>
}

export const accountCommand = <E>({ connectTo }: TargetActions<E>) =>
  Command.make("account", { ...targetOptions, json: jsonOption("Print the response as JSON") }, ({ json, ...target }) =>
    Effect.gen(function* () {
      const remote = yield* connectTo(target)
      const account = yield* remote.request(callOf(contracts.account.get))
      yield* json ? printJson(account) : Console.log(describe(account))
    }).pipe(Effect.scoped)
  ).pipe(Command.withDescription(targetHelp("Show the limits of the account, and how much of each is used.")))

export const accountsCommand = <E>(actions: AccountsActions<E>) =>
  Command.make("accounts").pipe(
    Command.withDescription(
      "List the accounts of the local store and change their limits, even while a server is using it"
    ),
    Command.withSubcommands([listAccounts(actions), setLimit(actions)])
  )

// ---- helpers ----

const listAccounts = <E>({ withAccounts }: AccountsActions<E>) =>
  Command.make("list", { json: jsonOption("Print the accounts as JSON") }, ({ json }) =>
    withAccounts(
      Effect.gen(function* () {
        const accounts = yield* (yield* Accounts).list()
        yield* json ? printJson({ accounts }) : Console.log(table(accounts))
      })
    )
  ).pipe(Command.withDescription("List all accounts, oldest first, with their active keys and rules"))

const table = (accounts: ReadonlyArray<AccountSummary>): string =>
  aligned([
    ["NAME", "ID", "CREATED", "ACTIVE KEYS", "RULES"],
    ...accounts.map(({ name, id, created_at, active_keys, rules }) => [
      visible(name),
      id,
      created_at,
      String(active_keys),
      String(rules)
    ])
  ])

const setLimit = <E>({ withAccounts }: AccountsActions<E>) =>
  Command.make(
    "limit",
    {
      account: Args.text({ name: "account" }).pipe(
        Args.withDescription("Name of the account, as shown by accounts list")
      ),
      limit: Args.text({ name: "limit" }).pipe(
        Args.withDescription("Name of the limit, as shown by earshot account, such as rules.x")
      ),
      value: Args.text({ name: "number" }).pipe(
        Args.withSchema(Value),
        Args.withDescription("New limit; 0 for no limit, default for the default of the server")
      ),
      json: Options.boolean("json").pipe(Options.withDescription("Print all limits of the account as JSON"))
    },
    ({ account, limit, value, json }) =>
      withAccounts(
        Effect.gen(function* () {
          const accounts = yield* Accounts
          const number = value === DEFAULT ? Option.none() : Option.some(Number(value))
          const changed = yield* accounts.setLimit(yield* findAccount(account), limit, number)
          yield* json ? printJson(changed) : Console.log(describe(changed))
        })
      )
  ).pipe(
    Command.withDescription(
      "Change a limit of one account. It takes effect at once; on other servers with the same database within seconds."
    )
  )

const DEFAULT = "default"

const Value = Schema.String.pipe(
  Schema.filter(
    (text) => text === DEFAULT || parseWholeNumber(text, { min: 0, max: Number.MAX_SAFE_INTEGER }) !== undefined,
    { message: () => "Expected <number> to be a whole number, 0 for no limit, or default" }
  )
)

const describe = ({ name, limits }: Account): string =>
  [
    `Account "${visible(name)}"`,
    aligned([
      ["LIMIT", "USED", "OF", "WHAT"],
      ...limits.map(({ name, description, limit, used }) => [
        name,
        String(used),
        limit === null ? "no limit" : String(limit),
        description
      ])
    ])
  ].join("\n")
