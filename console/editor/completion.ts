/** Completes operators and fields, with their help. */
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete"
import type { Answers } from "../client.ts"
import type { EditorLanguage, KnownValue } from "./languages.ts"

export type SyntaxHelp = Answers["platforms"]["syntax"]["platforms"][string]
export type Operator = SyntaxHelp["operators"][number]

/** What to insert for an operator; undefined for a form of writing, such as `(a b)`. */
export const insertionOf = ({ name, example }: Operator, operators: ReadonlyArray<Operator>): string | undefined => {
  const [, word] = /^[a-z] ([A-Z ]+) [a-z]$/.exec(name) ?? []
  if (word !== undefined) return word
  const [field] = /^[a-z_]+:/.exec(name) ?? []
  if (field === undefined || !hasWord(example, field)) return undefined
  // The rest is one of a few values (`is:reply`), or a placeholder (`from:username`).
  const isChoice = operators.some((other) => other.name !== name && other.name.startsWith(field))
  return isChoice && hasWord(example, name) ? name : field
}

export const completionsOf = (operators: ReadonlyArray<Operator>): ReadonlyArray<Completion> =>
  operators.flatMap((operator) => {
    const label = insertionOf(operator, operators)
    return label === undefined ? [] : [{ label, info: () => helpOf(operator) }]
  })

/** What can complete a word, the best first: operators, or the values of the field before the colon. */
export const optionsFor = (
  typed: string,
  { values }: EditorLanguage,
  operators: ReadonlyArray<Completion>
): ReadonlyArray<Completion> => {
  const [field = "", value] = typed.split(":")
  const known = value === undefined ? undefined : values[field]
  const all = known?.map((one) => valueOption(field, one)) ?? operators
  const isDone = typed.endsWith(":") && known === undefined
  const found = isDone ? [] : all.filter((option) => begins(option, typed.toLowerCase()))
  const isFirst = ({ label }: Completion) => label.toLowerCase().startsWith(typed.toLowerCase())
  return [...found.filter(isFirst), ...found.filter((option) => !isFirst(option))]
}

export const completing =
  (language: EditorLanguage, operators: () => ReadonlyArray<Completion>) =>
  (context: CompletionContext): CompletionResult | null => {
    const { pos, state, explicit } = context
    const isQuoted = language
      .tokens(state.doc.toString())
      .some(({ kind, start, end }) => kind === "phrase" && start < pos && pos < end)
    if (isQuoted) return null
    const word = context.matchBefore(/[A-Za-z_]+(?::[\w-]*)?/) ?? { from: pos, text: "" }
    // One letter begins too many words.
    if (!explicit && word.text.length < 2) return null
    const options = optionsFor(word.text, language, operators())
    return options.length === 0 ? null : { from: word.from, options, filter: false }
  }

// ---- helpers ----

const valueOption = (field: string, { text, meaning }: KnownValue): Completion => ({
  label: `${field}:${text}`,
  ...(meaning !== undefined && { detail: meaning })
})

/** The label or a part of it begins with the text, or the meaning of a value does: `lang:ger`. */
const begins = ({ label, detail = "" }: Completion, typed: string): boolean => {
  const name = label.toLowerCase()
  const [, value = ""] = typed.split(":")
  return (
    name.startsWith(typed) ||
    name.includes(`_${typed}`) ||
    name.includes(`:${typed}`) ||
    (value !== "" && detail.toLowerCase().startsWith(value))
  )
}

const hasWord = (text: string, word: string): boolean => {
  const at = text.indexOf(word)
  return at !== -1 && !/\w/.test(text.charAt(at - 1))
}

const helpOf = ({ description, example }: Operator): Node => {
  const help = document.createElement("div")
  const code = document.createElement("code")
  code.textContent = example
  help.append(`${description}. Example: `, code)
  return help
}
