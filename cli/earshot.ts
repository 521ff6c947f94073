/** The command line. What the commands do is handed in; here is how they are called and what they print. */
import { Args, Command, HelpDoc, Options, Span } from "@effect/cli"
import { Array as Arr, Console, Effect, Redacted, Schema } from "effect"
import type { Key } from "../core/Key.ts"
import { DEFAULT_ACCOUNT, Keys } from "../core/Keys.ts"
import { commandInfo } from "./commandTree.ts"
import type { FilterActions } from "./filter.ts"
import { type MatchesActions, matchesCommand } from "./matches.ts"
import { type PlatformsActions, platformsCommand } from "./platforms.ts"
import { type ReplayActions, replayCommand } from "./replay.ts"
import { type RulesActions, rulesCommand } from "./rules.ts"
import { run } from "./run.ts"
import { type SetAsideActions, setAsideCommand } from "./setAside.ts"
import { SETTINGS } from "./settings.ts"
import { type SimulateActions, simulateCommand } from "./simulate.ts"
import { checkCommand, syntaxCommand } from "./syntax.ts"

export interface Actions<E> {
  /** Runs the service until it is told to stop. */
  readonly serve: Effect.Effect<void, E>
  /** Gives an effect the keys of the store that the settings name. */
  readonly withKeys: <A, E2>(effect: Effect.Effect<A, E2, Keys>) => Effect.Effect<A, E | E2>
  readonly rules: RulesActions<E>
  readonly matches: MatchesActions<E>
  readonly check: FilterActions<E>
  readonly platforms: PlatformsActions<E>
  readonly replay: ReplayActions<E>
  readonly simulate: SimulateActions<E>
  readonly setAside: SetAsideActions<E>
}

/** The program, given what follows its name. `width`: of the help, in columns. */
export const earshot = <E>(
  actions: Actions<E>,
  { args, version, width }: { readonly args: ReadonlyArray<string>; readonly version: string; readonly width: number }
) => {
  const commands = [
    serveCommand(actions),
    rulesCommand(actions.rules),
    matchesCommand(actions.matches),
    checkCommand(actions.check),
    syntaxCommand,
    platformsCommand(actions.platforms),
    keysCommand(actions),
    replayCommand(actions.replay),
    setAsideCommand(actions.setAside),
    simulateCommand(actions.simulate)
  ] as const
  return run(Command.make("earshot").pipe(Command.withSubcommands(commands)), {
    commands: commands.map(({ descriptor }) => commandInfo(descriptor)),
    args,
    version,
    width
  })
}

// ---- helpers ----

const serveCommand = <E>(actions: Actions<E>) =>
  Command.make("serve", {}, () => actions.serve).pipe(Command.withDescription(serveHelp))

const serveHelp = HelpDoc.blocks([
  HelpDoc.p("Run the service. It is set up by environment variables:"),
  HelpDoc.descriptionList(
    Arr.map(SETTINGS, ({ name, fallback, about }) => [Span.code(name), HelpDoc.p(`${about} (default: ${fallback})`)])
  )
])

const keysCommand = <E>(actions: Actions<E>) =>
  Command.make("keys").pipe(
    Command.withDescription("Create, list and revoke API keys in the store of this machine or in DATABASE_URL"),
    Command.withSubcommands([createKey(actions), listKeys(actions), revokeKey(actions)])
  )

const Name = Schema.Trim.pipe(
  Schema.filter((text) => (text.length > 0 && text.length <= 200) || "Expected 1 to 200 characters")
)

const createKey = <E>({ withKeys }: Actions<E>) =>
  Command.make(
    "create",
    {
      account: Options.text("account").pipe(
        Options.withSchema(Name),
        Options.withDescription("Account that the key opens; created if there is none of that name"),
        Options.withDefault(DEFAULT_ACCOUNT)
      ),
      name: Options.text("name").pipe(
        Options.withSchema(Name),
        Options.withDescription("What the key is for, to tell it from others"),
        Options.withDefault("key")
      )
    },
    (options) =>
      withKeys(
        Effect.gen(function* () {
          const keys = yield* Keys
          const { key, secret } = yield* keys.create(options)
          yield* Console.error(`Key ${key.id} of account "${key.account}". It is shown this once:`)
          yield* Console.log(Redacted.value(secret))
        })
      )
  ).pipe(Command.withDescription("Create a key and print it"))

const listKeys = <E>({ withKeys }: Actions<E>) =>
  Command.make("list", {}, () =>
    withKeys(
      Effect.gen(function* () {
        const keys = yield* Keys
        const all = yield* keys.list
        yield* Console.log(all.length === 0 ? "No keys yet: create one with: earshot keys create" : table(all))
      })
    )
  ).pipe(Command.withDescription("List all keys"))

const revokeKey = <E>({ withKeys }: Actions<E>) =>
  Command.make(
    "revoke",
    { id: Args.text({ name: "key-id" }).pipe(Args.withDescription("As keys list shows it")) },
    ({ id }) =>
      withKeys(
        Effect.gen(function* () {
          const keys = yield* Keys
          const key = yield* keys.revoke(id)
          yield* Console.log(`Revoked ${key.id} ("${key.name}" of account "${key.account}")`)
        })
      )
  ).pipe(Command.withDescription("Make a key useless, at once on this server, within seconds on others"))

const table = (keys: ReadonlyArray<Key>): string => {
  const rows = [
    ["ID", "ACCOUNT", "NAME", "KEY", "CREATED", "LAST USED", "STATE"],
    ...keys.map((key) => [
      key.id,
      key.account,
      key.name,
      key.hint,
      key.created_at,
      key.last_used_at ?? "never",
      key.revoked_at === null ? "active" : `revoked ${key.revoked_at}`
    ])
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
