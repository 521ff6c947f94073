/** The command line: its commands, options and output. The caller passes in what the commands do. */
import { Command } from "@effect/cli"
import type { Effect } from "effect"
import type { Language } from "../core/languages/Language.ts"
import { type AccountsActions, accountCommand, accountsCommand } from "./accounts.ts"
import { type CommandInfo, commandInfo } from "./commandTree.ts"
import { type DeadLettersActions, deadLettersCommand } from "./deadLetters.ts"
import { explainCommand } from "./explain.ts"
import { feedsCommand } from "./feeds.ts"
import { grantsCommand } from "./grants.ts"
import { type KeysActions, keysCommand } from "./keys.ts"
import { type MatchesActions, matchesCommand } from "./matches.ts"
import { type McpActions, mcpCommand } from "./mcp.ts"
import { type PlatformsActions, platformsCommand } from "./platforms.ts"
import type { TargetActions } from "./remote.ts"
import { type ReplayActions, replayCommand } from "./replay.ts"
import { type RulesActions, rulesCommand } from "./rules.ts"
import { run } from "./run.ts"
import { type ServersActions, serversCommand } from "./servers.ts"
import { type SimulateActions, simulateCommand } from "./simulate.ts"
import { type CheckActions, checkCommand, syntaxCommand } from "./syntax.ts"
import { type StoreActions, storeCommand } from "./store.ts"
import type { PlatformsOff } from "./usage.ts"
import { webhooksCommand } from "./webhooks.ts"

export interface Actions<E> {
  readonly languages: ReadonlyArray<Language>
  /** Runs the service until it is stopped. */
  readonly serve: Effect.Effect<void, E>
  readonly keys: KeysActions<E>
  readonly accounts: AccountsActions<E>
  readonly rules: RulesActions<E>
  readonly matches: MatchesActions<E>
  readonly webhooks: TargetActions<E>
  readonly check: CheckActions<E>
  readonly mcp: McpActions<E>
  readonly platforms: PlatformsActions<E>
  readonly replay: ReplayActions<E>
  readonly simulate: SimulateActions<E>
  readonly deadLetters: DeadLettersActions<E>
  readonly servers: ServersActions<E>
  readonly store: StoreActions<E>
}

/** An environment variable, for the help. */
export interface SettingInfo {
  readonly name: string
  readonly default: string
  readonly description: string
  /** `client` for commands that call a server; all other groups are for `earshot serve`. */
  readonly group: string
}

export interface EarshotOptions {
  /** Without the program's name. */
  readonly args: ReadonlyArray<string>
  readonly version: string
  /** Width of the help, in columns. */
  readonly width: number
  readonly settings: ReadonlyArray<SettingInfo>
  readonly platformsOff: PlatformsOff
}

export const earshot = <E>(actions: Actions<E>, { settings, ...options }: EarshotOptions) => {
  const commands = [
    serveCommand(actions),
    rulesCommand(actions.rules, actions.languages),
    matchesCommand(actions.matches, actions.languages),
    webhooksCommand(actions.webhooks, actions.languages),
    ...feedsCommand(actions.rules, actions.languages),
    explainCommand(actions.rules, actions.languages),
    checkCommand(actions.check, actions.languages),
    syntaxCommand(actions.languages),
    platformsCommand(actions.platforms),
    serversCommand(actions.servers),
    storeCommand(actions.store),
    keysCommand(actions.keys),
    grantsCommand(actions.webhooks),
    accountCommand(actions.webhooks),
    accountsCommand(actions.accounts),
    replayCommand(actions.replay, actions.languages),
    deadLettersCommand(actions.deadLetters),
    simulateCommand(actions.simulate),
    mcpCommand(actions.mcp)
  ] as const
  return run(Command.make("earshot").pipe(Command.withSubcommands(commands)), {
    commands: commands.map(({ descriptor }) => withSettings(commandInfo(descriptor), settings)),
    ...options
  })
}

// ---- helpers ----

const serveCommand = <E>(actions: Actions<E>) =>
  Command.make("serve", {}, () => actions.serve).pipe(
    Command.withDescription("Run the service, until Ctrl-C or SIGTERM. Environment variables configure it.")
  )

/** Adds the server settings to the help of `serve`, and the client settings to every command with `--url`. */
const withSettings = (command: CommandInfo, settings: ReadonlyArray<SettingInfo>): CommandInfo => {
  const isClient = command.options.some(({ names }) => names.includes("--url"))
  const entries = settings
    .filter(({ group }) => (group === "client" ? isClient : command.path[0] === "serve"))
    .map(({ name, default: shown, description }) => ({ name, about: `${description} (default: ${shown})` }))
  return {
    ...command,
    details: entries.length === 0 ? command.details : [...command.details, entries],
    subcommands: command.subcommands.map((subcommand) => withSettings(subcommand, settings))
  }
}
