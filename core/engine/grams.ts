/** Pieces of text that every value a test fits must hold: what a test without a term of its own can be looked up by. */
import { isTextField, type Predicate } from "../syntax/expression.ts"
import { type Patterned, patternOf } from "../syntax/patterns.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { GRAM, innerSpace, keywordSpace, textSpace } from "./spaces.ts"

/** A gram is [high, low, space]. */
export const GRAM_WORDS = 3

/** Enough to find a rare one among. */
const MOST_GRAMS = 16

/** Any one of them will do; none means that the test cannot be looked up. */
export const gramsOf = (predicate: Predicate, fingerprints: Fingerprints): Int32Array => {
  const found: Array<number> = []
  if (isPatterned(predicate)) {
    const space = innerSpace(spaceOfField(predicate))
    for (const text of patternOf(predicate).inner) {
      for (let at = 0; at + GRAM <= text.length && found.length < MOST_GRAMS * GRAM_WORDS; at++) {
        fingerprints.readText(space, text.slice(at, at + GRAM))
        found.push(fingerprints.high, fingerprints.low, space)
      }
    }
  }
  return Int32Array.from(found)
}

/** What every value begins with that the test fits, if that is long enough to be looked up. */
export const startOf = (predicate: Predicate): { readonly space: number; readonly text: string } | undefined => {
  const text = isPatterned(predicate) ? patternOf(predicate).start : ""
  return isPatterned(predicate) && text.length >= GRAM ? { space: spaceOfField(predicate), text } : undefined
}

// ---- helpers ----

const isPatterned = (predicate: Predicate): predicate is Patterned =>
  predicate._tag === "Wildcard" ||
  predicate._tag === "Fuzzy" ||
  predicate._tag === "Regex" ||
  predicate._tag === "Contains"

const spaceOfField = ({ field }: Patterned): number => (isTextField(field) ? textSpace(field) : keywordSpace(field))
