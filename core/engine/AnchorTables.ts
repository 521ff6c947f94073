/** Where the anchors are: from a term to the places that are taken for it. */
import { halfIn, setHalfIn } from "./halves.ts"

/** Independent tables, by the top bits of the term: one of them grows in microseconds, where one large table would stop the world. */
const SEGMENT_BITS = 7
export const SEGMENT_SHIFT = 32 - SEGMENT_BITS

/** Places of a bucket. Their tags are bytes of one word: all are looked at together. */
export const BUCKET = 4
const FIRST_BUCKETS = 4
/** In each byte of a word the last bit, and the bits of a tag. */
const LAST_BITS = 0x01010101
const TAG_BITS = 0x7f7f7f7f
/**
 * In each byte of the word of a bucket: terms of this kind whose home it or one before it is are in buckets after it. It
 * is full then. A kind is a quarter of all terms: most have no need to look further even so.
 */
const PASSED = 0x80

/** Words of a bucket: its tags; two filters to a word; two halves of `low` to a word; what the places hold. */
export const WORDS = 9
export const FILTERS = 1
export const HALVES = 3
export const HELD = 5

/**
 * A table is buckets of places. Each term has a home bucket, and goes to the next one that is not full; the places of a
 * bucket fill from the first. A place is a tag (7 bits that go by the term, 0 for a free place), a filter, the half of the
 * term that its home goes by, and what it holds: all that is looked at for a term lies close together. Terms that share
 * the tag and the half are taken for one.
 */
export class AnchorTables {
  /** By the number of the segment. */
  readonly buckets: Array<Int32Array> = []
  /** How many buckets a segment has. */
  readonly sizes = new Int32Array(1 << SEGMENT_BITS)
  bytes = 0
  /** How many places are taken. */
  private readonly counts = new Int32Array(1 << SEGMENT_BITS)
  private hasGrown = false

  constructor() {
    for (let segment = 0; segment < 1 << SEGMENT_BITS; segment++) this.makeTable(segment, FIRST_BUCKETS)
  }

  /**
   * To be called before each change of a rule. All tables fill alike, and a rule may hang on many anchors: at most one
   * table grows for it, the others with the next rules.
   */
  begin(): void {
    this.hasGrown = false
  }

  heldAt(high: number, place: number): number {
    return this.buckets[high >>> SEGMENT_SHIFT]?.[heldOf(place)] ?? 0
  }

  hold(high: number, place: number, held: number): void {
    const table = this.buckets[high >>> SEGMENT_SHIFT] ?? nothing
    table[heldOf(place)] = held
  }

  filterAt(high: number, place: number): number {
    return filterOf(this.buckets[high >>> SEGMENT_SHIFT] ?? nothing, place)
  }

  /** The first place of the term in its segment, and the one after a place; -1 if there is none. */
  first(high: number, low: number): number {
    return this.placeFrom(homeOf(this.sizes[high >>> SEGMENT_SHIFT] ?? 0, halfOf(low)) * BUCKET, high, low)
  }

  next(high: number, low: number, place: number): number {
    return this.placeFrom(after(place, this.places(high >>> SEGMENT_SHIFT)), high, low)
  }

  insert(high: number, low: number, filter: number, held: number): void {
    const number = high >>> SEGMENT_SHIFT
    const count = (this.counts[number] ?? 0) + 1
    this.counts[number] = count
    const size = this.sizes[number] ?? 0
    // One in two, three in eight after that: buckets that are passed by cost time, places that are free memory.
    if (count * 2 > size * BUCKET && (!this.hasGrown || count * 4 > size * BUCKET * 3)) {
      this.resize(number, size + Math.ceil(size / 3))
      this.hasGrown = true
    }
    this.put(number, tagOf(high), halfOf(low), filter, held)
  }

  /** Those behind the free place that would rather be there move up, so that no search ends too early. */
  empty(high: number, emptied: number): void {
    const number = high >>> SEGMENT_SHIFT
    const table = this.buckets[number] ?? nothing
    const size = this.sizes[number] ?? 0
    const places = this.places(number)
    let hole = emptied
    for (let next = after(hole, places); tagAt(table, next) !== 0; next = after(next, places)) {
      const home = homeOf(size, halfAt(table, next)) * BUCKET
      if ((next - home + places) % places >= (next - hole + places) % places) {
        setTag(table, hole, tagAt(table, next))
        setFilter(table, hole, filterOf(table, next))
        setHalf(table, hole, halfAt(table, next))
        table[heldOf(hole)] = table[heldOf(next)] ?? 0
        hole = next
      }
    }
    setTag(table, hole, 0)
    table[tagsOf(hole)] = (table[tagsOf(hole)] ?? 0) & TAG_BITS
    const count = (this.counts[number] ?? 0) - 1
    this.counts[number] = count
    if (size > FIRST_BUCKETS && count * 5 < places) this.resize(number, Math.max(FIRST_BUCKETS, size >> 1))
  }

  private placeFrom(start: number, high: number, low: number): number {
    const number = high >>> SEGMENT_SHIFT
    const table = this.buckets[number] ?? nothing
    const places = this.places(number)
    for (let place = start; tagAt(table, place) !== 0; place = after(place, places)) {
      if (tagAt(table, place) === tagOf(high) && halfAt(table, place) === halfOf(low)) return place
    }
    return -1
  }

  private places(number: number): number {
    return (this.sizes[number] ?? 0) * BUCKET
  }

  private put(number: number, tag: number, half: number, filter: number, held: number): void {
    const table = this.buckets[number] ?? nothing
    const places = this.places(number)
    let place = homeOf(this.sizes[number] ?? 0, half) * BUCKET
    while (tagAt(table, place) !== 0) {
      if (place % BUCKET === BUCKET - 1) table[tagsOf(place)] = (table[tagsOf(place)] ?? 0) | (PASSED << kindOf(tag))
      place = after(place, places)
    }
    setTag(table, place, tag)
    setFilter(table, place, filter)
    setHalf(table, place, half)
    table[heldOf(place)] = held
  }

  private resize(number: number, size: number): void {
    const table = this.buckets[number] ?? nothing
    const places = this.places(number)
    this.bytes -= (this.sizes[number] ?? 0) * WORDS * 4
    this.makeTable(number, size)
    for (let place = 0; place < places; place++) {
      const tag = tagAt(table, place)
      if (tag === 0) continue
      this.put(number, tag, halfAt(table, place), filterOf(table, place), table[heldOf(place)] ?? 0)
    }
  }

  private makeTable(number: number, size: number): void {
    this.bytes += size * WORDS * 4
    this.sizes[number] = size
    this.buckets[number] = new Int32Array(size * WORDS)
  }
}

/** The top bit of each byte that is the tag of the term. */
export const hitsIn = (word: number, high: number): number => {
  const difference = (word & TAG_BITS) ^ Math.imul(tagOf(high), LAST_BITS)
  return ~(difference + TAG_BITS) & ~TAG_BITS
}

/** 1 if the term may be in a bucket after the one with this word, or 0. */
export const isPassed = (word: number, high: number): number => ((word >>> kindOf(tagOf(high))) >>> 7) & 1

/** Not by a mask: tables grow by a third, a power of two would leave more places empty. Of up to 65,536 buckets. */
export const homeOf = (size: number, half: number): number => Math.imul(half, size) >>> 16

export const halfOf = (low: number): number => low >>> 16

/** Of places or buckets, of which there are so many. */
export const after = (one: number, count: number): number => (one + 1 < count ? one + 1 : 0)

// ---- helpers ----

const nothing = new Int32Array(0)

/** Never 0. */
const tagOf = (high: number): number => {
  const bits = (high >>> 14) & 0x7f
  return bits + ((bits - 1) >>> 31)
}

/** As the place of a byte in a word. */
const kindOf = (tag: number): number => (tag & 3) << 3

/** Where in its table the tags of a place are. */
const tagsOf = (place: number): number => (place >> 2) * WORDS

const tagAt = (table: Int32Array, place: number): number => ((table[tagsOf(place)] ?? 0) >>> ((place & 3) << 3)) & 0x7f

const setTag = (table: Int32Array, place: number, tag: number): void => {
  const shift = (place & 3) << 3
  table[tagsOf(place)] = ((table[tagsOf(place)] ?? 0) & ~(0x7f << shift)) | (tag << shift)
}

const filterOf = (table: Int32Array, place: number): number => halfIn(table, tagsOf(place) + FILTERS, place & 3)

const setFilter = (table: Int32Array, place: number, filter: number): void => {
  setHalfIn(table, tagsOf(place) + FILTERS, place & 3, filter)
}

const halfAt = (table: Int32Array, place: number): number => halfIn(table, tagsOf(place) + HALVES, place & 3)

const setHalf = (table: Int32Array, place: number, half: number): void => {
  setHalfIn(table, tagsOf(place) + HALVES, place & 3, half)
}

const heldOf = (place: number): number => tagsOf(place) + HELD + (place & 3)
