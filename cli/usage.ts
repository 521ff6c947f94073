/** What is wrong with arguments that were refused, in better words than the library's. */
import { Option } from "effect"
import { nearest } from "../core/syntax/nearest.ts"
import type { CommandInfo, OptionInfo } from "./commandTree.ts"

/** Undefined where there is nothing better to say. */
export const problemIn = (commands: ReadonlyArray<CommandInfo>, args: ReadonlyArray<string>): string | undefined =>
  problemBelow("earshot", { commands, args, top: commands })

// ---- helpers ----

interface Given {
  readonly commands: ReadonlyArray<CommandInfo>
  readonly args: ReadonlyArray<string>
  /** The commands right below `earshot`: one of them may be meant as well. */
  readonly top: ReadonlyArray<CommandInfo>
}

const problemBelow = (above: string, { commands, args, top }: Given): string | undefined => {
  const [first, ...rest] = args
  if (first === undefined) return undefined
  if (first.startsWith("-")) return problemEverywhere(first, above)
  const command = commands.find(({ path }) => path.at(-1) === first)
  if (command === undefined) {
    const names = commands.map(({ path }) => path.at(-1) ?? "")
    const isOnTop = top.some(({ path }) => path[0] === first)
    return `There is no command "${above} ${first}": ${isOnTop ? `did you mean earshot ${first}?` : meant(first, names)}`
  }
  const called = `${above} ${first}`
  return command.subcommands.length > 0
    ? problemBelow(called, { commands: command.subcommands, args: rest, top })
    : problemInOptions(command, rest, called)
}

const EVERYWHERE = ["--help", "-h", "--version", "--completions"]

const problemEverywhere = (arg: string, called: string): string | undefined => {
  const [name = arg] = arg.split("=")
  if (name === "--completions") return "--completions: expected bash or zsh or fish or sh"
  return EVERYWHERE.includes(name) ? undefined : `"${called}" has no option ${name}: ${meant(name, EVERYWHERE)}`
}

const problemInOptions = (command: CommandInfo, args: ReadonlyArray<string>, called: string): string | undefined => {
  let place = 0
  const given = new Set<OptionInfo>()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ""
    if (arg === "--") break
    if (!/^-./.test(arg)) {
      const problem = wrongChoice(`"${arg}"`, arg, command.args[place++]?.choices ?? [])
      if (problem !== undefined) return problem
      continue
    }
    const [name = arg, inline] = arg.split(/=(.*)/s)
    const option = command.options.find(({ names }) => names.includes(name))
    if (option === undefined) {
      const names = command.options.flatMap((known) => known.names)
      return `"${called}" has no option ${name}: ${meant(name, names)}`
    }
    given.add(option)
    const problem = problemInValue(option, name, Option.isSome(option.value) ? (inline ?? args[++i]) : "")
    if (problem !== undefined) return problem
  }
  const missing = command.options.find((option) => !option.isOptional && !given.has(option))
  return missing === undefined ? undefined : `"${called}" needs ${inFull(missing)}`
}

/** `--platform x or firehose: The platform whose language the filter is in` */
const inFull = ({ names, value, choices, about }: OptionInfo): string => {
  const values = choices.length > 0 ? choices.join(" or ") : Option.getOrElse(value, () => "")
  return `${names.at(-1)} ${values}: ${about}`
}

const problemInValue = ({ value, choices }: OptionInfo, name: string, given: string | undefined) =>
  given === undefined
    ? `${name} needs a value: ${Option.getOrElse(value, () => "")}`
    : wrongChoice(name, given, choices)

const wrongChoice = (what: string, given: string, choices: ReadonlyArray<string>): string | undefined =>
  choices.length === 0 || choices.includes(given)
    ? undefined
    : `${what}: expected ${choices.join(" or ")}${what === `"${given}"` ? "" : `, not "${given}"`}`

const meant = (word: string, names: ReadonlyArray<string>): string => {
  if (names.length === 0) return "it takes none"
  const near = nearest(word, names)
  return near === undefined ? `expected one of ${names.join(", ")}` : `did you mean ${near}?`
}
