/** Pieces of text that every value a test fits must hold: what a test without a term of its own can be looked up by. */
import { isTextField, type Predicate } from "../syntax/expression/expression.ts"
import { type Patterned, patternOf } from "../syntax/expression/patterns.ts"
import { restAt, writeWord } from "../syntax/words/wordRow.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { GRAM, gramCell, innerSpace, keywordSpace, textSpace } from "./spaces.ts"

/** A gram is [high, low, space, cell]. */
export const GRAM_WORDS = 4

/** Enough to find a rare one among. */
const MOST_GRAMS = 16

/** Any one of them will do; none means that the test cannot be looked up. */
export const gramsOf = (predicate: Predicate, fingerprints: Fingerprints): Int32Array => {
  const found: Array<number> = []
  if (isPatterned(predicate)) {
    const space = innerSpace(spaceOfField(predicate))
    for (const text of patternOf(predicate).inner) {
      const end = writeWord(text)
      for (let at = 0; at + GRAM <= end && found.length < MOST_GRAMS * GRAM_WORDS; at++) {
        const gram = restAt(at, at + GRAM)
        fingerprints.readGroup(space, gram)
        found.push(fingerprints.high, fingerprints.low, space, gramCell(gram))
      }
    }
  }
  return Int32Array.from(found)
}

export interface Start {
  readonly space: number
  readonly text: string
  /** Whether a value that begins so fits for sure. */
  readonly isAll: boolean
}

/** What every value begins with that the test fits. */
export const startOf = (predicate: Predicate): Start | undefined => {
  if (!isPatterned(predicate)) return undefined
  const { start } = patternOf(predicate)
  if (start === "") return undefined
  return { space: spaceOfField(predicate), text: start, isAll: isStartAlone(predicate) }
}

// ---- helpers ----

const isPatterned = (predicate: Predicate): predicate is Patterned =>
  predicate._tag === "Wildcard" ||
  predicate._tag === "Fuzzy" ||
  predicate._tag === "Regex" ||
  predicate._tag === "Contains"

/** Half of a pair at the end is the start of no whole character. */
const isStartAlone = (predicate: Patterned): boolean => {
  if (predicate._tag !== "Wildcard" || predicate.parts.length !== 2) return false
  const [start, rest] = predicate.parts
  return typeof start === "string" && !/[\ud800-\udbff]$/.test(start) && typeof rest === "object" && rest.sign === "*"
}

const spaceOfField = ({ field }: Patterned): number => (isTextField(field) ? textSpace(field) : keywordSpace(field))
