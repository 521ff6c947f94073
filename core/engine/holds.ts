/** Runs the code of a rule (`code.ts`) on the event at hand. */
import type { EventFields } from "../syntax/expression/eventFields.ts"
import { layout } from "./code.ts"
import { isAt, sameBefore, termOf } from "./eventTerms.ts"
import type { Predicates } from "./Predicates.ts"

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not.
const { TERM, PHRASE, TEST, AND, OR, ALWAYS, tagOf, isNegated, lengthOf } = layout
const lastOf = termOf
const before = sameBefore
const isThere = isAt

/** Whether the event meets the node that begins there. `stamp` is another for each event. */
const meets = (words: Int32Array, at: number, event: EventFields, predicates: Predicates, stamp: number): boolean => {
  const word = words[at] ?? 0
  switch (tagOf(word)) {
    case TERM:
      return (lastOf(words[at + 1] ?? 0, words[at + 2] ?? 0) !== 0) !== isNegated(word)
    case PHRASE:
      return meetsPhrase(words, at) !== isNegated(word)
    case TEST:
      return predicates.holds(words[at + 1] ?? 0, event, stamp) !== isNegated(word)
    case AND: {
      const end = at + lengthOf(words, at)
      for (let child = at + 1; child < end; child += lengthOf(words, child)) {
        if (!meets(words, child, event, predicates, stamp)) return false
      }
      return true
    }
    case OR: {
      const end = at + lengthOf(words, at)
      for (let child = at + 1; child < end; child += lengthOf(words, child)) {
        if (meets(words, child, event, predicates, stamp)) return true
      }
      return false
    }
    default:
      return tagOf(word) === ALWAYS
  }
}

export const holds = meets

// ---- helpers ----

const meetsPhrase = (words: Int32Array, at: number): boolean => {
  const end = at + lengthOf(words, at)
  for (let place = lastOf(words[at + 1] ?? 0, words[at + 2] ?? 0); place > 0; place = before(place)) {
    const start = place - (words[at + 3] ?? 0)
    let word = at + 4
    while (word < end && isThere(start + (words[word + 2] ?? 0), words[word] ?? 0, words[word + 1] ?? 0)) word += 3
    if (word >= end) return true
  }
  return false
}
