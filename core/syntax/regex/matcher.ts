/** Compiles a pattern to a matcher. Matching is linear in the length of the value. */
import type { Turns } from "../../work/turns.ts"
import { complement, intersection } from "./algebra.ts"
import { MAX_CODE_POINT } from "./characterKinds.ts"
import { numbersBetween } from "./interval.ts"
import { layoutInTurns } from "./layout.ts"
import { LazyDfa } from "./lazyDfa.ts"
import { type Budget, type Nfa, NfaBuilder, nfaLimits } from "./nfa.ts"
import type { CharacterRange, RegexNode } from "./tree.ts"

export interface Matcher {
  /** Builds what `matches` needs. It does so itself the first time, but that takes milliseconds for a large pattern. */
  readonly prepare: () => void
  /** Matches the whole value. */
  readonly matches: (value: string) => boolean
}

/** `undefined` if the pattern exceeds the budget. */
export function* matcherInTurns(tree: RegexNode, budget: Budget): Turns<Matcher | undefined> {
  switch (tree._tag) {
    // At the top level `~` and `&` combine results. Inside a pattern they can multiply the states.
    case "Complement": {
      const part = yield* matcherInTurns(tree.part, budget)
      return part && { prepare: part.prepare, matches: (value) => !part.matches(value) }
    }
    case "Intersection": {
      const all: Array<Matcher> = []
      for (const part of tree.parts) {
        const matcher = yield* matcherInTurns(part, budget)
        if (matcher === undefined) return undefined
        all.push(matcher)
      }
      return {
        prepare: () => {
          for (const { prepare } of all) prepare()
        },
        matches: (value) => all.every(({ matches }) => matches(value))
      }
    }
    default: {
      const nfa = nfaOf(tree, budget)
      yield
      const layout = nfa && (yield* layoutInTurns(nfa, budget))
      if (layout === undefined) return undefined
      // Not built at once: the rule checker never runs the matcher.
      let dfa: LazyDfa | undefined
      const built = () => (dfa ??= new LazyDfa(layout, nfaLimits.maxCells))
      return { prepare: built, matches: (value) => built().matches(value) }
    }
  }
}

export const nfaOf = (tree: RegexNode, budget: Budget): Nfa | undefined => {
  const builder = new NfaBuilder(budget)
  const start = builder.addState()
  return builder.finish(start, add(builder, tree, start))
}

// ---- helpers ----

/** Adds the node after `start`, without an edge back to it, and returns the end state. */
const add = (builder: NfaBuilder, node: RegexNode, start: number): number => {
  switch (node._tag) {
    case "Empty":
      return start
    case "None":
      return builder.addState()
    case "AnyString":
      return addAnyString(builder, start)
    case "AnyCharacter":
      return builder.addEdgeTo(start, 0, MAX_CODE_POINT)
    case "Literal":
      return addLiteral(builder, node.text, start)
    case "Class": {
      const end = builder.addState()
      for (const { from, to } of node.negated ? complementOf(node.ranges) : node.ranges) {
        builder.addEdge(start, from, to, end)
      }
      return end
    }
    case "Concat":
      return node.parts.reduce((at, part) => add(builder, part, at), start)
    case "Union": {
      const end = builder.addState()
      const branches = new Map<number, number>()
      for (const part of node.parts) {
        const last =
          part._tag === "Literal" ? addLiteral(builder, part.text, start, branches) : add(builder, part, start)
        builder.addEpsilon(last, end)
      }
      return end
    }
    case "Intersection": {
      const [first, ...rest] = node.parts.map((part) => nfaOf(part, builder.budget))
      return builder.graft(
        rest.reduce((one, other) => one && other && intersection(one, other, builder.budget), first),
        start
      )
    }
    case "Complement": {
      const inner = nfaOf(node.part, builder.budget)
      return builder.graft(inner && complement(inner, builder.budget), start)
    }
    case "Repeat":
      return addRepeat(builder, node, start)
    case "Interval":
      return add(builder, numbersBetween(node.from, node.to, node.digits), start)
  }
}

const addAnyString = (builder: NfaBuilder, start: number): number => {
  const end = builder.addEpsilonTo(start)
  builder.addEdge(end, 0, MAX_CODE_POINT, end)
  return end
}

/** `branches` is a trie: literals of one union share their prefixes, which keeps the active set small. */
const addLiteral = (builder: NfaBuilder, text: string, start: number, branches?: Map<number, number>): number => {
  let at = start
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const branch = at * (MAX_CODE_POINT + 1) + code
    const next = branches?.get(branch) ?? builder.addEdgeTo(at, code, code)
    branches?.set(branch, next)
    at = next
  }
  return at
}

const addRepeat = (builder: NfaBuilder, outer: RegexNode & { readonly _tag: "Repeat" }, start: number): number => {
  let { part, min, max } = outer
  // Collapses a sequence such as a?*+ into one repeat, so that it does not nest.
  while (part._tag === "Repeat" && isSimple(min, max) && isSimple(part.min, part.max)) {
    min *= part.min
    max = max === undefined || part.max === undefined ? undefined : max * part.max
    part = part.part
  }
  if (max === 0 || isEmpty(part)) {
    return start
  }
  let at = start
  for (let count = 0; count < min && !builder.budget.isSpent; count++) {
    at = add(builder, part, at)
  }
  if (max === undefined) {
    if (part._tag === "AnyCharacter") {
      return addAnyString(builder, at)
    }
    const loop = builder.addEpsilonTo(at)
    builder.addEpsilon(add(builder, part, loop), loop)
    return loop
  }
  const end = builder.addState()
  builder.addEpsilon(at, end)
  for (let count = min; count < max && !builder.budget.isSpent; count++) {
    at = add(builder, part, at)
    builder.addEpsilon(at, end)
  }
  return end
}

const isSimple = (min: number, max: number | undefined): boolean => min <= 1 && (max === undefined || max === 1)

/** The node matches only the empty string. */
const isEmpty = (node: RegexNode): boolean => {
  let part = node
  while (part._tag === "Repeat") part = part.part
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

/** The characters outside all ranges. */
const complementOf = (ranges: ReadonlyArray<CharacterRange>): ReadonlyArray<CharacterRange> => {
  const found: Array<CharacterRange> = []
  let next = 0
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    if (from > next) found.push({ from: next, to: from - 1 })
    next = Math.max(next, to + 1)
  }
  if (next <= MAX_CODE_POINT) found.push({ from: next, to: MAX_CODE_POINT })
  return found
}
