/** Alphabet compression: characters that lie in the same ranges of a pattern are one kind. */
import { addTo } from "./lists.ts"
import type { CharacterRange } from "./tree.ts"

export const MAX_CODE_POINT = 0x10ffff

export class CharacterKinds {
  readonly count: number
  /** The kind of each ASCII character. */
  readonly ascii: Uint16Array
  /** Start of each run of one kind, ascending from 0. `kinds` has the kind of each run. */
  private readonly boundaries: Int32Array
  private readonly kinds: Uint16Array
  private readonly examples: Int32Array

  constructor(ranges: ReadonlyArray<CharacterRange>) {
    this.boundaries = boundariesOf(ranges)
    const marks = marksOf(this.boundaries, ranges)
    const kinds = new Map<number, number>()
    this.kinds = Uint16Array.from(marks, (mark) => {
      const kind = kinds.get(mark) ?? kinds.size
      kinds.set(mark, kind)
      return kind
    })
    this.count = kinds.size
    this.examples = new Int32Array(kinds.size)
    this.boundaries.forEach((boundary, index) => {
      this.examples[this.kinds[index] ?? 0] = boundary
    })
    this.ascii = Uint16Array.from({ length: 128 }, (_, character) => this.of(character))
  }

  of(character: number): number {
    return this.kinds[indexFrom(this.boundaries, character + 1) - 1] ?? 0
  }

  /** Any one character of the kind. */
  example(kind: number): number {
    return this.examples[kind] ?? 0
  }
}

/** For each boundary a number that is the same for those inside the same ranges. */
const marksOf = (boundaries: Int32Array, ranges: ReadonlyArray<CharacterRange>): Int32Array => {
  const single = new Set<number>()
  const changes = new Map<number, Array<number>>()
  ranges.forEach(({ from, to }, range) => {
    if (from === to) {
      single.add(from)
    } else {
      addTo(changes, from, range)
      addTo(changes, to + 1, range)
    }
  })
  const inside = new NumberedSet(ranges.length)
  return boundaries.map((boundary) => {
    for (const range of changes.get(boundary) ?? []) inside.toggle(range)
    // No other boundary is inside its range.
    return single.has(boundary) ? -1 - boundary : inside.number
  })
}

/** A set of small numbers that has a number itself: the same whenever it has the same members. */
class NumberedSet {
  /**
   * A binary tree. Each level has the numbers of its nodes, the first level one for each member, the last level one for
   * all. A node gets the number that a node of its level with the same two children got before.
   */
  private readonly levels: ReadonlyArray<Uint32Array>
  private readonly known: ReadonlyArray<Map<number, number>>

  constructor(size: number) {
    const depth = Math.ceil(Math.log2(Math.max(1, size)))
    this.levels = Array.from({ length: depth + 1 }, (_, level) => new Uint32Array(2 ** (depth - level)))
    this.known = this.levels.map(() => new Map([[0, 0]]))
  }

  get number(): number {
    return this.levels.at(-1)?.[0] ?? 0
  }

  toggle(member: number): void {
    let node = member
    let number = 1 - (this.levels[0]?.[node] ?? 0)
    this.levels.forEach((nodes, level) => {
      nodes[node] = number
      const known = this.known[level]
      const children = (nodes[node & ~1] ?? 0) * 2 ** 26 + (nodes[node | 1] ?? 0)
      number = known?.get(children) ?? known?.size ?? 0
      known?.set(children, number)
      node >>>= 1
    })
  }
}

/** First characters of the runs that no range splits, ascending from 0. */
export const boundariesOf = (ranges: Iterable<CharacterRange>): Int32Array => {
  const all = [0]
  for (const { from, to } of ranges) {
    all.push(from)
    if (to < MAX_CODE_POINT) {
      all.push(to + 1)
    }
  }
  const sorted = Int32Array.from(all).sort()
  return sorted.filter((boundary, index) => index === 0 || boundary !== sorted[index - 1])
}

/** Binary search: index of the first boundary at or after the character. */
export const indexFrom = (boundaries: ArrayLike<number>, character: number): number => {
  let low = 0
  let high = boundaries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((boundaries[middle] ?? 0) < character) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}
