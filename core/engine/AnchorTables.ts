/** Where the anchors are: from a term to the places that are taken for it. */
import { halfIn, setHalfIn } from "./halves.ts"

/** Independent tables, by the top bits of the term: one of them grows in microseconds, where one large table would stop the world. */
const SEGMENT_BITS = 7
export const SEGMENT_SHIFT = 32 - SEGMENT_BITS

/**
 * Words that each table has room for, as powers of two: few, then so many that some millions of rules fit. All tables lie
 * in one array, as an array of arrays takes twice as long to read from. Room costs no memory until it is used, as the
 * system gives memory to the pages that are written; but moving to a larger one stops the world for some milliseconds.
 */
const FIRST_ROOM = 10
const LARGE_ROOM = 18
const LARGEST_ROOM = 22
const PAGE = 4_096

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
 *
 * A bucket is known by its first word in `words`, a place by four times that and its number in the bucket. What is there
 * may be another after each insertion or removal.
 */
export class AnchorTables {
  words: Int32Array
  /** The number of a table is the bits of a bucket above these. */
  roomBits: number
  /** How many buckets a table has. */
  readonly sizes = new Int32Array(1 << SEGMENT_BITS).fill(FIRST_BUCKETS)
  /** How many places are taken. */
  private readonly counts = new Int32Array(1 << SEGMENT_BITS)
  /** How many buckets a table has had. */
  private readonly reached = new Int32Array(1 << SEGMENT_BITS).fill(FIRST_BUCKETS)
  private readonly leastRoom: number
  /** The table that is made anew. */
  private old = new Int32Array(1_024)
  private hasGrown = false

  /** One that holds many has its room from the start. */
  constructor(holdsMany: boolean) {
    this.leastRoom = holdsMany ? LARGE_ROOM : FIRST_ROOM
    this.roomBits = this.leastRoom
    this.words = new Int32Array(1 << (SEGMENT_BITS + this.roomBits))
  }

  /** All of the first room, and of a larger one the pages that were ever written. */
  get bytes(): number {
    if (this.roomBits === FIRST_ROOM) return this.words.byteLength
    return this.reached.reduce((sum, size) => sum + Math.ceil((size * WORDS * 4) / PAGE) * PAGE, 0)
  }

  /** The rest of the room. */
  get reserved(): number {
    return this.words.byteLength - this.bytes
  }

  /**
   * To be called before each change of a rule. All tables fill alike, and a rule may hang on many anchors: at most one
   * table grows for it, the others with the next rules.
   */
  begin(): void {
    this.hasGrown = false
  }

  heldAt(place: number): number {
    return this.words[heldOf(place)] ?? 0
  }

  hold(place: number, held: number): void {
    this.words[heldOf(place)] = held
  }

  filterAt(place: number): number {
    return filterOf(this.words, place)
  }

  /** The first place of the term, and the one after a place; -1 if there is none. */
  first(high: number, low: number): number {
    return this.placeFrom(this.home(high >>> SEGMENT_SHIFT, halfOf(low)), high, low)
  }

  next(high: number, low: number, place: number): number {
    return this.placeFrom(this.after(place), high, low)
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
    const { words } = this
    const size = this.sizes[number] ?? 0
    let hole = emptied
    for (let next = this.after(hole); tagAt(words, next) !== 0; next = this.after(next)) {
      const home = this.home(number, halfAt(words, next))
      if (this.distance(home, next) >= this.distance(hole, next)) {
        setTag(words, hole, tagAt(words, next))
        setFilter(words, hole, filterOf(words, next))
        setHalf(words, hole, halfAt(words, next))
        words[heldOf(hole)] = words[heldOf(next)] ?? 0
        hole = next
      }
    }
    setTag(words, hole, 0)
    words[bucketOf(hole)] = (words[bucketOf(hole)] ?? 0) & TAG_BITS
    const count = (this.counts[number] ?? 0) - 1
    this.counts[number] = count
    if (size > FIRST_BUCKETS && count * 5 < size * BUCKET) this.shrink(number, Math.max(FIRST_BUCKETS, size >> 1))
  }

  private placeFrom(start: number, high: number, low: number): number {
    const { words } = this
    for (let place = start; tagAt(words, place) !== 0; place = this.after(place)) {
      if (tagAt(words, place) === tagOf(high) && halfAt(words, place) === halfOf(low)) return place
    }
    return -1
  }

  private home(number: number, half: number): number {
    return placeIn((number << this.roomBits) + homeOf(this.sizes[number] ?? 0, half) * WORDS)
  }

  /** The next place of the same table. */
  private after(place: number): number {
    if (place % BUCKET < BUCKET - 1) return place + 1
    const bucket = bucketOf(place)
    return placeIn(after(bucket, this.roomBits, this.sizes[bucket >>> this.roomBits] ?? 0))
  }

  /** How many places one is after another of the same table. */
  private distance(one: number, other: number): number {
    const places = (this.sizes[bucketOf(one) >>> this.roomBits] ?? 0) * BUCKET
    const buckets = (bucketOf(other) - bucketOf(one)) / WORDS
    return (buckets * BUCKET + (other % BUCKET) - (one % BUCKET) + places) % places
  }

  private put(number: number, tag: number, half: number, filter: number, held: number): void {
    const { words } = this
    let place = this.home(number, half)
    while (tagAt(words, place) !== 0) {
      if (place % BUCKET === BUCKET - 1) {
        words[bucketOf(place)] = (words[bucketOf(place)] ?? 0) | (PASSED << kindOf(tag))
      }
      place = this.after(place)
    }
    setTag(words, place, tag)
    setFilter(words, place, filter)
    setHalf(words, place, half)
    words[heldOf(place)] = held
  }

  private resize(number: number, size: number): void {
    if (size * WORDS > 1 << this.roomBits) this.move(this.roomBits === FIRST_ROOM ? LARGE_ROOM : LARGEST_ROOM)
    const { words } = this
    const start = number << this.roomBits
    const length = (this.sizes[number] ?? 0) * WORDS
    // Not a new one each time: the garbage would be collected while events wait.
    if (this.old.length < length) this.old = new Int32Array(2 * length)
    const { old } = this
    old.set(words.subarray(start, start + length))
    words.fill(0, start, start + length)
    this.sizes[number] = size
    this.reached[number] = Math.max(this.reached[number] ?? 0, size)
    for (let bucket = 0; bucket < length; bucket += WORDS) {
      for (let place = placeIn(bucket); place < placeIn(bucket) + BUCKET; place++) {
        const tag = tagAt(old, place)
        if (tag !== 0) this.put(number, tag, halfAt(old, place), filterOf(old, place), old[heldOf(place)] ?? 0)
      }
    }
  }

  /** What little is left goes back to where it began, and the memory to the system. */
  private shrink(number: number, size: number): void {
    this.resize(number, size)
    const { leastRoom } = this
    const isLarge = this.roomBits > leastRoom || 16 * (this.reached[number] ?? 0) * WORDS > 1 << LARGE_ROOM
    if (isLarge && this.sizes.every((one) => 4 * one * WORDS <= 1 << FIRST_ROOM)) this.move(leastRoom)
  }

  private move(roomBits: number): void {
    const words = new Int32Array(1 << (SEGMENT_BITS + roomBits))
    for (const [number, size] of this.sizes.entries()) {
      const start = number << this.roomBits
      words.set(this.words.subarray(start, start + size * WORDS), number << roomBits)
    }
    this.words = words
    this.roomBits = roomBits
    this.reached.set(this.sizes)
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

/** The bucket after one of a table of so many. */
export const after = (bucket: number, roomBits: number, size: number): number => {
  const start = bucket & (-1 << roomBits)
  return bucket + WORDS < start + size * WORDS ? bucket + WORDS : start
}

// ---- helpers ----

/** Never 0. */
const tagOf = (high: number): number => {
  const bits = (high >>> 14) & 0x7f
  return bits + ((bits - 1) >>> 31)
}

/** As the place of a byte in a word. */
const kindOf = (tag: number): number => (tag & 3) << 3

/** Where its tags are. */
const bucketOf = (place: number): number => place >>> 2

/** The first place of a bucket. */
const placeIn = (bucket: number): number => bucket * BUCKET

const tagAt = (words: Int32Array, place: number): number =>
  ((words[bucketOf(place)] ?? 0) >>> ((place & 3) << 3)) & 0x7f

const setTag = (words: Int32Array, place: number, tag: number): void => {
  const shift = (place & 3) << 3
  words[bucketOf(place)] = ((words[bucketOf(place)] ?? 0) & ~(0x7f << shift)) | (tag << shift)
}

const filterOf = (words: Int32Array, place: number): number => halfIn(words, bucketOf(place) + FILTERS, place & 3)

const setFilter = (words: Int32Array, place: number, filter: number): void => {
  setHalfIn(words, bucketOf(place) + FILTERS, place & 3, filter)
}

const halfAt = (words: Int32Array, place: number): number => halfIn(words, bucketOf(place) + HALVES, place & 3)

const setHalf = (words: Int32Array, place: number, half: number): void => {
  setHalfIn(words, bucketOf(place) + HALVES, place & 3, half)
}

const heldOf = (place: number): number => bucketOf(place) + HELD + (place & 3)
