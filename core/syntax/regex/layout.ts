/** Lays an NFA out for bit-parallel simulation: Glushkov positions, mostly in a chain, and no epsilon transitions. */
import type { Turns } from "../../work/turns.ts"
import { MAX_CODE_POINT } from "./characterKinds.ts"
import { accepting, epsilonClosureOf, live } from "./closure.ts"
import { Lists } from "./lists.ts"
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

/** `undefined` if the budget is spent. A small automaton takes one turn. */
export function* layoutInTurns(nfa: Nfa, budget: Budget): Turns<Layout | undefined> {
  const positions = yield* positionsInTurns(nfa, budget)
  if (positions === undefined) return undefined
  const { targets, labelOf, labels, leaving } = positions
  budget.spendPositions(targets.length, COST_OF_LAYOUT + mostActive(labels, labelOf))
  const words = Math.ceil(targets.length / 32)
  const chained = new Int32Array(words)
  const isEnd = new Int32Array(words)
  const isFinal = new Int32Array(words)
  const closure = epsilonClosureOf(nfa)
  const accepts = accepting(nfa)
  const acceptsAll = nfa.edges.map((edges, state) => accepts[state] === 1 && edges.some(isLoop(state)))
  const links = new Map<string, Link>()
  for (let position = 0; position < targets.length && !budget.isSpent; position++) {
    if (endsTurn(position)) yield
    const state = targets[position] ?? 0
    // Most positions only lead to the next one.
    if (state !== nfa.end && nfa.epsilons[state]?.length === 0 && leaving.isOnly(state, position + 1)) {
      budget.spend(2)
      setBit(chained, position)
      continue
    }
    const reached = closure([state])
    const next = new Set<number>()
    for (const state of reached) leaving.forEach(state, (position) => next.add(position))
    budget.spend(reached.length + next.size)
    if (accepts[state] === 1) setBit(isEnd, position)
    if (reached.some((state) => acceptsAll[state])) setBit(isFinal, position)
    if (next.delete(position + 1)) setBit(chained, position)
    if (next.size > 0) {
      const key = [...next].sort((a, b) => a - b).join()
      const known = links.get(key)
      known?.sources.push(position)
      if (known === undefined) {
        budget.spendLinks(LEAST_OF_LINK)
        links.set(key, { sources: [position], targets: [...next] })
      }
    }
  }
  const from = flatten([...links.values()].map((link) => sparse(link.sources)))
  const to = flatten([...links.values()].map((link) => sparse(link.targets)))
  budget.spendLinks(from.word.length + to.word.length - LEAST_OF_LINK * links.size)
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

export const setBit = (bits: Int32Array, position: number): void => {
  bits[position >>> 5] = (bits[position >>> 5] ?? 0) | (1 << position)
}

// ---- helpers ----

/** Of states or positions: a turn takes a few milliseconds even the first time. */
const COUNT_PER_TURN = 1_000

const endsTurn = (at: number): boolean => at % COUNT_PER_TURN === COUNT_PER_TURN - 1

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
  readonly leaving: Lists
}

/** One position per state and incoming label, in state order. Dead states get none. `undefined` if the budget is spent. */
function* positionsInTurns(nfa: Nfa, budget: Budget): Turns<Positions | undefined> {
  const isLive = live(nfa)
  const labels: Array<ReadonlyArray<CharacterRange>> = [[]]
  const labelByKey = new Map<string | number, number>()
  /** How many positions read the characters of each label. */
  const readers = [0]
  let mostReaders = 0
  const entered: Array<Entered> = []
  /** The index in `entered`, and the state from which. */
  const entries: Array<number> = []
  const sources: Array<number> = []
  /** Most states are entered by one label only. */
  const firstInto = new Int32Array(nfa.edges.length).fill(-1)
  const furtherInto = new Map<number, number>()
  const enter = (state: number, target: number, ranges: ReadonlyArray<CharacterRange>): void => {
    if (isLive[target] === 0) return
    const key = keyOf(ranges)
    const label = labelByKey.get(key) ?? labels.length
    if (label === labels.length) {
      labelByKey.set(key, label)
      labels.push(ranges)
      readers.push(0)
    }
    const id = target * MAX_LABELS + label
    const first = firstInto[target] ?? -1
    const known = entered[first]?.label === label ? first : furtherInto.get(id)
    entries.push(known ?? entered.length)
    sources.push(state)
    if (known !== undefined) return
    if (first < 0) firstInto[target] = entered.length
    else furtherInto.set(id, entered.length)
    entered.push({ target, label })
    readers[label] = (readers[label] ?? 0) + 1
    mostReaders = Math.max(mostReaders, readers[label] ?? 0)
  }
  for (let state = 0; state < nfa.edges.length; state++) {
    if (endsTurn(state)) yield
    for (const [target, ranges] of byTarget(nfa.edges[state] ?? [])) enter(state, target, ranges)
    if (!budget.canSpendActive(mostReaders)) {
      budget.spendActive(mostReaders)
      return undefined
    }
  }
  const byState = new Lists(nfa.edges.length)
  for (const [entry, { target }] of entered.entries()) byState.add(target, entry)
  const positions = new Int32Array(entered.length)
  const targets = [nfa.start]
  const labelOf = [0]
  for (let state = 0; state < nfa.edges.length; state++) {
    if (endsTurn(state)) yield
    byState.forEach(state, (entry) => {
      positions[entry] = targets.length
      targets.push(state)
      labelOf.push(entered[entry]?.label ?? 0)
    })
  }
  const leaving = new Lists(nfa.edges.length)
  for (const [index, entry] of entries.entries()) leaving.add(sources[index] ?? 0, positions[entry] ?? 0)
  return {
    targets,
    labelOf: Int32Array.from(labelOf),
    labels,
    leaving
  }
}

/** A state that is entered by characters of a label. */
interface Entered {
  readonly target: number
  readonly label: number
}

const MAX_LABELS = 2 ** 24

/** One word of sources and one of targets. Spent at once: a pattern with far too many links is given up early. */
const LEAST_OF_LINK = 2

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

const isLoop =
  (state: number) =>
  ({ from, to, target }: Edge): boolean =>
    target === state && from === 0 && to === MAX_CODE_POINT

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
