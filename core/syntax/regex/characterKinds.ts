/** Alphabet compression: characters that lie in the same ranges of a pattern are one kind. */
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
    const distinct = new Map(ranges.map((range) => [range.from * (MAX_CODE_POINT + 1) + range.to, range]))
    const boundaries = boundariesOf([...distinct.values()])
    const marks = boundaries.map(() => 0)
    let nextMark = 1
    for (const { from, to } of distinct.values()) {
      // Splits each earlier mark into the part inside the range and the part outside.
      const split = new Map<number, number>()
      for (
        let index = indexFrom(boundaries, from);
        index < boundaries.length && (boundaries[index] ?? 0) <= to;
        index++
      ) {
        const old = marks[index] ?? 0
        const mark = split.get(old) ?? nextMark++
        split.set(old, mark)
        marks[index] = mark
      }
    }
    const kinds = new Map([...new Set(marks)].map((mark, kind) => [mark, kind]))
    this.count = kinds.size
    this.boundaries = Int32Array.from(boundaries)
    this.kinds = Uint16Array.from(marks, (mark) => kinds.get(mark) ?? 0)
    this.examples = new Int32Array(kinds.size)
    boundaries.forEach((boundary, index) => {
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

/** First characters of the runs that no range splits, ascending from 0. */
export const boundariesOf = (ranges: Iterable<CharacterRange>): ReadonlyArray<number> => {
  const boundaries = new Set([0])
  for (const { from, to } of ranges) {
    boundaries.add(from)
    if (to < MAX_CODE_POINT) {
      boundaries.add(to + 1)
    }
  }
  return [...boundaries].sort((a, b) => a - b)
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
