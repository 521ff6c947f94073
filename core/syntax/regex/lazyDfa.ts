/** Matches a value with a DFA that is built on demand: its states are sets of positions, its transitions are cached. */
import { CharacterKinds } from "./characterKinds.ts"
import type { Layout } from "./layout.ts"
import { Readers } from "./readers.ts"

/**
 * A cached transition costs one table lookup. A new one costs several passes over the bitset words, one over the links,
 * and one over the labels with more than one character if the readers of the kind are not cached; `nfaLimits` limits all. Each
 * value is read once, and a full cache is cleared. While most transitions are new, caching costs more than it saves:
 * then the NFA is simulated instead.
 */
export class LazyDfa {
  private readonly layout: Layout
  private readonly kinds: CharacterKinds
  private readonly reading: Readers
  private readonly maxCells: number
  /** Transition table: `moves[set * kinds + kind]`, or `UNKNOWN`. */
  private moves: Int32Array
  /** Non-zero words of set `s`, each after its index, from `setAt[s]` up to `setAt[s + 1]`. */
  private sets: Int32Array
  private readonly setAt: Array<number> = []
  private readonly accepts: Array<boolean> = []
  /** Newest set of each hash. After a collision the older set is stored again when it recurs. */
  private readonly byHash = new Map<number, number>()
  /** Bitset of the positions that read a character of the kind. */
  private readonly readers = new Map<number, Int32Array>()
  /** Bitsets of the current transition: source set and target set. */
  private readonly source: Int32Array
  private readonly target: Int32Array
  private startSet = UNKNOWN
  private clears = 0
  /** Grows with each character and shrinks with each new transition. Below 0 the cache is not worth its cost. */
  private credit = MAX_CREDIT

  /** `maxCells` limits the cache, in 32-bit integers. */
  constructor(layout: Layout, maxCells: number) {
    this.layout = layout
    this.kinds = new CharacterKinds(layout.labels.flat())
    this.reading = new Readers(layout)
    this.maxCells = maxCells
    this.source = new Int32Array(layout.words)
    this.target = new Int32Array(layout.words)
    this.moves = new Int32Array(4 * this.kinds.count)
    this.sets = new Int32Array(4 * layout.words)
    this.clear()
  }

  matches(value: string): boolean {
    const { kinds } = this
    const { ascii, count } = kinds
    let set = this.startSet === UNKNOWN ? this.start() : this.startSet
    let moves = this.moves
    for (let at = 0; set > ACCEPTING && at < value.length; at++) {
      let character = value.charCodeAt(at)
      let kind = 0
      if (character < 128) {
        kind = ascii[character] ?? 0
      } else {
        character = value.codePointAt(at) ?? 0
        at += character > 0xffff ? 1 : 0
        kind = kinds.of(character)
      }
      const known = moves[set * count + kind] ?? UNKNOWN
      if (known !== UNKNOWN) {
        set = known
        continue
      }
      if (this.credit < 0) {
        const end = Math.min(at + SIMULATED, value.length)
        at = this.simulate(value, character > 0xffff ? at - 1 : at, end, set) - 1
        set = this.targetSet()
      } else {
        set = this.move(set, kind)
      }
      moves = this.moves
    }
    this.credit = Math.min(this.credit + value.length, MAX_CREDIT)
    return this.accepts[set] === true
  }

  /** Reads the value from `start` up to about `end` without the cache. Returns where it stopped. */
  private simulate(value: string, start: number, end: number, set: number): number {
    const { kinds, source, target } = this
    const { words, sourceAt } = this.layout
    const hasLinks = sourceAt.length > 1
    this.load(set)
    target.fill(0)
    // The words from `low` up to `high` have all bits of the sets.
    let low = 0
    let high = words
    let at = start
    while (at < end && low < high) {
      const character = value.codePointAt(at) ?? 0
      at += character > 0xffff ? 2 : 1
      this.shift(low, high)
      if (hasLinks) this.followLinks()
      const readers = this.readersOf(character < 128 ? (kinds.ascii[character] ?? 0) : kinds.of(character))
      const first = hasLinks ? 0 : low
      const last = hasLinks ? words : Math.min(high + 1, words)
      low = words
      high = 0
      for (let word = first; word < last; word++) {
        const bits = (target[word] ?? 0) & (readers[word] ?? 0)
        target[word] = bits
        source[word] = bits
        if (bits !== 0) {
          low = Math.min(low, word)
          high = word + 1
        }
      }
    }
    return at
  }

  private start(): number {
    this.target.fill(0)
    this.target[0] = 1
    this.startSet = this.targetSet()
    return this.startSet
  }

  /** Computes a transition that is not cached. */
  private move(set: number, kind: number): number {
    const { target } = this
    const { words } = this.layout
    this.credit -= COST_OF_MOVE
    this.load(set)
    this.shift(0, words)
    this.followLinks()
    const readers = this.readersOf(kind)
    for (let word = 0; word < words; word++) {
      target[word] = (target[word] ?? 0) & (readers[word] ?? 0)
    }
    const { clears } = this
    const found = this.targetSet()
    if (clears === this.clears) {
      this.moves[set * this.kinds.count + kind] = found
    }
    return found
  }

  /** Makes a cached set the source set. */
  private load(set: number): void {
    const { source, sets } = this
    source.fill(0)
    const last = this.setAt[set + 1] ?? 0
    for (let at = this.setAt[set] ?? 0; at < last; at += 2) {
      source[sets[at] ?? 0] = sets[at + 1] ?? 0
    }
  }

  /** Makes the next positions of the source set the target set. All bits are in the words from `low` up to `high`. */
  private shift(low: number, high: number): void {
    const { source, target } = this
    const { words, chained } = this.layout
    let carry = 0
    for (let word = low; word < high; word++) {
      const bits = (source[word] ?? 0) & (chained[word] ?? 0)
      target[word] = (bits << 1) | carry
      carry = bits >>> 31
    }
    if (high < words) target[high] = carry
  }

  /** Adds the targets of the links to the target set. */
  private followLinks(): void {
    const { source, target } = this
    const { sourceAt, sourceWord, sourceBits, targetAt, targetWord, targetBits } = this.layout
    for (let link = 0; link + 1 < sourceAt.length; link++) {
      const sourceEnd = sourceAt[link + 1] ?? 0
      let from = sourceAt[link] ?? 0
      while (from < sourceEnd && ((source[sourceWord[from] ?? 0] ?? 0) & (sourceBits[from] ?? 0)) === 0) from++
      if (from < sourceEnd) {
        const targetEnd = targetAt[link + 1] ?? 0
        for (let to = targetAt[link] ?? 0; to < targetEnd; to++) {
          const word = targetWord[to] ?? 0
          target[word] = (target[word] ?? 0) | (targetBits[to] ?? 0)
        }
      }
    }
  }

  private readersOf(kind: number): Int32Array {
    const known = this.readers.get(kind)
    if (known !== undefined) return known
    const { words } = this.layout
    // If the cache is full, the oldest bitset is used again.
    const [oldest] = this.readers.size * words > this.maxCells ? this.readers : []
    if (oldest !== undefined) this.readers.delete(oldest[0])
    const bits = oldest?.[1].fill(0) ?? new Int32Array(words)
    this.reading.add(this.kinds.example(kind), bits)
    this.readers.set(kind, bits)
    return bits
  }

  /** Number of the target set; adds it to the cache if it is new. */
  private targetSet(): number {
    const { target } = this
    const { words, isFinal } = this.layout
    let any = 0
    let hash = 0
    for (let word = 0; word < words; word++) {
      const bits = target[word] ?? 0
      if ((bits & (isFinal[word] ?? 0)) !== 0) return ACCEPTING
      any |= bits
      hash = Math.imul(hash ^ bits, 0x85ebca6b)
      hash ^= hash >>> 15
    }
    if (any === 0) return DEAD
    const known = this.byHash.get(hash)
    return known !== undefined && this.isTarget(known) ? known : this.addTarget(hash)
  }

  private isTarget(set: number): boolean {
    const { target, sets } = this
    let at = this.setAt[set] ?? 0
    for (let word = 0; word < target.length; word++) {
      if (target[word] !== 0) {
        if (sets[at] !== word || sets[at + 1] !== target[word]) return false
        at += 2
      }
    }
    return at === this.setAt[set + 1]
  }

  private addTarget(hash: number): number {
    const { target, setAt, accepts, kinds } = this
    const { words, isEnd } = this.layout
    if ((accepts.length + 1) * kinds.count + (setAt.at(-1) ?? 0) + 2 * words > this.maxCells) {
      this.clear()
    }
    const set = accepts.length
    let at = setAt[set] ?? 0
    this.moves = grown(this.moves, (set + 1) * kinds.count)
    this.sets = grown(this.sets, at + 2 * words)
    const { sets } = this
    let isAccepted = false
    for (let word = 0; word < words; word++) {
      const bits = target[word] ?? 0
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

  /** Clears the cache, except for the three fixed sets. */
  private clear(): void {
    this.moves.fill(UNKNOWN)
    this.setAt.length = 0
    this.setAt.push(0, 0, 0, 0)
    this.accepts.length = 0
    this.accepts.push(false, false, true)
    this.byHash.clear()
    this.startSet = UNKNOWN
    this.clears++
  }
}

// ---- helpers ----

// The fixed sets have the lowest numbers.
const UNKNOWN = 0
/** No rest of the value matches. */
const DEAD = 1
/** Any rest of the value matches. */
const ACCEPTING = 2

/** In cached transitions. */
const MAX_CREDIT = 10_000
const COST_OF_MOVE = 20
/** How many characters are simulated before the cache is tried again. */
const SIMULATED = 256

const grown = (cells: Int32Array, count: number): Int32Array => {
  if (count <= cells.length) return cells
  const larger = new Int32Array(Math.max(count, 2 * cells.length))
  larger.set(cells)
  return larger
}
