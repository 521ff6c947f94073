/** Verifies a candidate: evaluates its code (`code.ts`) on the current event. */
import type { EventFields } from "../syntax/expression/eventFields.ts"
import { layout } from "./code.ts"
import { isTermAt, lastOccurrence, previousOccurrence } from "./eventTerms.ts"
import type { Predicates } from "./Predicates.ts"
import type { Work } from "./Work.ts"

// V8 reads imported and exported bindings more slowly than module constants, so hot code copies them.
const { TERM, PHRASE, TEST, AND, OR, ALWAYS, tagOf, isNegated, lengthOf } = layout
const lastOf = lastOccurrence
const previous = previousOccurrence
const isTermThere = isTermAt

const verifyNode = (words: Int32Array, at: number, event: EventFields, predicates: Predicates, work: Work): boolean => {
  const word = words[at] ?? 0
  switch (tagOf(word)) {
    case TERM:
      return (lastOf(words[at + 1] ?? 0, words[at + 2] ?? 0) !== 0) !== isNegated(word)
    case PHRASE:
      return matchesPhrase(words, at, work) !== isNegated(word)
    case TEST:
      return predicates.evaluate(words[at + 1] ?? 0, event, work) !== isNegated(word)
    case AND: {
      const end = at + lengthOf(words, at)
      for (let child = at + 1; child < end; child += lengthOf(words, child)) {
        if (!verifyNode(words, child, event, predicates, work)) return false
      }
      return true
    }
    case OR: {
      const end = at + lengthOf(words, at)
      for (let child = at + 1; child < end; child += lengthOf(words, child)) {
        if (verifyNode(words, child, event, predicates, work)) return true
      }
      return false
    }
    default:
      return tagOf(word) === ALWAYS
  }
}

export const verify = verifyNode

// ---- helpers ----

const matchesPhrase = (words: Int32Array, at: number, work: Work): boolean => {
  const end = at + lengthOf(words, at)
  const most = work.maxSteps - work.steps
  let compared = 0
  let isFound = false
  let position = lastOf(words[at + 1] ?? 0, words[at + 2] ?? 0)
  while (position > 0 && !isFound && compared < most) {
    const start = position - (words[at + 3] ?? 0)
    let word = at + 4
    while (word < end && isTermThere(start + (words[word + 2] ?? 0), words[word] ?? 0, words[word + 1] ?? 0)) word += 3
    compared += word - at
    isFound = word >= end
    position = previous(position)
  }
  work.steps += compared
  if (position > 0 && !isFound) work.isUndecided = true
  return isFound
}
