/** Intersection and complement of NFAs. The result can be far larger than the operands. */
import { boundariesOf, indexFrom, MAX_CODE_POINT } from "./characterKinds.ts"
import { epsilonClosureOf, reaching } from "./closure.ts"
import { Lists } from "./lists.ts"
import { type Budget, type Edge, type Nfa, NfaBuilder, nfaLimits } from "./nfa.ts"

/** Product construction: each state stands for a pair of states. */
export const intersection = (one: Nfa, other: Nfa, budget: Budget): Nfa | undefined => {
  const left = withoutEpsilons(one, budget)
  const right = withoutEpsilons(other, budget)
  const builder = new NfaBuilder(budget)
  const end = builder.addState()
  const states = new Map<number, number>()
  const pair = (a: number, b: number): number => {
    const key = a * right.length + b
    const known = states.get(key)
    if (known !== undefined) return known
    const state = builder.addState()
    states.set(key, state)
    return state
  }
  const start = pair(0, 0)
  // Iterating a Map also visits entries added during the loop.
  for (const [key, state] of states) {
    if (budget.isSpent) return undefined
    const a = left[Math.floor(key / right.length)]
    const b = right[key % right.length]
    if (a === undefined || b === undefined) {
      continue
    }
    if (a.accepts && b.accepts) {
      builder.addEpsilon(state, end)
    }
    budget.spend(a.edges.length * b.edges.length)
    if (budget.isSpent) return undefined
    for (const ofA of a.edges) {
      for (const ofB of b.edges) {
        const from = Math.max(ofA.from, ofB.from)
        const to = Math.min(ofA.to, ofB.to)
        if (from <= to) {
          builder.addEdge(state, from, to, pair(ofA.target, ofB.target))
        }
      }
    }
  }
  return builder.finish(start, end)
}

/** Subset construction, with the accepting states swapped. */
export const complement = (inner: Nfa, budget: Budget): Nfa | undefined => {
  const closure = epsilonClosureOf(inner)
  const boundaries = boundariesOf(inner.edges.flat())
  const builder = new NfaBuilder(budget)
  const end = builder.addState()
  const subsets = new Map<string, { readonly states: ReadonlyArray<number>; readonly state: number }>()
  const stateOf = (states: ReadonlyArray<number>): number => {
    budget.spend(states.length)
    const key = states.join()
    const known = subsets.get(key)
    if (known !== undefined) return known.state
    if (subsets.size >= nfaLimits.maxSubsets) {
      budget.spend(nfaLimits.maxWork)
    }
    const state = builder.addState()
    subsets.set(key, { states, state })
    if (!states.includes(inner.end)) {
      builder.addEpsilon(state, end)
    }
    return state
  }
  const start = stateOf(closure([inner.start]))
  for (const { states, state } of subsets.values()) {
    const targets: Array<number> = []
    for (const found of targetsOf(inner, states, boundaries, budget)) {
      if (budget.isSpent) return undefined
      targets.push(stateOf(closure(found)))
    }
    for (let index = 0; index < targets.length; ) {
      // Adjacent ranges with the same target become one edge.
      const from = boundaries[index] ?? 0
      const target = targets[index] ?? 0
      while (index < targets.length && targets[index] === target) index++
      builder.addEdge(state, from, (boundaries[index] ?? MAX_CODE_POINT + 1) - 1, target)
    }
  }
  return builder.finish(start, end)
}

// ---- helpers ----

interface State {
  readonly edges: ReadonlyArray<Edge>
  readonly accepts: boolean
}

/** The states without epsilon transitions and without edges to dead states. State 0 is the start. */
const withoutEpsilons = (nfa: Nfa, budget: Budget): ReadonlyArray<State> => {
  const closure = epsilonClosureOf(nfa)
  const numbers = new Map([[nfa.start, 0]])
  const states: Array<State> = []
  for (const state of numbers.keys()) {
    if (budget.isSpent) return []
    const reached = closure([state])
    budget.spend(reached.length)
    const edges: Array<Edge> = []
    for (const one of reached) {
      for (const { from, to, target } of nfa.edges[one] ?? []) {
        const number = numbers.get(target) ?? numbers.size
        numbers.set(target, number)
        edges.push({ from, to, target: number })
      }
    }
    budget.spend(edges.length)
    states.push({ edges, accepts: reached.includes(nfa.end) })
  }
  const live = liveOf(states)
  return states.map(({ edges, accepts }) => ({ edges: edges.filter(({ target }) => live[target] === 1), accepts }))
}

/** 1 for each state that can reach an accepting state. */
const liveOf = (states: ReadonlyArray<State>): Uint8Array => {
  const sources = new Lists(states.length)
  states.forEach(({ edges }, state) => {
    for (const { target } of edges) sources.add(target, state)
  })
  return reaching(
    states.flatMap(({ accepts }, state) => (accepts ? [state] : [])),
    sources
  )
}

/** Target states for each character range from one boundary to the next. */
const targetsOf = (
  nfa: Nfa,
  states: ReadonlyArray<number>,
  boundaries: Int32Array,
  budget: Budget
): ReadonlyArray<ReadonlyArray<number>> => {
  const targets = Array.from(boundaries, (): Array<number> => [])
  budget.spend(boundaries.length)
  for (const state of states) {
    for (const { from, to, target } of nfa.edges[state] ?? []) {
      const first = indexFrom(boundaries, from)
      for (let index = first; (boundaries[index] ?? MAX_CODE_POINT + 1) <= to && !budget.isSpent; index++) {
        budget.spend(1)
        targets[index]?.push(target)
      }
    }
  }
  return targets
}
