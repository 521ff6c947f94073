/**
 * Runs a pattern of Lucene's dialect over a value in time linear in both: the tree becomes an automaton, and all its
 * possible states are followed at once. No pattern makes it go back.
 */
import type { RegexNode } from "./regex.ts"

/** Whether a whole value fits. */
export type Matcher = (value: string) => boolean

/** `undefined` for a pattern that unfolds to more states than are kept: `~` and `&` can square and double them. */
export const matcherOf = (tree: RegexNode): Matcher | undefined => {
  const automaton = build(tree)
  return automaton === undefined ? undefined : (value) => run(automaton, value)
}

export const automatonLimits = {
  maxStates: 60_000,
  /** Of the deterministic automaton that a `~` needs. */
  maxSubsets: 10_000,
  /** Steps taken to build all of it. */
  maxWork: 5_000_000
} as const

// ---- helpers ----

const lastCharacter = 0x10ffff

interface Edge {
  readonly from: number
  readonly to: number
  readonly target: number
}

interface Automaton {
  readonly edges: ReadonlyArray<ReadonlyArray<Edge>>
  /** Steps that read nothing. */
  readonly jumps: ReadonlyArray<ReadonlyArray<number>>
  readonly start: number
  readonly end: number
  /** The round in which a state was last reached, so that it is entered once for each character. */
  readonly reached: Int32Array
  round: number
}

const run = (automaton: Automaton, value: string): boolean => {
  let current: Array<number> = []
  let next: Array<number> = []
  newRound(automaton)
  enter(automaton, automaton.start, current)
  for (let at = 0; at < value.length && current.length > 0; ) {
    const character = value.codePointAt(at) ?? 0
    at += character > 0xffff ? 2 : 1
    newRound(automaton)
    next.length = 0
    for (const state of current) {
      for (const { from, to, target } of automaton.edges[state] ?? []) {
        if (from <= character && character <= to) {
          enter(automaton, target, next)
        }
      }
    }
    const spent = current
    current = next
    next = spent
  }
  return current.includes(automaton.end)
}

const newRound = (automaton: Automaton): void => {
  if (automaton.round === 0x7fffffff) {
    automaton.reached.fill(0)
    automaton.round = 0
  }
  automaton.round++
}

/** Adds the state and all that lie behind jumps. `states` doubles as the list of what is still to look at. */
const enter = (automaton: Automaton, state: number, states: Array<number>): void => {
  const { reached, round, jumps } = automaton
  if (reached[state] === round) {
    return
  }
  reached[state] = round
  let at = states.length
  states.push(state)
  while (at < states.length) {
    for (const target of jumps[states[at] ?? 0] ?? []) {
      if (reached[target] !== round) {
        reached[target] = round
        states.push(target)
      }
    }
    at++
  }
}

const build = (tree: RegexNode): Automaton | undefined => {
  const builder = new Builder({ work: automatonLimits.maxWork })
  const start = builder.state()
  const end = builder.node(tree, start)
  return builder.failed ? undefined : builder.automaton(start, end)
}

/** Shared by all automata that one pattern needs. */
interface Budget {
  work: number
}

class Builder {
  failed = false
  private readonly edges: Array<Array<Edge>> = []
  private readonly jumps: Array<Array<number>> = []
  private readonly budget: Budget

  constructor(budget: Budget) {
    this.budget = budget
  }

  automaton(start: number, end: number): Automaton {
    return { edges: this.edges, jumps: this.jumps, start, end, reached: new Int32Array(this.edges.length), round: 0 }
  }

  state(): number {
    if (this.edges.length >= automatonLimits.maxStates || this.budget.work <= 0) {
      this.failed = true
      return 0
    }
    this.budget.work--
    this.edges.push([])
    this.jumps.push([])
    return this.edges.length - 1
  }

  /** Leads from `start` through the node; gives the state where it ends. */
  node(node: RegexNode, start: number): number {
    switch (node._tag) {
      case "Empty":
        return start
      case "None":
        return this.state()
      case "AnyString": {
        const end = this.jumpTo(start)
        this.edge(end, 0, lastCharacter, end)
        return end
      }
      case "AnyCharacter":
        return this.step(start, 0, lastCharacter)
      case "Literal": {
        let at = start
        for (const character of node.text) {
          const code = character.codePointAt(0) ?? 0
          at = this.step(at, code, code)
        }
        return at
      }
      case "Class": {
        const end = this.state()
        for (const { from, to } of node.negated ? complementOf(node.ranges) : node.ranges) {
          this.edge(start, from, to, end)
        }
        return end
      }
      case "Concat":
        return node.parts.reduce((at, part) => this.node(part, at), start)
      case "Union": {
        const end = this.state()
        for (const part of node.parts) {
          this.jump(this.node(part, this.jumpTo(start)), end)
        }
        return end
      }
      case "Intersection":
        return this.intersection(node.parts, start)
      case "Complement":
        return this.complement(node.part, start)
      case "Repeat":
        return this.repeat(node, start)
      case "Interval":
        return this.interval(node.from, node.to, node.digits, start)
    }
  }

  private edge(state: number, from: number, to: number, target: number): void {
    this.edges[state]?.push({ from, to, target })
  }

  private jump(state: number, target: number): void {
    this.jumps[state]?.push(target)
  }

  private step(start: number, from: number, to: number): number {
    const end = this.state()
    this.edge(start, from, to, end)
    return end
  }

  private jumpTo(start: number): number {
    const end = this.state()
    this.jump(start, end)
    return end
  }

  private repeat(outer: RegexNode & { readonly _tag: "Repeat" }, start: number): number {
    let { part, min, max } = outer
    // A row of signs such as a?*+ is one sign, so that a long row does not nest.
    while (part._tag === "Repeat" && isSign(min, max) && isSign(part.min, part.max)) {
      min *= part.min
      max = max === undefined || part.max === undefined ? undefined : max * part.max
      part = part.part
    }
    if (max === 0 || isEmpty(part)) {
      return start
    }
    let at = start
    for (let count = 0; count < min && !this.failed; count++) {
      at = this.node(part, this.jumpTo(at))
    }
    if (max === undefined) {
      const loop = this.jumpTo(at)
      this.jump(this.node(part, loop), loop)
      return this.jumpTo(loop)
    }
    const end = this.state()
    this.jump(at, end)
    for (let count = min; count < max && !this.failed; count++) {
      at = this.node(part, this.jumpTo(at))
      this.jump(at, end)
    }
    return end
  }

  /** Numbers from `from` to `to`; with free width any zeros may stand before. */
  private interval(from: number, to: number, digits: number, start: number): number {
    const end = this.state()
    // The state from which this many more digits of any kind lead to the end.
    const free = [end]
    const anyDigits = (count: number): number => {
      while (free.length <= count) {
        const state = this.state()
        this.edge(state, zero, zero + 9, free[free.length - 1] ?? end)
        free.push(state)
      }
      return free[count] ?? end
    }
    if (digits > 0) {
      this.between(String(from).padStart(digits, "0"), String(to).padStart(digits, "0"), start, anyDigits)
      return end
    }
    const zeros = this.jumpTo(start)
    this.edge(zeros, zero, zero, zeros)
    const low = String(from)
    const high = String(to)
    if (low.length === high.length) {
      this.between(low, high, zeros, anyDigits)
      return end
    }
    this.between(low, "9".repeat(low.length), zeros, anyDigits)
    for (let length = low.length + 1; length < high.length; length++) {
      this.edge(zeros, zero + 1, zero + 9, anyDigits(length - 1))
    }
    this.between(`1${"0".repeat(high.length - 1)}`, high, zeros, anyDigits)
    return end
  }

  /** Digit strings of one length between two of that length. */
  private between(low: string, high: string, start: number, anyDigits: (count: number) => number): void {
    const length = low.length
    const digit = (text: string, at: number) => text.charCodeAt(at) - zero
    // How far the digits read so far equal both bounds, the lower or the upper one alone.
    let both = start
    let at = 0
    while (at < length && low[at] === high[at]) {
      const code = low.charCodeAt(at)
      at++
      if (at === length) {
        this.edge(both, code, code, anyDigits(0))
        return
      }
      both = this.step(both, code, code)
    }
    const rest = length - at - 1
    const range = (state: number, from: number, to: number, target: number) => {
      if (from <= to) {
        this.edge(state, zero + from, zero + to, target)
      }
    }
    range(both, digit(low, at) + 1, digit(high, at) - 1, anyDigits(rest))
    let lower = rest === 0 ? anyDigits(0) : this.state()
    let upper = rest === 0 ? anyDigits(0) : this.state()
    range(both, digit(low, at), digit(low, at), lower)
    range(both, digit(high, at), digit(high, at), upper)
    for (let next = at + 1; next < length; next++) {
      const left = length - next - 1
      range(lower, digit(low, next) + 1, 9, anyDigits(left))
      range(upper, 0, digit(high, next) - 1, anyDigits(left))
      const nextLower = left === 0 ? anyDigits(0) : this.state()
      const nextUpper = left === 0 ? anyDigits(0) : this.state()
      range(lower, digit(low, next), digit(low, next), nextLower)
      range(upper, digit(high, next), digit(high, next), nextUpper)
      lower = nextLower
      upper = nextUpper
    }
  }

  /** All parts are walked side by side: a state here stands for one state of each of two automata. */
  private intersection(parts: ReadonlyArray<RegexNode>, start: number): number {
    const last = parts.at(-1)
    if (last === undefined) {
      return start
    }
    const left = this.apart(parts.length === 2 ? parts[0] : { _tag: "Intersection", parts: parts.slice(0, -1) })
    const right = this.apart(last)
    if (parts.length === 1 || left === undefined || right === undefined) {
      return parts.length === 1 ? this.node(last, start) : start
    }
    const width = right.edges.length
    const states = new Map<number, number>()
    const queue: Array<number> = []
    const pair = (a: number, b: number): number => {
      const key = a * width + b
      const known = states.get(key)
      if (known !== undefined) {
        return known
      }
      const state = this.state()
      states.set(key, state)
      queue.push(key)
      return state
    }
    this.jump(start, pair(left.start, right.start))
    for (let at = 0; at < queue.length && !this.failed; at++) {
      const key = queue[at] ?? 0
      const a = Math.floor(key / width)
      const b = key % width
      const state = pair(a, b)
      for (const target of left.jumps[a] ?? []) this.jump(state, pair(target, b))
      for (const target of right.jumps[b] ?? []) this.jump(state, pair(a, target))
      for (const one of left.edges[a] ?? []) {
        for (const other of right.edges[b] ?? []) {
          this.spend(1)
          const from = Math.max(one.from, other.from)
          const to = Math.min(one.to, other.to)
          if (from <= to) {
            this.edge(state, from, to, pair(one.target, other.target))
          }
        }
      }
    }
    return pair(left.end, right.end)
  }

  /** The part made deterministic, so that the strings it refuses are those that end in a state that does not accept. */
  private complement(part: RegexNode, start: number): number {
    const inner = this.apart(part)
    const end = this.state()
    if (inner === undefined) {
      return end
    }
    const borders = bordersOf(inner)
    const states = new Map<string, number>()
    const queue: Array<{ readonly subset: ReadonlyArray<number>; readonly state: number }> = []
    const stateOf = (subset: ReadonlyArray<number>): number => {
      this.spend(subset.length)
      const key = subset.join()
      const known = states.get(key)
      if (known !== undefined) {
        return known
      }
      if (states.size >= automatonLimits.maxSubsets) {
        this.failed = true
        return end
      }
      const state = this.state()
      states.set(key, state)
      queue.push({ subset, state })
      if (!subset.includes(inner.end)) {
        this.jump(state, end)
      }
      return state
    }
    this.jump(start, stateOf(closure(inner, [inner.start])))
    for (let at = 0; at < queue.length && !this.failed; at++) {
      const { subset, state } = queue[at] ?? { subset: [], state: end }
      const targets = borders.map((): Array<number> => [])
      for (const one of subset) {
        for (const { from, to, target } of inner.edges[one] ?? []) {
          for (let index = indexOf(borders, from); (borders[index] ?? lastCharacter + 1) <= to; index++) {
            this.spend(1)
            targets[index]?.push(target)
          }
        }
      }
      this.spend(targets.length)
      for (let index = 0; index < targets.length && !this.failed; index++) {
        const upTo = (borders[index + 1] ?? lastCharacter + 1) - 1
        this.edge(state, borders[index] ?? 0, upTo, stateOf(closure(inner, targets[index] ?? [])))
      }
    }
    return end
  }

  private apart(part: RegexNode | undefined): Automaton | undefined {
    if (part === undefined || this.failed) {
      return undefined
    }
    const builder = new Builder(this.budget)
    const start = builder.state()
    const end = builder.node(part, start)
    this.failed ||= builder.failed
    return this.failed ? undefined : builder.automaton(start, end)
  }

  private spend(work: number): void {
    this.budget.work -= work
    if (this.budget.work <= 0) {
      this.failed = true
    }
  }
}

const zero = 48

const isSign = (min: number, max: number | undefined): boolean => min <= 1 && (max === undefined || max === 1)

/** Whether the node can be nothing but the empty string. */
const isEmpty = (node: RegexNode): boolean => {
  let part = node
  while (part._tag === "Repeat") {
    part = part.part
  }
  switch (part._tag) {
    case "Empty":
      return true
    case "Concat":
    case "Union":
    case "Intersection":
      return part.parts.every(isEmpty)
    default:
      return false
  }
}

const complementOf = (ranges: ReadonlyArray<{ readonly from: number; readonly to: number }>) => {
  const found: Array<{ readonly from: number; readonly to: number }> = []
  let next = 0
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    if (from > next) {
      found.push({ from: next, to: from - 1 })
    }
    next = Math.max(next, to + 1)
  }
  if (next <= lastCharacter) {
    found.push({ from: next, to: lastCharacter })
  }
  return found
}

/** Where the characters that some edge tells apart begin, rising from 0. */
const bordersOf = (automaton: Automaton): ReadonlyArray<number> => {
  const borders = new Set([0])
  for (const edges of automaton.edges) {
    for (const { from, to } of edges) {
      borders.add(from)
      if (to < lastCharacter) {
        borders.add(to + 1)
      }
    }
  }
  return [...borders].sort((a, b) => a - b)
}

const indexOf = (borders: ReadonlyArray<number>, border: number): number => {
  let low = 0
  let high = borders.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((borders[middle] ?? 0) < border) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}

/** The states reached by jumps, rising. */
const closure = (automaton: Automaton, from: ReadonlyArray<number>): ReadonlyArray<number> => {
  const states: Array<number> = []
  newRound(automaton)
  for (const state of from) {
    enter(automaton, state, states)
  }
  return states.sort((a, b) => a - b)
}
