/** Pieces of text that every value a test fits must hold: what a test without a term of its own can be looked up by. */
import { isTextField, type KeywordField, type Predicate, type TextField } from "../syntax/expression.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { GRAM, innerSpace, keywordSpace, textSpace } from "./spaces.ts"

/** A gram is [high, low, space]. */
export const GRAM_WORDS = 3

/** Enough to find a rare one among. */
const MOST_GRAMS = 16

/** Any one of them will do; none means that the test cannot be looked up. */
export const gramsOf = (predicate: Predicate, fingerprints: Fingerprints): Int32Array => {
  const found: Array<number> = []
  if (predicate._tag === "Wildcard" || predicate._tag === "Contains") {
    const space = innerSpace(spaceOfField(predicate.field))
    for (const text of literalsOf(predicate)) {
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
  if (predicate._tag !== "Wildcard") return undefined
  const [text] = predicate.parts
  return typeof text === "string" && text.length >= GRAM ? { space: spaceOfField(predicate.field), text } : undefined
}

// ---- helpers ----

const spaceOfField = (field: TextField | KeywordField): number =>
  isTextField(field) ? textSpace(field) : keywordSpace(field)

const literalsOf = (predicate: Predicate & { _tag: "Wildcard" | "Contains" }): ReadonlyArray<string> =>
  predicate._tag === "Contains" ? [predicate.text] : predicate.parts.filter((part) => typeof part === "string")
