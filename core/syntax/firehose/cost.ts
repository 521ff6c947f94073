/** What it costs to test the clauses of a rule on an event. */
import type { WildcardSign } from "../expression/expression.ts"
import type { Phrase, Query } from "./ast.ts"
import type { Field } from "./fieldSet.ts"
import { analyse } from "./tokens.ts"

/** In automaton positions: see `nfaLimits`. Words, prefixes and short exact phrases are looked up in an index. */
export const costOf = (query: Query, field: Field): number => {
  switch (query._tag) {
    case "Fuzzy":
      return 16
    case "Wildcard":
      return costOfWildcard(query.parts)
    case "Phrase":
      return costOfPhrase(query, field)
    default:
      return 0
  }
}

export const costOfPhrase = ({ text, slop }: Pick<Phrase, "text" | "slop">, field: Field): number => {
  if (field.kind !== "text") return 0
  const words = analyse(text, field.keepsStopWords).words.length
  if (slop > 0 || words > MAX_INDEXED_WORDS) return words > 1 ? 8 * words : 0
  return words > MAX_CHEAP_WORDS ? words : 0
}

// ---- helpers ----

/** The engine looks up phrases of at most this many words. */
const MAX_INDEXED_WORDS = 32
const MAX_CHEAP_WORDS = 8

const costOfWildcard = (parts: ReadonlyArray<string | WildcardSign>): number => {
  const signs = parts.map((part) => (typeof part === "string" ? "" : part.sign))
  if (signs.includes("?")) {
    return parts.reduce((cost, part) => cost + (typeof part === "string" ? 2 * part.length : 2), 16)
  }
  const isPrefix = signs.length === 2 && signs[1] === "*" && signs[0] === ""
  return isPrefix ? 0 : 4
}
