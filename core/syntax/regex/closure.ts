/** Follows the jumps of an automaton. */
import type { Automaton } from "./draft.ts"

/** Finds the states that others reach by jumps, rising, those others among them. */
export const closureOf = ({ jumps }: Automaton): ((states: ReadonlyArray<number>) => ReadonlyArray<number>) => {
  const entered = new Int32Array(jumps.length)
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
    for (const state of found) jumps[state]?.forEach(enter)
    return found.sort((a, b) => a - b)
  }
}
