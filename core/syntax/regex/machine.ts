/**
 * Runs an automaton over a value. All places it could be in are followed at once, and each such set of places is kept
 * with the moves found for it: a character met before in the same set costs one look into a table.
 */
import { CharacterKinds } from "./characterKinds.ts"
import type { Layout } from "./layout.ts"

/**
 * A character costs one look into the table, or at most, for a move not in it: four passes over the positions, 32 of them
 * at once, one look at each link, and one at each position if no such character was met lately. With the limits of one
 * rule that is 1,300 words, 5,000 links and 10,000 positions. No value is read twice, and a full table is emptied.
 */
export class Machine {
  private readonly layout: Layout
  private readonly kinds: CharacterKinds
  private readonly maxCells: number
  /** `moves[set * kinds + kind]`; `unknown` where the set has not met that kind yet. */
  private moves: Int32Array
  /** Of set `s` the words that are not 0, each with its index before it, from `setAt[s]` up to `setAt[s + 1]`. */
  private sets: Int32Array
  private readonly setAt: Array<number> = []
  private readonly accepts: Array<boolean> = []
  /** The newest set of each hash. One that another hides is kept once more when it is met again. */
  private readonly byHash = new Map<number, number>()
  /** The positions that read a character of the kind. */
  private readonly readers = new Map<number, Int32Array>()
  /** The set that is left, and the one that is being made: one bit for each position. */
  private readonly left: Int32Array
  private readonly made: Int32Array
  private first = unknown
  private drops = 0

  /** `maxCells` bounds the memory, in numbers of four bytes. */
  constructor(layout: Layout, maxCells: number) {
    this.layout = layout
    this.kinds = new CharacterKinds(layout.labels.flat())
    this.maxCells = maxCells
    this.left = new Int32Array(layout.words)
    this.made = new Int32Array(layout.words)
    this.moves = new Int32Array(4 * this.kinds.count)
    this.sets = new Int32Array(4 * layout.words)
    this.forget()
  }

  fits(value: string): boolean {
    const { kinds } = this
    const { ascii, count } = kinds
    let set = this.first === unknown ? this.begin() : this.first
    let moves = this.moves
    for (let at = 0; set > sure && at < value.length; at++) {
      let character = value.charCodeAt(at)
      let kind = 0
      if (character < 128) {
        kind = ascii[character] ?? 0
      } else {
        character = value.codePointAt(at) ?? 0
        at += character > 0xffff ? 1 : 0
        kind = kinds.of(character)
      }
      const known = moves[set * count + kind] ?? unknown
      if (known === unknown) {
        set = this.move(set, kind)
        moves = this.moves
      } else {
        set = known
      }
    }
    return this.accepts[set] === true
  }

  private begin(): number {
    this.made.fill(0)
    this.made[0] = 1
    this.first = this.numberOfMade()
    return this.first
  }

  /** Finds a move that is not in the table yet. */
  private move(set: number, kind: number): number {
    const { left, made, sets } = this
    const { words, chained } = this.layout
    left.fill(0)
    const last = this.setAt[set + 1] ?? 0
    for (let at = this.setAt[set] ?? 0; at < last; at += 2) {
      left[sets[at] ?? 0] = sets[at + 1] ?? 0
    }
    let carry = 0
    for (let word = 0; word < words; word++) {
      const bits = (left[word] ?? 0) & (chained[word] ?? 0)
      made[word] = (bits << 1) | carry
      carry = bits >>> 31
    }
    this.followLinks()
    const readers = this.readersOf(kind)
    for (let word = 0; word < words; word++) {
      made[word] = (made[word] ?? 0) & (readers[word] ?? 0)
    }
    const { drops } = this
    const found = this.numberOfMade()
    if (drops === this.drops) {
      this.moves[set * this.kinds.count + kind] = found
    }
    return found
  }

  /** Adds to what is made the links that do not go to the next position. */
  private followLinks(): void {
    const { left, made } = this
    const { sourceAt, sourceWord, sourceBits, targetAt, targetWord, targetBits } = this.layout
    for (let link = 0; link + 1 < sourceAt.length; link++) {
      const lastSource = sourceAt[link + 1] ?? 0
      let source = sourceAt[link] ?? 0
      while (source < lastSource && ((left[sourceWord[source] ?? 0] ?? 0) & (sourceBits[source] ?? 0)) === 0) {
        source++
      }
      if (source < lastSource) {
        const lastTarget = targetAt[link + 1] ?? 0
        for (let target = targetAt[link] ?? 0; target < lastTarget; target++) {
          const word = targetWord[target] ?? 0
          made[word] = (made[word] ?? 0) | (targetBits[target] ?? 0)
        }
      }
    }
  }

  private readersOf(kind: number): Int32Array {
    const known = this.readers.get(kind)
    if (known !== undefined) {
      return known
    }
    const { words, labels, labelOf } = this.layout
    const character = this.kinds.example(kind)
    const reads = labels.map((ranges) => ranges.some(({ from, to }) => from <= character && character <= to))
    const bits = new Int32Array(words)
    for (let position = 0; position < labelOf.length; position++) {
      if (reads[labelOf[position] ?? 0] === true) {
        const word = position >>> 5
        bits[word] = (bits[word] ?? 0) | (1 << position)
      }
    }
    if (this.readers.size * words > this.maxCells) {
      this.readers.clear()
    }
    this.readers.set(kind, bits)
    return bits
  }

  private numberOfMade(): number {
    const { made } = this
    const { words, isSure } = this.layout
    let any = 0
    let hash = 0
    for (let word = 0; word < words; word++) {
      const bits = made[word] ?? 0
      if ((bits & (isSure[word] ?? 0)) !== 0) {
        return sure
      }
      any |= bits
      hash = Math.imul(hash ^ bits, 0x85ebca6b)
      hash ^= hash >>> 15
    }
    if (any === 0) {
      return dead
    }
    const known = this.byHash.get(hash)
    return known !== undefined && this.isMade(known) ? known : this.keep(hash)
  }

  private isMade(set: number): boolean {
    const { made, sets } = this
    let at = this.setAt[set] ?? 0
    for (let word = 0; word < made.length; word++) {
      if (made[word] !== 0) {
        if (sets[at] !== word || sets[at + 1] !== made[word]) {
          return false
        }
        at += 2
      }
    }
    return at === this.setAt[set + 1]
  }

  private keep(hash: number): number {
    const { made, setAt, accepts, kinds } = this
    const { words, isEnd } = this.layout
    if ((accepts.length + 1) * kinds.count + (setAt.at(-1) ?? 0) + 2 * words > this.maxCells) {
      this.forget()
    }
    const set = accepts.length
    let at = setAt[set] ?? 0
    this.moves = withRoom(this.moves, (set + 1) * kinds.count)
    this.sets = withRoom(this.sets, at + 2 * words)
    const { sets } = this
    let isAccepted = false
    for (let word = 0; word < words; word++) {
      const bits = made[word] ?? 0
      if (bits !== 0) {
        sets[at++] = word
        sets[at++] = bits
        isAccepted ||= (bits & (isEnd[word] ?? 0)) !== 0
      }
    }
    setAt.push(at)
    accepts.push(isAccepted)
    this.byHash.set(hash, set)
    return set
  }

  /** Empties the table of all but the sets that have no moves. */
  private forget(): void {
    this.moves.fill(unknown)
    this.setAt.length = 0
    this.setAt.push(0, 0, 0, 0)
    this.accepts.length = 0
    this.accepts.push(false, false, true)
    this.byHash.clear()
    this.first = unknown
    this.drops++
  }
}

// ---- helpers ----

/** Sets are numbered; these come before all others. */
const unknown = 0
/** Nothing that follows can fit. */
const dead = 1
/** Whatever follows fits. */
const sure = 2

const withRoom = (cells: Int32Array, count: number): Int32Array => {
  if (count <= cells.length) {
    return cells
  }
  const larger = new Int32Array(Math.max(count, 2 * cells.length))
  larger.set(cells)
  return larger
}
