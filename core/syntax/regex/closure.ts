/** Epsilon closure of NFA states. */
import type { Nfa } from "./nfa.ts"

/** The returned function gives the closure in ascending order, including the given states. */
export const epsilonClosureOf = ({ epsilons }: Nfa): ((states: ReadonlyArray<number>) => ReadonlyArray<number>) => {
  const entered = new Int32Array(epsilons.length)
  let round = 0
  return (states) => {
    round++
    const found: Array<number> = []
    const enter = (state: number) => {
      if (entered[state] !== round) {
        entered[state] = round
        found.push(state)
      }
    }
    states.forEach(enter)
    for (const state of found) epsilons[state]?.forEach(enter)
    return found.sort((a, b) => a - b)
  }
}
