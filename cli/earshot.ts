/** The command line. What the commands do is handed in; here is how they are called and what they print. */
import { Command, HelpDoc, Span } from "@effect/cli"
import { Array as Arr, type Effect } from "effect"
import type { Language } from "../core/syntax/language.ts"
import { commandInfo } from "./commandTree.ts"
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
import { SETTINGS } from "./settings.ts"
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

/** The program, given what follows its name. `width`: of the help, in columns. */
export const earshot = <E>(
  actions: Actions<E>,
  { args, version, width }: { readonly args: ReadonlyArray<string>; readonly version: string; readonly width: number }
) => {
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
  HelpDoc.p("Run the service, until Ctrl-C or SIGTERM. It is set up by environment variables."),
  HelpDoc.descriptionList(
    Arr.map(SETTINGS, ({ name, fallback, about }) => [Span.code(name), HelpDoc.p(`${about} (default: ${fallback})`)])
  )
])
