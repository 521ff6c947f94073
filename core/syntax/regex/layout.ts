/** Lays an automaton out for running: no jumps, one bit for each position, and what follows a position mostly next to it. */
import { lastCharacter } from "./characterKinds.ts"
import { closureOf } from "./closure.ts"
import type { Automaton, Budget, Edge } from "./draft.ts"
import type { CharacterRange } from "./regexTree.ts"

/**
 * A position is a place after one character of the pattern; position 0 is the beginning. In lists of bits, position `p`
 * is bit `p % 32` of word `p / 32`. After the positions of one link may come its targets: `sourceWord` and `sourceBits`
 * name the one from `sourceAt[link]` up to `sourceAt[link + 1]`, `targetWord` and `targetBits` the other.
 */
export interface Layout {
  readonly words: number
  /** What the positions read; `labelOf` is an index here. The first is for the beginning, which reads nothing. */
  readonly labels: ReadonlyArray<ReadonlyArray<CharacterRange>>
  readonly labelOf: Int32Array
  /** After these the next position may come. */
  readonly chained: Int32Array
  readonly isEnd: Int32Array
  /** After these any rest fits. */
  readonly isSure: Int32Array
  readonly sourceAt: Int32Array
  readonly sourceWord: Int32Array
  readonly sourceBits: Int32Array
  readonly targetAt: Int32Array
  readonly targetWord: Int32Array
  readonly targetBits: Int32Array
}

/** `undefined` when the budget is spent. */
export const layoutOf = (automaton: Automaton, budget: Budget): Layout | undefined => {
  const { targets, labelOf, labels, leaving } = positionsOf(automaton)
  budget.spendPositions(targets.length)
  const words = Math.ceil(targets.length / 32)
  const chained = new Int32Array(words)
  const isEnd = new Int32Array(words)
  const isSure = new Int32Array(words)
  const closure = closureOf(automaton)
  const isFree = automaton.edges.map(
    (edges, state) => edges.some(isLoop(state)) && closure([state]).includes(automaton.end)
  )
  const links = new Map<string, Link>()
  for (let position = 0; position < targets.length && !budget.isSpent; position++) {
    const together = closure([targets[position] ?? 0])
    const next = new Set(together.flatMap((state) => leaving[state] ?? []))
    budget.spend(together.length + next.size)
    if (together.includes(automaton.end)) setBit(isEnd, position)
    if (together.some((state) => isFree[state])) setBit(isSure, position)
    if (next.delete(position + 1)) setBit(chained, position)
    if (next.size > 0) {
      const key = [...next].sort((a, b) => a - b).join()
      const link = links.get(key) ?? { sources: [], targets: [...next] }
      link.sources.push(position)
      links.set(key, link)
    }
  }
  const sources = flatten([...links.values()].map((link) => sparse(link.sources)))
  const follow = flatten([...links.values()].map((link) => sparse(link.targets)))
  budget.spendLinks(sources.word.length + follow.word.length)
  return budget.isSpent
    ? undefined
    : {
        words,
        labels,
        labelOf,
        chained,
        isEnd,
        isSure,
        sourceAt: sources.at,
        sourceWord: sources.word,
        sourceBits: sources.bits,
        targetAt: follow.at,
        targetWord: follow.word,
        targetBits: follow.bits
      }
}

// ---- helpers ----

interface Link {
  readonly sources: Array<number>
  readonly targets: ReadonlyArray<number>
}

interface Positions {
  /** The state in which a position stands. */
  readonly targets: ReadonlyArray<number>
  readonly labelOf: Int32Array
  readonly labels: ReadonlyArray<ReadonlyArray<CharacterRange>>
  /** The positions that edges lead to, for each state. */
  readonly leaving: ReadonlyArray<ReadonlyArray<number>>
}

/** One position for each state and each label with which it is entered, in the order of the states; none that leads nowhere. */
const positionsOf = (automaton: Automaton): Positions => {
  const leads = statesThatLead(automaton)
  const labels: Array<ReadonlyArray<CharacterRange>> = [[]]
  const labelNames = new Map<string, number>()
  const entered = new Map<number, { readonly target: number; readonly label: number; readonly from: Array<number> }>()
  automaton.edges.forEach((edges, state) => {
    for (const [target, ranges] of byTarget(edges.filter((edge) => leads[edge.target] === 1))) {
      const key = ranges.map(({ from, to }) => `${from}-${to}`).join()
      const label = labelNames.get(key) ?? labels.length
      if (label === labels.length) {
        labelNames.set(key, label)
        labels.push(ranges)
      }
      const place = target * maxLabels + label
      const known = entered.get(place)
      if (known === undefined) {
        entered.set(place, { target, label, from: [state] })
      } else {
        known.from.push(state)
      }
    }
  })
  const ordered = [...entered.values()].sort((a, b) => a.target - b.target)
  const leaving = automaton.edges.map((): Array<number> => [])
  ordered.forEach(({ from }, index) => {
    for (const state of from) leaving[state]?.push(index + 1)
  })
  return {
    targets: [automaton.start, ...ordered.map(({ target }) => target)],
    labelOf: Int32Array.from([0, ...ordered.map(({ label }) => label)]),
    labels,
    leaving
  }
}

const maxLabels = 2 ** 24

const byTarget = (edges: ReadonlyArray<Edge>): ReadonlyMap<number, ReadonlyArray<CharacterRange>> => {
  const found = new Map<number, Array<CharacterRange>>()
  for (const { from, to, target } of edges) {
    const ranges = found.get(target)
    if (ranges === undefined) {
      found.set(target, [{ from, to }])
    } else {
      ranges.push({ from, to })
    }
  }
  return found
}

/** 1 for each state from which the end can be reached. */
const statesThatLead = ({ edges, jumps, end }: Automaton): Uint8Array => {
  const sources = edges.map((): Array<number> => [])
  edges.forEach((all, state) => {
    for (const { target } of all) sources[target]?.push(state)
    for (const target of jumps[state] ?? []) sources[target]?.push(state)
  })
  const leads = new Uint8Array(edges.length)
  const found = [end]
  leads[end] = 1
  for (const state of found) {
    for (const source of sources[state] ?? []) {
      if (leads[source] === 0) {
        leads[source] = 1
        found.push(source)
      }
    }
  }
  return leads
}

const isLoop =
  (state: number) =>
  ({ from, to, target }: Edge): boolean =>
    target === state && from === 0 && to === lastCharacter

const setBit = (bits: Int32Array, position: number): void => {
  bits[position >>> 5] = (bits[position >>> 5] ?? 0) | (1 << position)
}

/** The words in which there are positions, and their bits. */
const sparse = (positions: ReadonlyArray<number>): ReadonlyMap<number, number> => {
  const bits = new Map<number, number>()
  for (const position of positions) {
    bits.set(position >>> 5, (bits.get(position >>> 5) ?? 0) | (1 << position))
  }
  return bits
}

const flatten = (lists: ReadonlyArray<ReadonlyMap<number, number>>) => {
  const at = new Int32Array(lists.length + 1)
  lists.forEach((list, index) => {
    at[index + 1] = (at[index] ?? 0) + list.size
  })
  return {
    at,
    word: Int32Array.from(lists.flatMap((list) => [...list.keys()])),
    bits: Int32Array.from(lists.flatMap((list) => [...list.values()]))
  }
}
