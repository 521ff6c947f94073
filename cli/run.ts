/** Parses the arguments and runs the command, or prints help, version or completions. */
import { CliConfig, type Command, CommandDescriptor, HelpDoc, ValidationError } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import type { CommandInfo } from "./commandTree.ts"
import { completions } from "./completions.ts"
import { UsageError } from "./failures.ts"
import { commandHelp, overview } from "./help.ts"
import { type PlatformsOff, problemIn } from "./usage.ts"

export const run = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>,
  options: {
    readonly commands: ReadonlyArray<CommandInfo>
    readonly args: ReadonlyArray<string>
    readonly version: string
    /** Width of the help, in columns. */
    readonly width: number
    readonly platformsOff: PlatformsOff
  }
) => {
  const { commands, version, width } = options
  const given = options.args.map((arg, index) => (index === 0 ? (aliases.get(arg) ?? arg) : arg))
  const args = given.flatMap(withOneDash)
  const found = findCommand(commands, args)
  const help = Console.log(found === undefined ? overview(commands, { version, width }) : commandHelp(found, width))
  if (hasHelpOption(args)) return help
  const problem = () => problemIn(commands, given, options.platformsOff)
  return Effect.gen(function* () {
    const directive = yield* CommandDescriptor.parse(command.descriptor, ["earshot", ...args], CliConfig.defaultConfig)
    if (directive._tag === "UserDefined") {
      const [unknown] = directive.leftover
      return unknown === undefined
        ? yield* command.handler(directive.value)
        : yield* new UsageError({ message: problem() ?? `Unexpected argument: "${unknown}"${quotesHint(found)}` })
    }
    switch (directive.option._tag) {
      case "ShowVersion":
        return yield* Console.log(version)
      case "ShowCompletions":
        return yield* Console.log(completions(directive.option.shellType, commands))
      case "ShowHelp":
        return yield* help
      // Built into @effect/cli; Earshot does not offer them.
      case "SetLogLevel":
        return yield* new UsageError({ message: "There is no option --log-level: set LOG_LEVEL" })
      case "ShowWizard":
        return yield* new UsageError({ message: "There is no option --wizard" })
    }
  }).pipe(
    Effect.catchIf(ValidationError.isValidationError, (error) =>
      // `earshot` or `earshot rules` without a command.
      ValidationError.isHelpRequested(error)
        ? help
        : Effect.fail(new UsageError({ message: problem() ?? plainText(error.error) }))
    )
  )
}

// ---- helpers ----

/** For the first argument. `set-aside` is a former name, kept for scripts and not shown in the help. */
const aliases = new Map([
  ["-v", "--version"],
  ["set-aside", "dead-letters"]
])

/** @effect/cli expects one dash before a one-letter name, and the value as the next argument. */
const withOneDash = (arg: string): ReadonlyArray<string> => {
  const [, name, value] = /^--([a-z])(?:=(.*))?$/s.exec(arg) ?? []
  return name === undefined ? [arg] : [`-${name}`, ...(value === undefined ? [] : [value])]
}

const hasHelpOption = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === "--help" || arg === "-h")
}

const findCommand = (
  commands: ReadonlyArray<CommandInfo>,
  [first, ...rest]: ReadonlyArray<string>
): CommandInfo | undefined => {
  const found = commands.find(({ path }) => path.at(-1) === first)
  return found === undefined ? undefined : (findCommand(found.subcommands, rest) ?? found)
}

/** Shells split a text at its spaces. */
const quotesHint = (command: CommandInfo | undefined): string => {
  if (command?.args.some(({ name }) => name === "<filter>")) return ": put the filter in quotes"
  const takesText = command?.options.some(({ value }) => Option.exists(value, (name) => texts.has(name)))
  return takesText ? ": put a value that has spaces in quotes" : ""
}
const texts: ReadonlySet<string> = new Set(["text", "filter"])

const plainText = (help: HelpDoc.HelpDoc): string =>
  HelpDoc.toAnsiText(help)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character of colours
    .replace(/\u001b\[[0-9;]*m/g, "")
    .replace(/\s+/g, " ")
    .trim()
