/** Prefixes and 3-byte grams that every value matching a pattern contains. They serve as anchors. */
import type { Predicate } from "../syntax/expression/expression.ts"
import { type PatternPredicate, patternOf } from "../syntax/expression/patterns.ts"
import { tailAt, writeWord } from "../syntax/words/wordBuffer.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { GRAM_BYTES, gramCell, gramSpace, type Spaces } from "./spaces.ts"

/** A gram is [high, low, space, cell]. */
export const GRAM_WORDS = 4

/** Enough to contain a rare one. */
const MAX_GRAMS = 16

/** Every matching value contains all of these grams. Empty if the predicate has none. */
export const gramsOf = (predicate: Predicate, fingerprints: Fingerprints, spaces: Spaces): Int32Array => {
  const found: Array<number> = []
  if (isPatternPredicate(predicate)) {
    const space = gramSpace(spaceOfField(predicate, spaces))
    for (const text of patternOf(predicate).substrings) {
      const end = writeWord(text)
      for (let at = 0; at + GRAM_BYTES <= end && found.length < MAX_GRAMS * GRAM_WORDS; at++) {
        const gram = tailAt(at, at + GRAM_BYTES)
        fingerprints.hashGroup(space, gram)
        found.push(fingerprints.high, fingerprints.low, space, gramCell(gram))
      }
    }
  }
  return Int32Array.from(found)
}

export interface Prefix {
  readonly space: number
  readonly text: string
  /** Whether the predicate matches exactly the values that begin with `text`. */
  readonly isExact: boolean
}

/** The prefix that every matching value begins with. */
export const prefixOf = (predicate: Predicate, spaces: Spaces): Prefix | undefined => {
  if (!isPatternPredicate(predicate)) return undefined
  const { prefix } = patternOf(predicate)
  if (prefix === "") return undefined
  return { space: spaceOfField(predicate, spaces), text: prefix, isExact: isPrefixOnly(predicate) }
}

// ---- helpers ----

const isPatternPredicate = (predicate: Predicate): predicate is PatternPredicate =>
  predicate._tag === "Wildcard" ||
  predicate._tag === "Fuzzy" ||
  predicate._tag === "Regex" ||
  predicate._tag === "Contains"

/** A prefix that ends in half of a surrogate pair is not the prefix of a whole character. */
const isPrefixOnly = (predicate: PatternPredicate): boolean => {
  if (predicate._tag !== "Wildcard" || predicate.parts.length !== 2) return false
  const [start, rest] = predicate.parts
  return typeof start === "string" && !/[\ud800-\udbff]$/.test(start) && typeof rest === "object" && rest.sign === "*"
}

const spaceOfField = (predicate: PatternPredicate, spaces: Spaces): number =>
  predicate._tag !== "Contains" && predicate.over === "words"
    ? spaces.textSpace(predicate.field)
    : spaces.keywordSpace(predicate.field)
