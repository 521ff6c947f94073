/** Lays an NFA out for bit-parallel simulation: Glushkov positions, mostly in a chain, and no epsilon transitions. */
import { MAX_CODE_POINT } from "./characterKinds.ts"
import { epsilonClosureOf } from "./closure.ts"
import type { Budget, Edge, Nfa } from "./nfa.ts"
import type { CharacterRange } from "./tree.ts"

/**
 * A position follows one character of the pattern; position 0 is the start. In bitsets, position `p` is bit `p % 32` of
 * word `p / 32`. A link goes from each of its sources to each of its targets. Its sources are the entries of `sourceWord`
 * and `sourceBits` from `sourceAt[link]` up to `sourceAt[link + 1]`; its targets are stored in the same way.
 */
export interface Layout {
  readonly words: number
  /** Characters that a position reads, by `labelOf`. Label 0 belongs to the start, which reads nothing. */
  readonly labels: ReadonlyArray<ReadonlyArray<CharacterRange>>
  readonly labelOf: Int32Array
  /** Positions with a transition to the next position. */
  readonly chained: Int32Array
  readonly isEnd: Int32Array
  /** Positions after which any rest of the value matches. */
  readonly isFinal: Int32Array
  readonly sourceAt: Int32Array
  readonly sourceWord: Int32Array
  readonly sourceBits: Int32Array
  readonly targetAt: Int32Array
  readonly targetWord: Int32Array
  readonly targetBits: Int32Array
}

/** `undefined` if the budget is spent. */
export const layoutOf = (nfa: Nfa, budget: Budget): Layout | undefined => {
  const { targets, labelOf, labels, leaving } = positionsOf(nfa)
  budget.spendPositions(targets.length, COST_OF_LAYOUT + mostActive(labels, labelOf))
  const words = Math.ceil(targets.length / 32)
  const chained = new Int32Array(words)
  const isEnd = new Int32Array(words)
  const isFinal = new Int32Array(words)
  const closure = epsilonClosureOf(nfa)
  const acceptsAll = nfa.edges.map((edges, state) => edges.some(isLoop(state)) && closure([state]).includes(nfa.end))
  const links = new Map<string, Link>()
  for (let position = 0; position < targets.length && !budget.isSpent; position++) {
    const state = targets[position] ?? 0
    // Most positions only lead to the next one.
    if (state !== nfa.end && nfa.epsilons[state]?.length === 0 && isOnly(leaving[state], position + 1)) {
      budget.spend(2)
      setBit(chained, position)
      continue
    }
    const reached = closure([state])
    const next = new Set(reached.flatMap((state) => leaving[state] ?? []))
    budget.spend(reached.length + next.size)
    if (reached.includes(nfa.end)) setBit(isEnd, position)
    if (reached.some((state) => acceptsAll[state])) setBit(isFinal, position)
    if (next.delete(position + 1)) setBit(chained, position)
    if (next.size > 0) {
      const key = [...next].sort((a, b) => a - b).join()
      const link = links.get(key) ?? { sources: [], targets: [...next] }
      link.sources.push(position)
      links.set(key, link)
    }
  }
  const from = flatten([...links.values()].map((link) => sparse(link.sources)))
  const to = flatten([...links.values()].map((link) => sparse(link.targets)))
  budget.spendLinks(from.word.length + to.word.length)
  return budget.isSpent
    ? undefined
    : {
        words,
        labels,
        labelOf,
        chained,
        isEnd,
        isFinal,
        sourceAt: from.at,
        sourceWord: from.word,
        sourceBits: from.bits,
        targetAt: to.at,
        targetWord: to.word,
        targetBits: to.bits
      }
}

// ---- helpers ----

interface Link {
  readonly sources: Array<number>
  readonly targets: ReadonlyArray<number>
}

interface Positions {
  /** NFA state of each position. */
  readonly targets: ReadonlyArray<number>
  readonly labelOf: Int32Array
  readonly labels: ReadonlyArray<ReadonlyArray<CharacterRange>>
  /** For each NFA state, the positions that its edges lead to. */
  readonly leaving: ReadonlyArray<ReadonlyArray<number>>
}

/** One position per state and incoming label, in state order. Dead states get none. */
const positionsOf = (nfa: Nfa): Positions => {
  const live = liveStates(nfa)
  const labels: Array<ReadonlyArray<CharacterRange>> = [[]]
  const labelByKey = new Map<string | number, number>()
  const entered: Array<{ readonly target: number; readonly label: number; readonly from: Array<number> }> = []
  /** Most states are entered by one label only. */
  const firstInto = new Int32Array(nfa.edges.length).fill(-1)
  const furtherInto = new Map<number, number>()
  nfa.edges.forEach((edges, state) => {
    for (const [target, ranges] of byTarget(edges)) {
      if (live[target] === 0) continue
      const key = keyOf(ranges)
      const label = labelByKey.get(key) ?? labels.length
      if (label === labels.length) {
        labelByKey.set(key, label)
        labels.push(ranges)
      }
      const id = target * MAX_LABELS + label
      const first = firstInto[target] ?? -1
      const known = entered[first]?.label === label ? first : (furtherInto.get(id) ?? -1)
      if (known >= 0) {
        entered[known]?.from.push(state)
        continue
      }
      if (first < 0) firstInto[target] = entered.length
      else furtherInto.set(id, entered.length)
      entered.push({ target, label, from: [state] })
    }
  })
  const ordered = entered.sort((a, b) => a.target - b.target)
  const leaving = nfa.edges.map((): Array<number> => [])
  ordered.forEach(({ from }, index) => {
    for (const state of from) leaving[state]?.push(index + 1)
  })
  return {
    targets: [nfa.start, ...ordered.map(({ target }) => target)],
    labelOf: Int32Array.from([0, ...ordered.map(({ label }) => label)]),
    labels,
    leaving
  }
}

const MAX_LABELS = 2 ** 24

/** What even a small automaton costs, in active positions. */
const COST_OF_LAYOUT = 32

/** The same for equal ranges. A number for a single one: most patterns have thousands of those. */
const keyOf = (ranges: ReadonlyArray<CharacterRange>): string | number => {
  const [first] = ranges
  return first !== undefined && ranges.length === 1
    ? first.from * (MAX_CODE_POINT + 1) + first.to
    : ranges.map(({ from, to }) => `${from}-${to}`).join()
}

/** The largest number of positions that read the same character. */
const mostActive = (labels: ReadonlyArray<ReadonlyArray<CharacterRange>>, labelOf: Int32Array): number => {
  const counts = new Int32Array(labels.length)
  for (const label of labelOf) counts[label] = (counts[label] ?? 0) + 1
  // A change of the number at a character, as one number that sorts by the character and then by the change.
  const changes = new Float64Array(labels.reduce((sum, ranges) => sum + 2 * ranges.length, 0))
  let length = 0
  labels.forEach((ranges, label) => {
    const count = counts[label] ?? 0
    for (const { from, to } of ranges) {
      changes[length++] = from * CHANGES + ZERO_CHANGE + count
      changes[length++] = (to + 1) * CHANGES + ZERO_CHANGE - count
    }
  })
  let active = 0
  let most = 0
  for (const change of changes.sort()) {
    active += (change % CHANGES) - ZERO_CHANGE
    most = Math.max(most, active)
  }
  return most
}

/** More than there are positions, in both directions. */
const ZERO_CHANGE = 2 ** 24
const CHANGES = 2 * ZERO_CHANGE

const isOnly = (positions: ReadonlyArray<number> | undefined, position: number): boolean =>
  positions?.length === 1 && positions[0] === position

const byTarget = (edges: ReadonlyArray<Edge>): Iterable<readonly [target: number, ReadonlyArray<CharacterRange>]> => {
  const [first] = edges
  if (first === undefined) return []
  if (edges.length === 1) return [[first.target, edges]]
  const found = new Map<number, Array<CharacterRange>>()
  for (const edge of edges) {
    const ranges = found.get(edge.target)
    if (ranges === undefined) {
      found.set(edge.target, [edge])
    } else {
      ranges.push(edge)
    }
  }
  return found
}

/** 1 for each state that can reach the end. */
const liveStates = ({ edges, epsilons, end }: Nfa): Uint8Array => {
  const sources = edges.map((): Array<number> => [])
  edges.forEach((all, state) => {
    for (const { target } of all) sources[target]?.push(state)
    for (const target of epsilons[state] ?? []) sources[target]?.push(state)
  })
  const live = new Uint8Array(edges.length)
  const found = [end]
  live[end] = 1
  for (const state of found) {
    for (const source of sources[state] ?? []) {
      if (live[source] === 0) {
        live[source] = 1
        found.push(source)
      }
    }
  }
  return live
}

const isLoop =
  (state: number) =>
  ({ from, to, target }: Edge): boolean =>
    target === state && from === 0 && to === MAX_CODE_POINT

const setBit = (bits: Int32Array, position: number): void => {
  bits[position >>> 5] = (bits[position >>> 5] ?? 0) | (1 << position)
}

/** Sparse bitset: the non-zero words by index. */
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
