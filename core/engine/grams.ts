/** By what a test can be looked up that is no term of its own: a piece of text that every value it fits must hold. */
import type { KeywordField, Predicate, TextField } from "../syntax/expression.ts"
import { isTextField } from "../syntax/expression.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { GRAM, innerSpace, keywordSpace, PLACED_EVENT, startSpace, textSpace } from "./spaces.ts"

/** A gram is [high, low, space]. Any one of a test's grams will do; none means that it cannot be looked up. */
export const GRAM_WORDS = 3

/** Enough to find a rare one among. */
const MOST_GRAMS = 16

export const gramsOf = (predicate: Predicate, fingerprints: Fingerprints): Int32Array => {
  const found: Array<number> = []
  const push = (space: number, text: string, start: number) => {
    fingerprints.read(space, text, start, Math.min(start + GRAM, text.length))
    found.push(fingerprints.high, fingerprints.low, space)
  }
  switch (predicate._tag) {
    case "Radius":
    case "Box":
      push(PLACED_EVENT, "", 0)
      break
    case "Wildcard":
    case "Contains": {
      const space = spaceOfField(predicate.field)
      const { start, inner } = literalsOf(predicate)
      if (start.length >= GRAM) push(startSpace(space), start, 0)
      else {
        for (const text of inner) {
          for (let at = 0; at + GRAM <= text.length && found.length < MOST_GRAMS * GRAM_WORDS; at++) {
            push(innerSpace(space), text, at)
          }
        }
      }
    }
  }
  return Int32Array.from(found)
}

// ---- helpers ----

const spaceOfField = (field: TextField | KeywordField): number =>
  isTextField(field) ? textSpace(field) : keywordSpace(field)

const literalsOf = (predicate: Predicate & { _tag: "Wildcard" | "Contains" }) => {
  if (predicate._tag === "Contains") return { start: "", inner: [predicate.text] }
  const [first] = predicate.parts
  return {
    start: typeof first === "string" ? first : "",
    inner: predicate.parts.filter((part) => typeof part === "string")
  }
}
