/** The command line. What the commands do is handed in; here is how they are called and what they print. */
import { Command } from "@effect/cli"
import type { Effect } from "effect"
import type { Language } from "../core/syntax/language.ts"
import { type CommandInfo, commandInfo } from "./commandTree.ts"
import type { FilterActions } from "./filter.ts"
import { type KeysActions, keysCommand } from "./keys.ts"
import { type MatchesActions, matchesCommand } from "./matches.ts"
import { type McpActions, mcpCommand } from "./mcp.ts"
import { type PlatformsActions, platformsCommand } from "./platforms.ts"
import type { PlaceActions } from "./remote.ts"
import { type ReplayActions, replayCommand } from "./replay.ts"
import { type RulesActions, rulesCommand } from "./rules.ts"
import { run } from "./run.ts"
import { type SetAsideActions, setAsideCommand } from "./setAside.ts"
import { type SimulateActions, simulateCommand } from "./simulate.ts"
import { checkCommand, syntaxCommand } from "./syntax.ts"
import { webhooksCommand } from "./webhooks.ts"

export interface Actions<E> {
  readonly languages: ReadonlyArray<Language>
  /** Runs the service until it is told to stop. */
  readonly serve: Effect.Effect<void, E>
  readonly keys: KeysActions<E>
  readonly rules: RulesActions<E>
  readonly matches: MatchesActions<E>
  readonly webhooks: PlaceActions<E>
  readonly check: FilterActions<E>
  readonly mcp: McpActions<E>
  readonly platforms: PlatformsActions<E>
  readonly replay: ReplayActions<E>
  readonly simulate: SimulateActions<E>
  readonly setAside: SetAsideActions<E>
}

/** An environment variable, for the help. */
export interface SettingInfo {
  readonly name: string
  readonly default: string
  readonly description: string
  /** `client`: for the commands that call a server. All others are for `earshot serve`. */
  readonly group: string
}

export interface EarshotOptions {
  /** The arguments after the program's name. */
  readonly args: ReadonlyArray<string>
  readonly version: string
  /** Of the help, in columns. */
  readonly width: number
  readonly settings: ReadonlyArray<SettingInfo>
}

export const earshot = <E>(actions: Actions<E>, { settings, ...options }: EarshotOptions) => {
  const commands = [
    serveCommand(actions),
    rulesCommand(actions.rules, actions.languages),
    matchesCommand(actions.matches, actions.languages),
    webhooksCommand(actions.webhooks, actions.languages),
    checkCommand(actions.check, actions.languages),
    syntaxCommand(actions.languages),
    platformsCommand(actions.platforms),
    keysCommand(actions.keys),
    replayCommand(actions.replay),
    setAsideCommand(actions.setAside),
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

/** Adds the settings to the help of `serve`, and those of the client to every command that has `--url`. */
const withSettings = (command: CommandInfo, settings: ReadonlyArray<SettingInfo>): CommandInfo => {
  const isClient = command.options.some(({ names }) => names.includes("--url"))
  const entries = settings
    .filter(({ group }) => (group === "client" ? isClient : command.path[0] === "serve"))
    .map(({ name, default: shown, description }) => ({ name, about: `${description} (default: ${shown})` }))
  return {
    ...command,
    more: entries.length === 0 ? command.more : [...command.more, entries],
    subcommands: command.subcommands.map((subcommand) => withSettings(subcommand, settings))
  }
}
