/** Messages for wrong arguments, with suggestions. Those of @effect/cli do not name the option or command. */
import { Option } from "effect"
import { contractsOfPlatforms } from "../api/contracts.ts"
import { nearest } from "../core/text/nearest.ts"
import { type CommandInfo, type OptionInfo, runsItself } from "./commandTree.ts"

/** By platform that is off: a setting that turns it on, such as `EARSHOT_BLUESKY=on`. */
export type PlatformsOff = Readonly<Record<string, string>>

/** Undefined if the message of @effect/cli is good enough. */
export const problemIn = (
  commands: ReadonlyArray<CommandInfo>,
  args: ReadonlyArray<string>,
  off: PlatformsOff = {}
): string | undefined => problemBelow("earshot", { commands, args, topLevel: commands, off })

// ---- helpers ----

interface Given {
  readonly commands: ReadonlyArray<CommandInfo>
  readonly args: ReadonlyArray<string>
  /** The user may have meant one of these. */
  readonly topLevel: ReadonlyArray<CommandInfo>
  readonly off: PlatformsOff
}

const problemBelow = (parent: string, { commands, args, topLevel, off }: Given): string | undefined => {
  const [first, ...rest] = args
  if (first === undefined) return undefined
  if (first.startsWith("-")) return problemInGlobalOption(first, parent)
  const command = commands.find(({ path }) => path.at(-1) === first)
  if (command === undefined) {
    const isTopLevel = topLevel.some(({ path }) => path[0] === first)
    const turnOn = commands === topLevel && first in contractsOfPlatforms ? hintFor(first, off) : undefined
    const advice = turnOn ?? (isTopLevel ? `did you mean earshot ${first}?` : nearestOf(first, commands))
    return noCommand(parent, first, advice)
  }
  const called = `${parent} ${first}`
  const namesSubcommand = command.subcommands.some(({ path }) => path.at(-1) === rest[0])
  return namesSubcommand || !runsItself(command)
    ? problemBelow(called, { commands: command.subcommands, args: rest, topLevel, off })
    : problemInOptions(command, { args: rest, called, off })
}

/** The switch may be set for the server only: the command does not know. */
const hintFor = (platform: string, off: PlatformsOff): string | undefined =>
  Object.hasOwn(off, platform) ? `${platform} is off: set ${off[platform]} for commands, too` : undefined

const noCommand = (parent: string, word: string, advice: string): string =>
  `There is no command "${parent} ${word}": ${advice}`

const nearestOf = (word: string, commands: ReadonlyArray<CommandInfo>): string =>
  suggestion(
    word,
    commands.map(({ path }) => path.at(-1) ?? "")
  )

const GLOBAL_OPTIONS = ["--help", "-h", "--version", "--completions"]

const problemInGlobalOption = (arg: string, called: string): string | undefined => {
  const [name = arg] = arg.split("=")
  if (name === "--completions") return "--completions: expected bash, zsh, fish or sh"
  return GLOBAL_OPTIONS.includes(name)
    ? undefined
    : `"${called}" has no option ${name}: ${suggestion(name, GLOBAL_OPTIONS)}`
}

const problemInOptions = (
  command: CommandInfo,
  { args, called, off }: { readonly args: ReadonlyArray<string>; readonly called: string; readonly off: PlatformsOff }
): string | undefined => {
  let position = 0
  const given = new Set<OptionInfo>()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ""
    if (arg === "--") break
    if (!/^-./.test(arg)) {
      // Of a command with arguments or without subcommands, @effect/cli names the word.
      if (command.args.length === 0 && command.subcommands.length > 0) {
        return noCommand(called, arg, nearestOf(arg, command.subcommands))
      }
      const problem = wrongChoice(`"${arg}"`, arg, command.args[position++]?.choices ?? [], off)
      if (problem !== undefined) return problem
      continue
    }
    const [name = arg, inline] = arg.split(/=(.*)/s)
    const option = command.options.find(({ names }) => names.includes(name))
    if (option === undefined) {
      const expected = command.args[position]
      if (/^-\d/.test(arg) && expected !== undefined)
        return `Expected ${expected.name}, not "${arg}": ${expected.about}`
      const names = command.options.flatMap((known) => known.names)
      return `"${called}" has no option ${name}: ${hintFor(name.replace(/^--/, ""), off) ?? suggestion(name, names)}`
    }
    given.add(option)
    const value = inline === undefined && Option.isSome(option.value) ? args[++i] : inline
    const problem = problemInValue(option, { name, given: value, off })
    if (problem !== undefined) return problem
  }
  const missing = command.options.find((option) => !option.isOptional && !given.has(option))
  return missing === undefined ? undefined : `"${called}" needs ${describe(missing)}`
}

/** `--platform: add --platform x or --platform firehose` */
const describe = ({ names, value, choices }: OptionInfo): string => {
  const name = names.at(-1) ?? ""
  const values = choices.length > 0 ? choices : Option.toArray(value).map((placeholder) => `<${placeholder}>`)
  return `${name}: add ${alternatives(values.map((one) => `${name} ${one}`))}`
}

/** `given` is empty for `--name=`, which @effect/cli does not accept. */
const problemInValue = (
  { value, choices }: OptionInfo,
  { name, given, off }: { readonly name: string; readonly given: string | undefined; readonly off: PlatformsOff }
) => {
  if (Option.isNone(value)) return undefined
  return given === undefined || given === ""
    ? `${name} needs a value: ${choices.length > 0 ? alternatives(choices) : `${name} <${value.value}>`}`
    : wrongChoice(name, given, choices, off)
}

const wrongChoice = (
  what: string,
  given: string,
  choices: ReadonlyArray<string>,
  off: PlatformsOff
): string | undefined => {
  if (choices.length === 0 || choices.includes(given)) return undefined
  const turnOn = hintFor(given, off)
  return `${what}: expected ${alternatives(choices)}${what === `"${given}"` ? "" : `, not "${given}"`}${turnOn === undefined ? "" : `; ${turnOn}`}`
}

/** `read, write or admin` */
const alternatives = (choices: ReadonlyArray<string>): string =>
  choices.length < 2 ? choices.join() : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`

const suggestion = (word: string, names: ReadonlyArray<string>): string => {
  if (names.length === 0) return "it has no options"
  // Any two one-letter options are one edit apart, so the nearest one would be arbitrary.
  const near = /^-.$/.test(word) ? undefined : nearest(word, names)
  return near === undefined ? `expected one of ${names.join(", ")}` : `did you mean ${near}?`
}
