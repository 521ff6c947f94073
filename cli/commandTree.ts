/** The commands as data, for help, completions and usage errors. */
// @effect/cli offers only a usage tree, which has no descriptions, and a help document, which has the rest as prose.
import { CliConfig, CommandDescriptor, type HelpDoc, type Span, type Usage } from "@effect/cli"
import { HashMap, Option } from "effect"

export interface CommandInfo {
  /** Without `earshot`: `["rules", "create"]`. */
  readonly path: ReadonlyArray<string>
  /** One paragraph. */
  readonly about: string
  /** Further paragraphs, and lists of settings. */
  readonly details: ReadonlyArray<string | ReadonlyArray<Entry>>
  readonly options: ReadonlyArray<OptionInfo>
  readonly args: ReadonlyArray<ArgInfo>
  readonly subcommands: ReadonlyArray<CommandInfo>
}

export interface Entry {
  readonly name: string
  readonly about: string
}

export interface ArgInfo extends Entry {
  /** The allowed values; empty for free text. */
  readonly choices: ReadonlyArray<string>
}

export interface OptionInfo {
  /** `["-p", "--platform"]` */
  readonly names: ReadonlyArray<string>
  /** Placeholder of the value in the help; none for a flag. */
  readonly value: Option.Option<string>
  /** The allowed values; empty for free text. */
  readonly choices: ReadonlyArray<string>
  readonly about: string
  readonly isOptional: boolean
}

export const commandInfo = (
  descriptor: CommandDescriptor.Command<unknown>,
  parent: ReadonlyArray<string> = []
): CommandInfo => {
  const usage = CommandDescriptor.getUsage(descriptor)
  const path = [...parent, ...namesIn(usage).slice(0, 1)]
  const {
    DESCRIPTION = [],
    ARGUMENTS = [],
    OPTIONS = []
  } = sections(CommandDescriptor.getHelp(descriptor, HELP_CONFIG))
  const [about = "", ...details] = DESCRIPTION.map(plainBlock)
  const abouts = entriesIn(OPTIONS)
  const argAbouts = entriesIn(ARGUMENTS)
  return {
    path,
    about: typeof about === "string" ? about : "",
    details,
    options: optionsIn(usage).map((option, index) => ({ ...option, about: abouts[index]?.about ?? "" })),
    args: argsIn(usage).map((arg, index) => ({ ...arg, about: argAbouts[index]?.about ?? "" })),
    subcommands: subcommandsOf(descriptor, path)
  }
}

/** False for a command that only groups others, such as `earshot rules`. */
export const runsItself = ({ options, subcommands }: CommandInfo): boolean =>
  options.length > 0 || subcommands.length === 0

// ---- helpers ----

/** @effect/cli gives every one-letter name one dash. Ours has two (`--x`), unless it is an alias (`-p`). */
const withDashes = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.some((name) => name.startsWith("--")) ? names : names.map((name) => `-${name}`)

const HELP_CONFIG = CliConfig.make({ showBuiltIns: false })

/** @effect/cli lists a command without subcommands as its own subcommand. */
const subcommandsOf = (descriptor: CommandDescriptor.Command<unknown>, path: ReadonlyArray<string>) =>
  [...HashMap.values(CommandDescriptor.getSubcommands(descriptor))]
    .filter((child) => child !== descriptor && namesIn(CommandDescriptor.getUsage(child))[0] !== path.at(-1))
    .map((child) => commandInfo(child, path))
    .sort((a, b) => (a.path.join(" ") < b.path.join(" ") ? -1 : 1))

interface Leaf {
  readonly named: Usage.Named
  readonly isOptional: boolean
  readonly isRepeated: boolean
}

const leaves = (usage: Usage.Usage): ReadonlyArray<Leaf> => {
  switch (usage._tag) {
    case "Named":
      return [{ named: usage, isOptional: false, isRepeated: false }]
    case "Optional":
      return leaves(usage.usage).map((leaf) => ({ ...leaf, isOptional: true }))
    case "Repeated":
      return leaves(usage.usage).map((leaf) => ({ ...leaf, isRepeated: true }))
    case "Alternation":
    case "Concat":
      return [...leaves(usage.left), ...leaves(usage.right)]
    case "Empty":
    case "Mixed":
      return []
  }
}

const namesIn = (usage: Usage.Usage): ReadonlyArray<string> => leaves(usage).flatMap(({ named }) => named.names)

const optionsIn = (usage: Usage.Usage): ReadonlyArray<Omit<OptionInfo, "about">> =>
  leaves(usage)
    .filter(({ named }) => named.names.some((name) => name.startsWith("-")))
    .map(({ named: { names, acceptedValues }, isOptional, isRepeated }) => ({
      names: withDashes(names),
      value: acceptedValues,
      choices: choicesIn(Option.getOrElse(acceptedValues, () => "")),
      isOptional: isOptional || isRepeated || Option.isNone(acceptedValues)
    }))

const argsIn = (usage: Usage.Usage): ReadonlyArray<Omit<ArgInfo, "about">> =>
  leaves(usage)
    .filter(({ named }) => named.names.some((name) => name.startsWith("<")))
    .map(({ named: { names, acceptedValues }, isRepeated }) => ({
      name: `${names.join("")}${isRepeated ? "..." : ""}`,
      choices: choicesIn(Option.getOrElse(acceptedValues, () => ""))
    }))

const choicesIn = (values: string): ReadonlyArray<string> => (values.includes(" | ") ? values.split(" | ") : [])

/** The blocks of a help document by heading. */
const sections = (help: HelpDoc.HelpDoc): Readonly<Record<string, ReadonlyArray<HelpDoc.HelpDoc>>> => {
  const found: Record<string, Array<HelpDoc.HelpDoc>> = {}
  let heading = ""
  for (const block of blocksOf(help)) {
    if (block._tag === "Header") heading = textOf(block.value)
    else found[heading] = [...(found[heading] ?? []), block]
  }
  return found
}

const blocksOf = (help: HelpDoc.HelpDoc): ReadonlyArray<HelpDoc.HelpDoc> => {
  if (help._tag === "Sequence") return [...blocksOf(help.left), ...blocksOf(help.right)]
  return help._tag === "Empty" ? [] : [help]
}

const plainBlock = (block: HelpDoc.HelpDoc): string | ReadonlyArray<Entry> => {
  if (block._tag === "Paragraph") return textOf(block.value)
  if (block._tag !== "DescriptionList") return ""
  return block.definitions.map(([name, about]) => ({ name: textOf(name), about: paragraphsOf(about).join(" ") }))
}

/** The first paragraph is the library's description of the type, the second one is ours. */
const entriesIn = (section: ReadonlyArray<HelpDoc.HelpDoc>): ReadonlyArray<Entry> =>
  section.flatMap((block) =>
    block._tag === "DescriptionList"
      ? block.definitions.map(([name, about]) => ({ name: textOf(name), about: paragraphsOf(about)[1] ?? "" }))
      : []
  )

const paragraphsOf = (help: HelpDoc.HelpDoc): ReadonlyArray<string> =>
  blocksOf(help).flatMap((block) => (block._tag === "Paragraph" ? [textOf(block.value)] : []))

const textOf = (span: Span.Span): string => {
  switch (span._tag) {
    case "Text":
    case "URI":
      return span.value
    case "Sequence":
      return textOf(span.left) + textOf(span.right)
    case "Highlight":
    case "Strong":
    case "Weak":
      return textOf(span.value)
  }
}
