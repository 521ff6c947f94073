/** Extracts the literals that every match of a pattern contains, for a prefilter. */
import type { RegexNode } from "./tree.ts"

export interface Literals {
  readonly start: string
  readonly inner: ReadonlyArray<string>
}

/** A missing literal only costs time, a wrong one loses matches: uncertain literals are left out. */
export const literalsOf = (tree: RegexNode): Literals => {
  const { start, end, inner } = required(tree)
  const all = [...new Set([...inner, end])].sort((a, b) => b.length - a.length)
  return {
    start,
    inner: all.filter(
      (text, index) => text !== "" && !start.includes(text) && !all.slice(0, index).some((one) => one.includes(text))
    )
  }
}

// ---- helpers ----

/** Enough for a prefilter. */
const MAX_INNER = 100

const some = (texts: ReadonlyArray<string>): ReadonlyArray<string> => texts.slice(0, MAX_INNER)

interface Requirement {
  /** `start` is the whole value. */
  readonly isWhole: boolean
  readonly start: string
  readonly end: string
  readonly inner: ReadonlyArray<string>
}

const nothing: Requirement = { isWhole: false, start: "", end: "", inner: [] }

const whole = (text: string): Requirement => ({ isWhole: true, start: text, end: text, inner: [] })

const required = (node: RegexNode): Requirement => {
  switch (node._tag) {
    case "Empty":
      return whole("")
    case "Literal":
      return whole(node.text)
    case "Class": {
      const [only, ...others] = node.ranges
      return only !== undefined && others.length === 0 && !node.negated && only.from === only.to
        ? whole(String.fromCodePoint(only.from))
        : nothing
    }
    case "Concat":
      return node.parts.map(required).reduce(joined, whole(""))
    case "Union":
      return node.parts.map(required).reduce(common)
    case "Intersection":
      return node.parts.map(required).reduce(both)
    case "Repeat":
      return repeated(required(node.part), node.min, node.max)
    default:
      return nothing
  }
}

const joined = (one: Requirement, other: Requirement): Requirement => ({
  isWhole: one.isWhole && other.isWhole,
  start: one.isWhole ? one.start + other.start : one.start,
  end: other.isWhole ? one.end + other.end : other.end,
  inner: some([...one.inner, ...other.inner, ...(one.isWhole || other.isWhole ? [] : [one.end + other.start])])
})

/** What both alternatives require. */
const common = (one: Requirement, other: Requirement): Requirement => {
  if (one.isWhole && other.isWhole && one.start === other.start) {
    return one
  }
  return { isWhole: false, start: commonStart(one.start, other.start), end: commonEnd(one.end, other.end), inner: [] }
}

const both = (one: Requirement, other: Requirement): Requirement => {
  if (one.isWhole || other.isWhole) {
    return one.isWhole ? one : other
  }
  return {
    isWhole: false,
    start: one.start.length > other.start.length ? one.start : other.start,
    end: one.end.length > other.end.length ? one.end : other.end,
    inner: some([...one.inner, ...other.inner, one.start, other.start, one.end, other.end])
  }
}

const repeated = (part: Requirement, min: number, max: number | undefined): Requirement => {
  if (min === 0) {
    return nothing
  }
  if (!part.isWhole) {
    return part
  }
  const times = Math.min(min, MAX_REPEATS)
  const text = part.start.repeat(times)
  return min === max && times === min ? whole(text) : { isWhole: false, start: text, end: text, inner: [] }
}

/** Longer repeats make the prefilter no more selective. */
const MAX_REPEATS = 16

const commonStart = (one: string, other: string): string => {
  const characters = [...one]
  const others = [...other]
  const end = characters.findIndex((character, index) => character !== others[index])
  return end === -1 ? one : characters.slice(0, end).join("")
}

const commonEnd = (one: string, other: string): string => reversed(commonStart(reversed(one), reversed(other)))

const reversed = (text: string): string => [...text].reverse().join("")
