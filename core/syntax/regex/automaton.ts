/** Makes automata of a pattern in Lucene's dialect, so that it can be run over a value in time linear in both. */
import { complement, intersection } from "./algebra.ts"
import { lastCharacter } from "./characterKinds.ts"
import { type Automaton, automatonLimits, type Budget, Draft } from "./draft.ts"
import { numbersBetween } from "./interval.ts"
import { layoutOf } from "./layout.ts"
import { Machine } from "./machine.ts"
import type { CharacterRange, RegexNode } from "./regexTree.ts"

/** Whether a whole value fits. */
export type Matcher = (value: string) => boolean

/** `undefined` when the budget does not suffice. */
export const matcherOf = (tree: RegexNode, budget: Budget): Matcher | undefined => {
  switch (tree._tag) {
    // A `~` or `&` around all the rest turns or joins answers, where inside a pattern it can multiply states.
    case "Complement": {
      const fits = matcherOf(tree.part, budget)
      return fits && ((value) => !fits(value))
    }
    case "Intersection": {
      const all = tree.parts.map((part) => matcherOf(part, budget))
      return all.every((fits) => fits !== undefined) ? (value) => all.every((fits) => fits(value)) : undefined
    }
    default: {
      const automaton = automatonOf(tree, budget)
      const layout = automaton && layoutOf(automaton, budget)
      if (layout === undefined) {
        return undefined
      }
      // Made with the first value: who checks a rule only asks whether it can be made.
      let machine: Machine | undefined
      return (value) => {
        machine ??= new Machine(layout, automatonLimits.maxCells)
        return machine.fits(value)
      }
    }
  }
}

export const automatonOf = (tree: RegexNode, budget: Budget): Automaton | undefined => {
  const draft = new Draft(budget)
  const start = draft.state()
  return draft.finish(start, add(draft, tree, start))
}

// ---- helpers ----

/** Leads from `start` through the node, never back to it; gives the state where it ends. */
const add = (draft: Draft, node: RegexNode, start: number): number => {
  switch (node._tag) {
    case "Empty":
      return start
    case "None":
      return draft.state()
    case "AnyString":
      return addAnyString(draft, start)
    case "AnyCharacter":
      return draft.step(start, 0, lastCharacter)
    case "Literal":
      return addLiteral(draft, node.text, start, new Map())
    case "Class": {
      const end = draft.state()
      for (const { from, to } of node.negated ? others(node.ranges) : node.ranges) {
        draft.edge(start, from, to, end)
      }
      return end
    }
    case "Concat":
      return node.parts.reduce((at, part) => add(draft, part, at), start)
    case "Union": {
      const end = draft.state()
      const branches = new Map<number, number>()
      for (const part of node.parts) {
        const last = part._tag === "Literal" ? addLiteral(draft, part.text, start, branches) : add(draft, part, start)
        draft.jump(last, end)
      }
      return end
    }
    case "Intersection": {
      const [first, ...rest] = node.parts.map((part) => automatonOf(part, draft.budget))
      return draft.graft(
        rest.reduce((one, other) => one && other && intersection(one, other, draft.budget), first),
        start
      )
    }
    case "Complement": {
      const inner = automatonOf(node.part, draft.budget)
      return draft.graft(inner && complement(inner, draft.budget), start)
    }
    case "Repeat":
      return addRepeat(draft, node, start)
    case "Interval":
      return add(draft, numbersBetween(node.from, node.to, node.digits), start)
  }
}

const addAnyString = (draft: Draft, start: number): number => {
  const end = draft.jumpTo(start)
  draft.edge(end, 0, lastCharacter, end)
  return end
}

/** Words of one union share their beginnings by `branches`, so that a long list of them is followed in few places. */
const addLiteral = (draft: Draft, text: string, start: number, branches: Map<number, number>): number => {
  let at = start
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const branch = at * (lastCharacter + 1) + code
    const next = branches.get(branch) ?? draft.step(at, code, code)
    branches.set(branch, next)
    at = next
  }
  return at
}

const addRepeat = (draft: Draft, outer: RegexNode & { readonly _tag: "Repeat" }, start: number): number => {
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
  for (let count = 0; count < min && !draft.budget.isSpent; count++) {
    at = add(draft, part, at)
  }
  if (max === undefined) {
    if (part._tag === "AnyCharacter") {
      return addAnyString(draft, at)
    }
    const loop = draft.jumpTo(at)
    draft.jump(add(draft, part, loop), loop)
    return loop
  }
  const end = draft.state()
  draft.jump(at, end)
  for (let count = min; count < max && !draft.budget.isSpent; count++) {
    at = add(draft, part, at)
    draft.jump(at, end)
  }
  return end
}

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

/** All characters that are in none of the ranges. */
const others = (ranges: ReadonlyArray<CharacterRange>): ReadonlyArray<CharacterRange> => {
  const found: Array<CharacterRange> = []
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
