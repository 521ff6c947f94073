/** Reads off a pattern what every value that fits must hold, so that most values need not be tried. */
import type { RegexNode } from "./regexTree.ts"

export interface Literals {
  readonly start: string
  readonly inner: ReadonlyArray<string>
}

/** What is left out costs time, what is wrong loses matches: where nothing is sure, nothing is said. */
export const literalsOf = (tree: RegexNode): Literals => {
  const { start, end, inner } = known(tree)
  const all = [...new Set([...inner, end])].sort((a, b) => b.length - a.length)
  return {
    start,
    inner: all.filter(
      (text, index) => text !== "" && !start.includes(text) && !all.slice(0, index).some((one) => one.includes(text))
    )
  }
}

// ---- helpers ----

interface Known {
  /** The start is the whole value. */
  readonly isWhole: boolean
  readonly start: string
  readonly end: string
  readonly inner: ReadonlyArray<string>
}

const nothingKnown: Known = { isWhole: false, start: "", end: "", inner: [] }

const whole = (text: string): Known => ({ isWhole: true, start: text, end: text, inner: [] })

const known = (node: RegexNode): Known => {
  switch (node._tag) {
    case "Empty":
      return whole("")
    case "Literal":
      return whole(node.text)
    case "Class": {
      const [only, ...others] = node.ranges
      return only !== undefined && others.length === 0 && !node.negated && only.from === only.to
        ? whole(String.fromCodePoint(only.from))
        : nothingKnown
    }
    case "Concat":
      return node.parts.map(known).reduce(joined, whole(""))
    case "Union":
      return node.parts.map(known).reduce(common)
    case "Intersection":
      return node.parts.map(known).reduce(both)
    case "Repeat":
      return repeated(known(node.part), node.min, node.max)
    default:
      return nothingKnown
  }
}

const joined = (one: Known, other: Known): Known => ({
  isWhole: one.isWhole && other.isWhole,
  start: one.isWhole ? one.start + other.start : one.start,
  end: other.isWhole ? one.end + other.end : other.end,
  inner: [...one.inner, ...other.inner, ...(one.isWhole || other.isWhole ? [] : [one.end + other.start])]
})

/** What holds whichever of the two fits. */
const common = (one: Known, other: Known): Known => {
  if (one.isWhole && other.isWhole && one.start === other.start) {
    return one
  }
  return { isWhole: false, start: commonStart(one.start, other.start), end: commonEnd(one.end, other.end), inner: [] }
}

const both = (one: Known, other: Known): Known => {
  if (one.isWhole || other.isWhole) {
    return one.isWhole ? one : other
  }
  return {
    isWhole: false,
    start: one.start.length > other.start.length ? one.start : other.start,
    end: one.end.length > other.end.length ? one.end : other.end,
    inner: [...one.inner, ...other.inner, one.start, other.start, one.end, other.end]
  }
}

const repeated = (part: Known, min: number, max: number | undefined): Known => {
  if (min === 0) {
    return nothingKnown
  }
  if (!part.isWhole) {
    return part
  }
  const times = Math.min(min, maxTimes)
  const text = part.start.repeat(times)
  return min === max && times === min ? whole(text) : { isWhole: false, start: text, end: text, inner: [] }
}

/** A long row of the same is no rarer than a short one. */
const maxTimes = 16

const commonStart = (one: string, other: string): string => {
  const characters = [...one]
  const others = [...other]
  const end = characters.findIndex((character, index) => character !== others[index])
  return end === -1 ? one : characters.slice(0, end).join("")
}

const commonEnd = (one: string, other: string): string => reversed(commonStart(reversed(one), reversed(other)))

const reversed = (text: string): string => [...text].reverse().join("")
