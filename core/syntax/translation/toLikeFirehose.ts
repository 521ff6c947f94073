/** Translates a clause to Firehose, or to a language with its syntax and other fields. */
import type { Bound, Predicate } from "../expression/expression.ts"
import type { FieldSet } from "../firehose/fieldSet.ts"
import { escapeTerm, escapeWildcard, quotePhrase } from "../firehose/printer.ts"
import { type ClauseTranslation, exact, impossible } from "./clauseTranslation.ts"
import { isContradictory } from "./partialRule.ts"
import { printFirehose } from "./print.ts"
import type { TranslationTarget } from "./target.ts"
import { rawTextOfX, toFirehose } from "./toFirehose.ts"

/** Fields of the two languages that mean the same have the same name in expressions. */
export const likeFirehoseTarget = (name: string, fields: FieldSet): TranslationTarget => ({
  clause: (predicate, raw, positive) => {
    if (isOfFirehose(predicate)) return sameClause(predicate, name, fields)
    const translation = toFirehose(predicate, raw, positive)
    if ("impossible" in translation) return impossible(translation.impossible.replaceAll("Firehose", name))
    return { ...translation, reason: translation.reason.replaceAll("Firehose", name) }
  },
  rawText: rawTextOfX,
  print: printFirehose,
  isUnsatisfiable: isContradictory
})

// ---- helpers ----

/** A clause of a language with Firehose's syntax. */
const isOfFirehose = (predicate: Predicate): boolean =>
  predicate._tag === "Recent" || ("field" in predicate && !/^(x|bluesky)\./.test(predicate.field))

const sameClause = (predicate: Predicate, name: string, { all, default: words }: FieldSet): ClauseTranslation => {
  if (predicate._tag === "Recent") return exact([`recent:${predicate.hours}h`], "The same age")
  const field =
    "field" in predicate ? all.find((one) => one.kind !== "filter" && one.target === predicate.field) : undefined
  const value = printValue(predicate)
  if (field === undefined || value === undefined) return impossible(`${name} has no such field`)
  return exact([field === words ? value : `${field.name}:${value}`], `The same field: "${field.name}"`)
}

const printValue = (predicate: Predicate): string | undefined => {
  switch (predicate._tag) {
    case "Phrase": {
      const { words, offsets, slop } = predicate
      const [only = ""] = words
      if (words.length === 1) return escapeTerm(only)
      // A stop word holds the place of one that was removed.
      const text = words.map((word, index) => "the ".repeat(gapBefore(index, offsets)) + word).join(" ")
      return quotePhrase(text) + (slop > 0 ? `~${slop}` : "")
    }
    case "Equals":
      return quotePhrase(predicate.value)
    case "Wildcard":
      return predicate.parts.map((part) => (typeof part === "string" ? escapeTerm(part) : part.sign)).join("")
    case "Fuzzy":
      return `${escapeTerm(predicate.word)}~${predicate.distance}`
    case "Regex":
      return `/${predicate.pattern}/`
    case "Contains":
      return `*${escapeWildcard(predicate.text)}*`
    case "NumberRange":
    case "KeywordRange":
      return rangeOf(predicate.from, predicate.to)
    default:
      return undefined
  }
}

const gapBefore = (index: number, offsets: ReadonlyArray<number> | undefined): number =>
  index === 0 || offsets === undefined ? 0 : (offsets[index] ?? 0) - (offsets[index - 1] ?? 0) - 1

const rangeOf = (from: Bound<string | number> | undefined, to: Bound<string | number> | undefined): string => {
  const end = (bound: Bound<string | number> | undefined) =>
    bound === undefined ? "*" : typeof bound.value === "number" ? String(bound.value) : quotePhrase(bound.value)
  return `${from?.inclusive === false ? "{" : "["}${end(from)} TO ${end(to)}${to?.inclusive === false ? "}" : "]"}`
}
