/** Automata for what both of two automata accept, and for all that one refuses. Each can be far larger than what it is made of. */
import { bordersOf, indexOf, lastCharacter } from "./characterKinds.ts"
import { closureOf } from "./closure.ts"
import { type Automaton, automatonLimits, type Budget, Draft, type Edge } from "./draft.ts"

/** The two are walked side by side: a state here stands for one state of each. */
export const intersection = (one: Automaton, other: Automaton, budget: Budget): Automaton | undefined => {
  const left = plainOf(one, budget)
  const right = plainOf(other, budget)
  const draft = new Draft(budget)
  const end = draft.state()
  const states = new Map<number, number>()
  const pair = (a: number, b: number): number => {
    const key = a * right.length + b
    const known = states.get(key)
    if (known !== undefined) {
      return known
    }
    const state = draft.state()
    states.set(key, state)
    return state
  }
  const start = pair(0, 0)
  // A map goes on to what is added to it on the way.
  for (const [key, state] of states) {
    if (budget.isSpent) {
      return undefined
    }
    const a = left[Math.floor(key / right.length)]
    const b = right[key % right.length]
    if (a === undefined || b === undefined) {
      continue
    }
    if (a.accepts && b.accepts) {
      draft.jump(state, end)
    }
    budget.spend(a.edges.length * b.edges.length)
    for (const ofA of a.edges) {
      for (const ofB of b.edges) {
        const from = Math.max(ofA.from, ofB.from)
        const to = Math.min(ofA.to, ofB.to)
        if (from <= to) {
          draft.edge(state, from, to, pair(ofA.target, ofB.target))
        }
      }
    }
  }
  return draft.finish(start, end)
}

/** Made deterministic, an automaton refuses exactly the strings that end in a state that does not accept. */
export const complement = (inner: Automaton, budget: Budget): Automaton | undefined => {
  const closure = closureOf(inner)
  const borders = bordersOf(inner.edges.flat())
  const draft = new Draft(budget)
  const end = draft.state()
  const subsets = new Map<string, { readonly states: ReadonlyArray<number>; readonly state: number }>()
  const stateOf = (states: ReadonlyArray<number>): number => {
    budget.spend(states.length)
    const key = states.join()
    const known = subsets.get(key)
    if (known !== undefined) {
      return known.state
    }
    if (subsets.size >= automatonLimits.maxSubsets) {
      budget.spend(automatonLimits.maxWork)
    }
    const state = draft.state()
    subsets.set(key, { states, state })
    if (!states.includes(inner.end)) {
      draft.jump(state, end)
    }
    return state
  }
  const start = stateOf(closure([inner.start]))
  for (const { states, state } of subsets.values()) {
    const targets = targetsOf(inner, states, borders, budget).map((found) => stateOf(closure(found)))
    if (budget.isSpent) {
      return undefined
    }
    for (let index = 0; index < targets.length; ) {
      // Neighbours that lead to one state are one edge.
      const from = borders[index] ?? 0
      const target = targets[index] ?? 0
      while (index < targets.length && targets[index] === target) index++
      draft.edge(state, from, (borders[index] ?? lastCharacter + 1) - 1, target)
    }
  }
  return draft.finish(start, end)
}

// ---- helpers ----

interface PlainState {
  readonly edges: ReadonlyArray<Edge>
  readonly accepts: boolean
}

/** Without jumps and without states that lead nowhere; it begins at 0. */
const plainOf = (automaton: Automaton, budget: Budget): ReadonlyArray<PlainState> => {
  const closure = closureOf(automaton)
  const names = new Map([[automaton.start, 0]])
  const states: Array<PlainState> = []
  for (const state of names.keys()) {
    if (budget.isSpent) {
      return []
    }
    const together = closure([state])
    budget.spend(together.length)
    const edges: Array<Edge> = []
    for (const one of together) {
      for (const { from, to, target } of automaton.edges[one] ?? []) {
        const name = names.get(target) ?? names.size
        names.set(target, name)
        edges.push({ from, to, target: name })
      }
    }
    budget.spend(edges.length)
    states.push({ edges, accepts: together.includes(automaton.end) })
  }
  const live = liveOf(states)
  return states.map(({ edges, accepts }) => ({ edges: edges.filter(({ target }) => live.has(target)), accepts }))
}

/** The states from which an accepting one can be reached. */
const liveOf = (states: ReadonlyArray<PlainState>): ReadonlySet<number> => {
  const sources = states.map((): Array<number> => [])
  states.forEach(({ edges }, state) => {
    for (const { target } of edges) {
      sources[target]?.push(state)
    }
  })
  const live = new Set(states.flatMap(({ accepts }, state) => (accepts ? [state] : [])))
  for (const state of live) {
    for (const source of sources[state] ?? []) {
      live.add(source)
    }
  }
  return live
}

/** Where the states lead, for the characters from each border to the next. */
const targetsOf = (
  automaton: Automaton,
  states: ReadonlyArray<number>,
  borders: ReadonlyArray<number>,
  budget: Budget
): ReadonlyArray<ReadonlyArray<number>> => {
  const targets = borders.map((): Array<number> => [])
  budget.spend(borders.length)
  for (const state of states) {
    for (const { from, to, target } of automaton.edges[state] ?? []) {
      for (let index = indexOf(borders, from); (borders[index] ?? lastCharacter + 1) <= to; index++) {
        budget.spend(1)
        targets[index]?.push(target)
      }
    }
  }
  return targets
}
