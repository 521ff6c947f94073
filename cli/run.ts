/** Runs the command that the arguments name; answers what every command is asked for: help, version, completion. */
import { CliConfig, type Command, CommandDescriptor, HelpDoc, ValidationError } from "@effect/cli"
import { Console, Effect } from "effect"
import type { CommandInfo } from "./commandTree.ts"
import { completions } from "./completions.ts"
import { WrongUsage } from "./failures.ts"
import { commandHelp, overview } from "./help.ts"
import { problemIn } from "./usage.ts"

export const run = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>,
  options: {
    readonly commands: ReadonlyArray<CommandInfo>
    readonly args: ReadonlyArray<string>
    readonly version: string
    /** Of the help, in columns. */
    readonly width: number
  }
) => {
  const { commands, version, width } = options
  const args = options.args.flatMap(withOneDash)
  const asked = named(commands, args)
  const help = Console.log(asked === undefined ? overview(commands, { version, width }) : commandHelp(asked, width))
  if (asksForHelp(args)) return help
  const problem = () => problemIn(commands, options.args)
  return Effect.gen(function* () {
    const directive = yield* CommandDescriptor.parse(command.descriptor, ["earshot", ...args], CliConfig.defaultConfig)
    if (directive._tag === "UserDefined") {
      const [unknown] = directive.leftover
      return unknown === undefined
        ? yield* command.handler(directive.value)
        : yield* new WrongUsage({ message: problem() ?? `There is one argument too many: "${unknown}"` })
    }
    switch (directive.option._tag) {
      case "ShowVersion":
        return yield* Console.log(version)
      case "ShowCompletions":
        return yield* Console.log(completions(directive.option.shellType, commands))
      case "ShowHelp":
        return yield* help
      // Built into the library, and no part of Earshot.
      case "SetLogLevel":
        return yield* new WrongUsage({ message: "There is no option --log-level: set LOG_LEVEL" })
      case "ShowWizard":
        return yield* new WrongUsage({ message: "There is no option --wizard" })
    }
  }).pipe(
    Effect.catchIf(ValidationError.isValidationError, (error) =>
      // `earshot` and `earshot rules` alone.
      ValidationError.isHelpRequested(error)
        ? help
        : Effect.fail(new WrongUsage({ message: problem() ?? plainText(error.error) }))
    )
  )
}

// ---- helpers ----

/** The library gives a name of one letter one dash, and takes its value as the next argument only. */
const withOneDash = (arg: string): ReadonlyArray<string> => {
  const [, name, value] = /^--([a-z])(?:=(.*))?$/s.exec(arg) ?? []
  return name === undefined ? [arg] : [`-${name}`, ...(value === undefined ? [] : [value])]
}

const asksForHelp = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === "--help" || arg === "-h")
}

/** The command that the arguments begin with. */
const named = (
  commands: ReadonlyArray<CommandInfo>,
  [first, ...rest]: ReadonlyArray<string>
): CommandInfo | undefined => {
  const found = commands.find(({ path }) => path.at(-1) === first)
  return found === undefined ? undefined : (named(found.subcommands, rest) ?? found)
}

const plainText = (help: HelpDoc.HelpDoc): string =>
  HelpDoc.toAnsiText(help)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
    .replace(/\u001b\[[0-9;]*m/g, "")
    .replace(/\s+/g, " ")
    .trim()
