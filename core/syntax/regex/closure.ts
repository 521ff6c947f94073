/** Which NFA states epsilon transitions lead to. */
import { Lists } from "./lists.ts"
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

/** 1 for each state from which epsilon transitions lead to the end, and for the end itself. */
export const accepting = ({ epsilons, end }: Nfa): Uint8Array => {
  const sources = new Lists(epsilons.length)
  epsilons.forEach((targets, state) => {
    for (const target of targets) sources.add(target, state)
  })
  return reaching([end], sources)
}

/** 1 for each state from which any transitions lead to the end, and for the end itself. */
export const live = ({ edges, epsilons, end }: Nfa): Uint8Array => {
  const sources = new Lists(edges.length)
  edges.forEach((all, state) => {
    for (const { target } of all) sources.add(target, state)
    for (const target of epsilons[state] ?? []) sources.add(target, state)
  })
  return reaching([end], sources)
}

/** 1 for each state that leads to one of the ends, and for the ends themselves. `sources`: the states before each. */
export const reaching = (ends: ReadonlyArray<number>, sources: Lists): Uint8Array => {
  const reaches = new Uint8Array(sources.count)
  const found = [...ends]
  for (const end of ends) reaches[end] = 1
  for (const state of found) {
    sources.forEach(state, (source) => {
      if (reaches[source] === 0) {
        reaches[source] = 1
        found.push(source)
      }
    })
  }
  return reaches
}
