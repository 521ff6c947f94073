/** Sorts all characters into kinds: two of a kind lie in the same ranges of a pattern, so that it cannot tell them apart. */
import type { CharacterRange } from "./regexTree.ts"

export const lastCharacter = 0x10ffff

export class CharacterKinds {
  readonly count: number
  /** The kind of each ASCII character. */
  readonly ascii: Uint16Array
  /** Where a stretch of one kind begins, rising from 0, and its kind. */
  private readonly borders: Int32Array
  private readonly kinds: Uint16Array
  private readonly examples: Int32Array

  constructor(ranges: ReadonlyArray<CharacterRange>) {
    const distinct = new Map(ranges.map((range) => [range.from * (lastCharacter + 1) + range.to, range]))
    const borders = bordersOf([...distinct.values()])
    const marks = borders.map(() => 0)
    let nextMark = 1
    for (const { from, to } of distinct.values()) {
      // What had one mark and lies in the range now has another than what lies outside.
      const split = new Map<number, number>()
      for (let index = indexOf(borders, from); index < borders.length && (borders[index] ?? 0) <= to; index++) {
        const old = marks[index] ?? 0
        const mark = split.get(old) ?? nextMark++
        split.set(old, mark)
        marks[index] = mark
      }
    }
    const names = new Map([...new Set(marks)].map((mark, kind) => [mark, kind]))
    this.count = names.size
    this.borders = Int32Array.from(borders)
    this.kinds = Uint16Array.from(marks, (mark) => names.get(mark) ?? 0)
    this.examples = new Int32Array(names.size)
    borders.forEach((border, index) => {
      this.examples[this.kinds[index] ?? 0] = border
    })
    this.ascii = Uint16Array.from({ length: 128 }, (_, character) => this.of(character))
  }

  of(character: number): number {
    return this.kinds[indexOf(this.borders, character + 1) - 1] ?? 0
  }

  /** One character of the kind. */
  example(kind: number): number {
    return this.examples[kind] ?? 0
  }
}

/** Where the characters that some range tells apart begin, rising from 0. */
export const bordersOf = (ranges: Iterable<CharacterRange>): ReadonlyArray<number> => {
  const borders = new Set([0])
  for (const { from, to } of ranges) {
    borders.add(from)
    if (to < lastCharacter) {
      borders.add(to + 1)
    }
  }
  return [...borders].sort((a, b) => a - b)
}

/** The first place whose border is not below the character. */
export const indexOf = (borders: ArrayLike<number>, character: number): number => {
  let low = 0
  let high = borders.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((borders[middle] ?? 0) < character) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}
