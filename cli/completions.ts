/** Completion scripts for shells. */
// Unlike those of @effect/cli, they complete nested commands and choices in bash, and offer no --wizard or --log-level.
import { Option } from "effect"
import type { CommandInfo } from "./commandTree.ts"
import { summaryOf } from "./help.ts"

export type Shell = "bash" | "zsh" | "fish"

export const completions = (shell: Shell, commands: ReadonlyArray<CommandInfo>): string => {
  const all = commands.flatMap((command) => [command, ...command.subcommands])
  switch (shell) {
    case "bash":
      return bash(commands, all)
    case "zsh":
      // Zsh runs the bash script in its compatibility mode.
      return `#compdef earshot\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands, all)}`
    case "fish":
      return fish(all)
  }
}

// ---- helpers ----

const EVERYWHERE = ["--help"]

const TOP_LEVEL = ["--help", "--version", "--completions"]

const SHELLS = "bash zsh fish sh"

const nameOf = ({ path }: CommandInfo): string => path.join(" ")

const bash = (commands: ReadonlyArray<CommandInfo>, all: ReadonlyArray<CommandInfo>): string => {
  const steps = all.map(
    ({ path }) => `      "${path.slice(0, -1).join(" ")} ${path.at(-1)}") command="${path.join(" ")}" ;;`
  )
  const values = all.flatMap((command) =>
    command.options
      .filter(({ value }) => Option.isSome(value))
      .map(({ names, choices }) => {
        const cases = names.map((name) => `"${nameOf(command)} ${name}"`).join("|")
        return `    ${cases}) words="${choices.join(" ")}" ;;`
      })
  )
  const words = all.map((command) => {
    const next = [
      ...command.subcommands.map(({ path }) => path.at(-1) ?? ""),
      ...command.args.flatMap(({ choices }) => choices),
      ...command.options.flatMap(({ names }) => names),
      ...EVERYWHERE
    ]
    return `        "${nameOf(command)}") words="${next.join(" ")}" ;;`
  })
  return `_earshot() {
  local command="" words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command \${COMP_WORDS[i]}" in
${steps.join("\n")}
    esac
  done
  case "$command \${COMP_WORDS[COMP_CWORD-1]}" in
    " --completions") words="${SHELLS}" ;;
${values.join("\n")}
    *)
      case "$command" in
        "") words="${[...commands.map(nameOf), ...TOP_LEVEL].join(" ")}" ;;
${words.join("\n")}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _earshot earshot`
}

const fish = (all: ReadonlyArray<CommandInfo>): string => {
  const line = (condition: string, rest: string, about: string) =>
    `complete -c earshot -n '${condition}' ${rest} -d '${about.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
  const lines = all.flatMap((command) => {
    const { path, options, args } = command
    const parent = path.slice(0, -1)
    const siblings = all.filter((other) => other.path.length === path.length && other.path[0] === path[0])
    const before =
      parent.length === 0
        ? "__fish_use_subcommand"
        : `${seen(parent)}; and not __fish_seen_subcommand_from ${siblings.map((other) => other.path.at(-1)).join(" ")}`
    const takesFile = args.some(({ name }) => name.includes("file"))
    const values = args.flatMap(({ choices }) => choices)
    return [
      line(before, `-a ${path.at(-1)}`, summaryOf(command)),
      ...(takesFile ? [`complete -c earshot -n '${seen(path)}' -F`] : []),
      ...(values.length > 0 ? [`complete -c earshot -n '${seen(path)}' -a '${values.join(" ")}'`] : []),
      ...options.map(({ names, value, choices, about }) => {
        const spelt = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
        const takes = Option.isNone(value) ? [] : choices.length > 0 ? [`-x -a '${choices.join(" ")}'`] : ["-x"]
        return line(seen(path), [...spelt, ...takes].join(" "), about)
      })
    ]
  })
  return [
    "complete -c earshot -f",
    line("__fish_use_subcommand", "-l version", "Show the version"),
    line("__fish_use_subcommand", `-l completions -x -a '${SHELLS}'`, "Print the completion script of a shell"),
    "complete -c earshot -s h -l help -d 'Show help for a command'",
    ...lines
  ].join("\n")
}

const seen = (path: ReadonlyArray<string>): string =>
  path.map((name) => `__fish_seen_subcommand_from ${name}`).join("; and ")
