/** Describes a clause of a rule in one line. */
import { counted } from "../../text/counted.ts"
import type { Bound, Expression, Field, PatternTarget, Predicate, WildcardSign } from "./expression.ts"
import type { FieldNames } from "./FieldNames.ts"

/** An expression without clauses: a predicate or a constant. */
export type Leaf = Predicate | (Expression & { readonly _tag: "Everything" | "Nothing" })

export const describe = (leaf: Leaf, names: FieldNames): string => {
  switch (leaf._tag) {
    case "Everything":
      return "Any event at all"
    case "Nothing":
      return "No event: this part of the rule cannot match"
    case "Phrase":
      return phrase(leaf, names)
    case "Wildcard":
      return `${subject(leaf, names)} fits the pattern ${quoted(patternOf(leaf.parts))}`
    case "Fuzzy":
      return `${subject(leaf, names)} is spelled like ${quoted(leaf.word)}, with at most ${counted(leaf.distance, "edit")}`
    case "Regex":
      return `${subject(leaf, names)} fits the regular expression ${quoted(leaf.pattern)}`
    case "Equals":
      return equals(leaf.field, leaf.value, names)
    case "Contains":
      return `${keywordName(leaf.field, names)} contains ${quoted(leaf.text)}`
    case "NumberRange":
      return `${names.number[leaf.field] ?? leaf.field} is ${range(leaf.from, leaf.to, String)}`
    case "KeywordRange":
      return `${keywordName(leaf.field, names)} is ${range(leaf.from, leaf.to, quoted)}`
    case "Radius":
      return `The post is from within ${leaf.kilometres} km of longitude ${leaf.longitude}, latitude ${leaf.latitude}`
    case "Box":
      return `The post is from between longitudes ${leaf.west} and ${leaf.east}, latitudes ${leaf.south} and ${leaf.north}`
    case "Sample":
      return `The post is in the fixed sample of ${leaf.percent} percent`
    case "Recent":
      return `The page was published at most ${counted(leaf.hours, "hour")} before it was matched`
  }
}

// ---- helpers ----

const phrase = ({ words, slop, field }: Predicate & { readonly _tag: "Phrase" }, names: FieldNames): string => {
  const where = names.text[field] ?? field
  const text = quoted(words.join(" "))
  if (words.length === 1) {
    return `The word ${text} in ${where}`
  }
  return slop === 0
    ? `The phrase ${text} in ${where}`
    : `The phrase ${text} in ${where}, with a slop of ${counted(slop, "position")}`
}

const equals = (field: Field, value: string, names: FieldNames): string =>
  names.keyword[field]?.equals?.(value) ?? `${keywordName(field, names)} is ${quoted(value)}`

const subject = ({ field, over }: { field: Field; over: PatternTarget }, names: FieldNames): string =>
  over === "words" ? `A word in ${names.text[field] ?? field}` : keywordName(field, names)

const keywordName = (field: Field, names: FieldNames): string => names.keyword[field]?.name ?? field

const range = <A>(from: Bound<A> | undefined, to: Bound<A> | undefined, show: (value: A) => string): string => {
  const low = from && `${from.inclusive ? "at least" : "over"} ${show(from.value)}`
  const high = to && `${to.inclusive ? "at most" : "under"} ${show(to.value)}`
  if (from !== undefined && to !== undefined && from.inclusive && to.inclusive && from.value === to.value) {
    return show(from.value)
  }
  return [low, high].filter((side) => side !== undefined).join(" and ") || "known"
}

const patternOf = (parts: ReadonlyArray<string | WildcardSign>): string =>
  parts.map((part) => (typeof part === "string" ? part : part.sign)).join("")

/** Quoted, on one line, and truncated. */
const quoted = (text: string): string => {
  const plain = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\u202a-\u202e\u2066-\u2069]/gu, " ")
  const characters = [...plain.slice(0, 2 * MAX_LENGTH + 2)]
  return `"${characters.length > MAX_LENGTH ? `${characters.slice(0, MAX_LENGTH).join("")}…` : plain}"`
}

const MAX_LENGTH = 100
