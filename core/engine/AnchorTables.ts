/** Where the anchors are: from a term to the places that are taken for it. */
import { setInUse } from "./Cells.ts"
import { halfIn, setHalfIn } from "./halves.ts"

// The first half of a term says where it belongs: its table, its bucket there, its cell. The second half is its tag.

/** Independent tables, by the top bits of the term: one of them grows in microseconds, where one large table would stop the world. */
const SEGMENT_BITS = 7
const SEGMENT_SHIFT = 32 - SEGMENT_BITS
/** How much of the half tells where in the table. */
const HOME_BITS = 16

/** Parts of all tables, each with a bit that tells whether something is there: most terms of an event need not be looked up. */
const CELL_BITS = 21
const CELL_SHIFT = 32 - CELL_BITS

/**
 * Buckets that each table has room for: few, then so many that some millions of rules fit. All tables lie in one array, as
 * an array of arrays takes twice as long to read from. Room costs no memory until it is used, as the system gives memory
 * to the pages that are written; but moving to a larger one stops the world for some milliseconds. None is near a power
 * of two: the processor remembers few pages whose addresses end alike.
 */
const FIRST_ROOM = 100
const LARGE_ROOM = 30_000
const LARGEST_ROOM = 62_000
const PAGE_WORDS = 1_024

/** Places of a bucket. Their tags are bytes of one word: all are looked at together. */
const BUCKET = 4
const FIRST_BUCKETS = 4
/** In each byte of a word the last bit, and the bits of a tag. */
const LAST_BITS = 0x01010101
const TAG_BITS = 0x7f7f7f7f
/**
 * In each byte of the word of a bucket: terms of this kind whose home it or one before it is are in buckets after it. It
 * is full then. A kind is a quarter of all terms: most have no need to look further even so.
 */
const PASSED = 0x80

/**
 * Words of a bucket: its tags; one that is only ever written; two filters to a word; two homes to a word; what the places
 * hold.
 */
const WORDS = 10
const TOUCHED = 1
const FILTERS = 2
const HOMES = 4
const HELD = 6

/**
 * A table is buckets of places. Each term has a home bucket, and goes to the next one that is not full; the places of a
 * bucket fill from the first. A place is a tag (7 bits that go by the term, 0 for a free place), a filter, the bits of the
 * term that its bucket goes by, and what it holds: all that is looked at for a term lies close together. Terms that share
 * the tag and those bits are taken for one.
 *
 * A bucket is known by its first word in `words`, a place by four times that and its number in the bucket. What is there
 * may be another after each insertion or removal.
 */
export class AnchorTables {
  words: Int32Array
  /** Words that each table has room for. */
  room: number
  /** How many buckets a table has. */
  readonly sizes = new Int32Array(1 << SEGMENT_BITS).fill(FIRST_BUCKETS)
  /** Which cells are in use: a bit for each. */
  readonly inUse = new Int32Array(1 << (CELL_BITS - 5))
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
    this.leastRoom = WORDS * (holdsMany ? LARGE_ROOM : FIRST_ROOM)
    this.room = this.leastRoom
    this.words = spaceFor(this.room)
  }

  /** All of the first room, and of a larger one the pages that were ever written. */
  get bytes(): number {
    return this.inUse.byteLength + this.written
  }

  /** The rest of the room. */
  get reserved(): number {
    return this.words.byteLength - this.written
  }

  private get written(): number {
    if (this.room === WORDS * FIRST_ROOM) return this.words.byteLength
    return 4 * PAGE_WORDS * this.reached.reduce((sum, size) => sum + pagesOf(size), 0)
  }

  /**
   * To be called before each change of a rule. All tables fill alike, and a rule may hang on many anchors: at most one
   * table grows for it, the others with the next rules.
   */
  begin(): void {
    this.hasGrown = false
  }

  /** Begins to fetch the bucket where the term belongs, and the one after it. */
  touch(high: number): void {
    const bucket = bucketOf(this.home(high >>> SEGMENT_SHIFT, bitsOf(high)))
    this.words[bucket + TOUCHED] = 0
    this.words[bucket + WORDS + TOUCHED] = 0
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
    return this.placeFrom(this.home(high >>> SEGMENT_SHIFT, bitsOf(high)), high, low)
  }

  next(high: number, low: number, place: number): number {
    return this.placeFrom(this.after(high >>> SEGMENT_SHIFT, place), high, low)
  }

  insert(high: number, low: number, filter: number, held: number): void {
    const number = high >>> SEGMENT_SHIFT
    const count = (this.counts[number] ?? 0) + 1
    const size = this.sizes[number] ?? 0
    // One in two, three in eight after that: buckets that are passed by cost time, places that are free memory.
    if (count * 2 > size * BUCKET && (!this.hasGrown || count * 4 > size * BUCKET * 3)) {
      this.resize(number, size + Math.ceil(size / 3))
      this.hasGrown = true
    }
    this.counts[number] = count
    this.put(number, tagOf(low), bitsOf(high), filter, held)
    setUsed(this.inUse, high >>> CELL_SHIFT, true)
  }

  /** Those behind the free place that would rather be there move up, so that no search ends too early. */
  empty(high: number, emptied: number): void {
    const number = high >>> SEGMENT_SHIFT
    const { words } = this
    const size = this.sizes[number] ?? 0
    let hole = emptied
    for (let next = this.after(number, hole); tagAt(words, next) !== 0; next = this.after(number, next)) {
      if (isFrom(this.home(number, homeAt(words, next)), hole, next)) {
        setTag(words, hole, tagAt(words, next))
        setFilter(words, hole, filterOf(words, next))
        setHome(words, hole, homeAt(words, next))
        words[heldOf(hole)] = words[heldOf(next)] ?? 0
        hole = next
      }
    }
    setTag(words, hole, 0)
    words[bucketOf(hole)] = (words[bucketOf(hole)] ?? 0) & TAG_BITS
    const count = (this.counts[number] ?? 0) - 1
    this.counts[number] = count
    if (!this.hasAny(high)) setUsed(this.inUse, high >>> CELL_SHIFT, false)
    if (size > FIRST_BUCKETS && count * 5 < size * BUCKET) this.shrink(number, Math.max(FIRST_BUCKETS, size >> 1))
  }

  private placeFrom(start: number, high: number, low: number): number {
    const { words } = this
    const number = high >>> SEGMENT_SHIFT
    for (let place = start; tagAt(words, place) !== 0; place = this.after(number, place)) {
      if (tagAt(words, place) === tagOf(low) && homeAt(words, place) === bitsOf(high)) return place
    }
    return -1
  }

  /** Whether something is left in the cell of the term. */
  private hasAny(high: number): boolean {
    const { words } = this
    const number = high >>> SEGMENT_SHIFT
    const last = this.home(number, bitsOf(high | CELL_REST))
    for (let home = this.home(number, bitsOf(high & ~CELL_REST)); home <= last; home += placeIn(WORDS)) {
      for (let place = home; tagAt(words, place) !== 0; place = this.after(number, place)) {
        if (isInCell(homeAt(words, place), high)) return true
      }
    }
    return false
  }

  private home(number: number, bits: number): number {
    return placeIn(number * this.room + homeOf(this.sizes[number] ?? 0, bits) * WORDS)
  }

  /** The next place of the table. */
  private after(number: number, place: number): number {
    if (place % BUCKET < BUCKET - 1) return place + 1
    return placeIn(after(bucketOf(place), number * this.room, this.sizes[number] ?? 0))
  }

  private put(number: number, tag: number, home: number, filter: number, held: number): void {
    const { words } = this
    let place = this.home(number, home)
    while (tagAt(words, place) !== 0) {
      if (place % BUCKET === BUCKET - 1) {
        words[bucketOf(place)] = (words[bucketOf(place)] ?? 0) | (PASSED << kindOf(tag))
      }
      place = this.after(number, place)
    }
    setTag(words, place, tag)
    setFilter(words, place, filter)
    setHome(words, place, home)
    words[heldOf(place)] = held
  }

  private resize(number: number, size: number): void {
    if (size > LARGEST_ROOM) throw new Error("The engine is full: it cannot hold more than about ten million rules")
    if (size * WORDS > this.room) this.move(WORDS * (size > LARGE_ROOM ? LARGEST_ROOM : LARGE_ROOM))
    const { words } = this
    const start = number * this.room
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
        if (tag !== 0) this.put(number, tag, homeAt(old, place), filterOf(old, place), old[heldOf(place)] ?? 0)
      }
    }
  }

  /** What little is left after much goes back to where it began, and the memory to the system. */
  private shrink(number: number, size: number): void {
    this.resize(number, size)
    const hadMuch = pagesOf(this.reached[number] ?? 0) >= MUCH
    if (hadMuch && this.sizes.every((one) => 4 * one <= FIRST_ROOM)) this.move(this.leastRoom)
  }

  private move(room: number): void {
    const words = spaceFor(room)
    for (const [number, size] of this.sizes.entries()) {
      const start = number * this.room
      words.set(this.words.subarray(start, start + size * WORDS), number * room)
    }
    this.words = words
    this.room = room
    this.reached.set(this.sizes)
  }
}

/** The top bit of each byte that is the tag of the term. */
const hitsIn = (word: number, low: number): number => {
  const difference = (word & TAG_BITS) ^ Math.imul(tagOf(low), LAST_BITS)
  return ~(difference + TAG_BITS) & ~TAG_BITS
}

/** Whether the term may be in a bucket after the one with this word. */
const isPassed = (word: number, low: number): boolean => ((word >>> kindOf(tagOf(low))) & PASSED) !== 0

/** Not by a mask: tables grow by a third, a power of two would leave more places empty. Of up to 65,536 buckets. */
const homeOf = (size: number, bits: number): number => Math.imul(bits, size) >>> HOME_BITS

/** The bits by which a term has its home. */
const bitsOf = (high: number): number => (high << SEGMENT_BITS) >>> HOME_BITS

/** The bucket after one of a table, given its first and how many it has. */
const after = (bucket: number, first: number, size: number): number =>
  bucket + WORDS < first + size * WORDS ? bucket + WORDS : first

/** What is exported or imported by itself is looked up anew each time it is used: to be taken apart into constants of one's own. */
export const layout = {
  SEGMENT_SHIFT,
  CELL_SHIFT,
  BUCKET,
  WORDS,
  TOUCHED,
  FILTERS,
  HOMES,
  HELD,
  bitsOf,
  homeOf,
  hitsIn,
  isPassed,
  after
} as const

// ---- helpers ----

// See `layout`.
const halfOf = halfIn
const setHalfOf = setHalfIn
const setUsed = setInUse

/** Pages of a table that are worth giving back. */
const MUCH = 3

/** With a bucket more than the tables have, for the one after the last to be touched as well. */
const spaceFor = (room: number): Int32Array => new Int32Array((room << SEGMENT_BITS) + WORDS)

const pagesOf = (buckets: number): number => Math.ceil((buckets * WORDS) / PAGE_WORDS)

/** Bits of a half that do not say which cell. */
const CELL_REST = (1 << CELL_SHIFT) - 1

/** Of something in the same table, given by what its home goes by. */
const isInCell = (home: number, high: number): boolean =>
  home >>> HOMES_OF_CELL_BITS === bitsOf(high) >>> HOMES_OF_CELL_BITS
const HOMES_OF_CELL_BITS = SEGMENT_BITS + HOME_BITS - CELL_BITS

/** Never 0. */
const tagOf = (low: number): number => {
  const bits = low >>> 25
  return bits + ((bits - 1) >>> 31)
}

/** As the place of a byte in a word. */
const kindOf = (tag: number): number => (tag & 3) << 3

/** Where its tags are. */
const bucketOf = (place: number): number => place >>> 2

/** The first place of a bucket. */
const placeIn = (bucket: number): number => bucket * BUCKET

/** Whether a place is from one on and before another, in a table whose last place is followed by its first. */
const isFrom = (one: number, place: number, other: number): boolean =>
  one <= other ? one <= place && place < other : one <= place || place < other

const tagAt = (words: Int32Array, place: number): number =>
  ((words[bucketOf(place)] ?? 0) >>> ((place & 3) << 3)) & 0x7f

const setTag = (words: Int32Array, place: number, tag: number): void => {
  const shift = (place & 3) << 3
  words[bucketOf(place)] = ((words[bucketOf(place)] ?? 0) & ~(0x7f << shift)) | (tag << shift)
}

const filterOf = (words: Int32Array, place: number): number => halfOf(words, bucketOf(place) + FILTERS, place & 3)

const setFilter = (words: Int32Array, place: number, filter: number): void => {
  setHalfOf(words, bucketOf(place) + FILTERS, place & 3, filter)
}

const homeAt = (words: Int32Array, place: number): number => halfOf(words, bucketOf(place) + HOMES, place & 3)

const setHome = (words: Int32Array, place: number, home: number): void => {
  setHalfOf(words, bucketOf(place) + HOMES, place & 3, home)
}

const heldOf = (place: number): number => bucketOf(place) + HELD + (place & 3)
