/** The help texts of the commands. */
// Unlike those of @effect/cli, they wrap at the terminal's width, list settings, and omit --wizard and --log-level.
import { Option } from "effect"
import { type ArgInfo, type CommandInfo, type Entry, type OptionInfo, runsItself } from "./commandTree.ts"

/** The help of `earshot` itself. */
export const overview = (
  commands: ReadonlyArray<CommandInfo>,
  { version, width }: { readonly version: string; readonly width: number }
): string =>
  [
    `Earshot ${version}: rule-based live event monitoring`,
    section("Usage", ["  earshot <command> [options]"]),
    section("Commands", commandLines(commands, width)),
    section("Options", entryLines(GLOBAL_OPTIONS, width)),
    section("Exit codes", ["  0 success, 1 failure, 2 wrong usage"])
  ].join("\n\n")

export const commandHelp = (command: CommandInfo, width: number): string => {
  const { path, about, details, options, args, subcommands } = command
  const required = options
    .filter(({ isOptional }) => !isOptional)
    .map((option) => ` ${optionName({ ...option, names: option.names.slice(-1) })}`)
  const takes = [
    ...required,
    ...(required.length < options.length ? [" [options]"] : []),
    ...args.map(({ name }) => ` ${name}`)
  ]
  return [
    wrapped(about, width, "").join("\n"),
    section("Usage", [
      ...(runsItself(command) ? [`  earshot ${path.join(" ")}${takes.join("")}`] : []),
      ...(subcommands.length > 0 ? [`  earshot ${path.join(" ")} <command>`] : [])
    ]),
    ...(subcommands.length === 0 ? [] : [section("Commands", commandLines(subcommands, width))]),
    ...(args.length === 0 ? [] : [section("Arguments", entryLines(args.map(argEntry), width))]),
    ...(options.length === 0 ? [] : [section("Options", entryLines(options.map(asEntry), width))]),
    ...details.map((block) =>
      typeof block === "string" ? wrapped(block, width, "").join("\n") : section("Settings", entryLines(block, width))
    )
  ].join("\n\n")
}

/** The first sentence. */
export const summaryOf = ({ about }: CommandInfo): string => about.split(/[.:;] /, 1)[0]?.replace(/\.$/, "") ?? ""

// ---- helpers ----

const GLOBAL_OPTIONS: ReadonlyArray<Entry> = [
  { name: "--help, -h", about: "Show help for a command" },
  { name: "--version, -v", about: "Show the version" },
  {
    name: "--completions bash | zsh | fish | sh",
    about: "Print the completion script for a shell; in bash: source <(earshot --completions bash)"
  }
]

const BOLD = "\u001b[1m"
const UNBOLD = "\u001b[22m"

const section = (heading: string, lines: ReadonlyArray<string>): string =>
  [`${BOLD}${heading}${UNBOLD}`, ...lines].join("\n")

const commandLines = (commands: ReadonlyArray<CommandInfo>, width: number): ReadonlyArray<string> => {
  const all = commands.flatMap((command) => [...(runsItself(command) ? [command] : []), ...command.subcommands])
  const names = all.map(({ path }) => path.join(" "))
  const indent = Math.max(...names.map((name) => name.length)) + 4
  return all.flatMap((command, index) => {
    const [first = "", ...rest] = wrapped(summaryOf(command), width, " ".repeat(indent))
    return [`  ${names[index]}`.padEnd(indent) + first.trimStart(), ...rest]
  })
}

const entryLines = (entries: ReadonlyArray<Entry>, width: number): ReadonlyArray<string> =>
  entries.flatMap(({ name, about }) => [`  ${name}`, ...wrapped(about, width, "      ")])

const optionName = ({ names, value }: OptionInfo): string => [names.join(", "), ...Option.toArray(value)].join(" ")

const argEntry = ({ name, about, choices }: ArgInfo): Entry => ({
  name: [name, ...(choices.length > 0 ? [choices.join(" | ")] : [])].join("  "),
  about
})

const asEntry = (option: OptionInfo): Entry => ({ name: optionName(option), about: option.about })

const wrapped = (text: string, width: number, indent: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`${indent}${word}`)
  }
  return lines
}
