/** Hash tables of anchors: term to slots. */
import { setBit } from "./CountingBitset.ts"
import { setUint16At, uint16At } from "./uint16.ts"

// The high half of a term selects its table, home bucket and cell. The low half gives its tag.

/** Many small tables, selected by the top bits: growing one takes microseconds, not milliseconds. */
const SEGMENT_BITS = 7
const SEGMENT_SHIFT = 32 - SEGMENT_BITS
/** Bits that select the home bucket in a table. */
const HOME_BITS = 16

/** Each cell has a bit that tells whether it has an anchor, so that most terms of an event need no lookup. */
const CELL_BITS = 21
const CELL_SHIFT = 32 - CELL_BITS

/**
 * Capacities of a table, in buckets; LARGE_CAPACITY is enough for some millions of rules. All tables share one array,
 * as an array of arrays is twice as slow to read. Reserved capacity costs no memory until its pages are written, but
 * moving to a larger array pauses the process for some milliseconds. None is close to a power of two, which would make
 * the tables compete for the same TLB entries.
 */
const SMALL_CAPACITY = 100
const LARGE_CAPACITY = 30_000
const MAX_CAPACITY = 62_000
const PAGE_WORDS = 1_024

/** Slots per bucket. Their tags are the bytes of one word, compared all at once. */
const SLOTS = 4
const FIRST_BUCKETS = 4
/** In each byte of a word: the lowest bit, and the bits of a tag. */
const LOW_BITS = 0x01010101
const TAG_BITS = 0x7f7f7f7f
/** Overflow bit in each byte of the tag word, one per class of terms: one was stored past this full bucket. */
const OVERFLOW = 0x80

/** Layout of a bucket: tags, a write-only word for prefetching, guards and homes (two per word each), values. */
const BUCKET_WORDS = 10
const PREFETCH_WORD = 1
const GUARDS = 2
const HOMES = 4
const VALUES = 6

/**
 * Open addressing with linear probing by bucket. Slots of a bucket fill in order. A slot has a 7-bit tag (0: free), a
 * guard, the home bits of its term, and a value. Terms with equal tag and home bits are treated as one.
 *
 * A bucket is identified by the index of its first word in `words`, a slot by four times that plus its number. Both
 * become invalid with the next insertion or removal.
 */
export class AnchorTables {
  words: Int32Array
  /** Capacity of each table, in words. */
  tableWords: number
  /** Buckets of each table. */
  readonly sizes = new Int32Array(1 << SEGMENT_BITS).fill(FIRST_BUCKETS)
  /** A bit for each cell that has an anchor. */
  readonly usedCells = new Int32Array(1 << (CELL_BITS - 5))
  /** Used slots of each table. */
  private readonly counts = new Int32Array(1 << SEGMENT_BITS)
  /** Largest size of each table so far. */
  private readonly largestSizes = new Int32Array(1 << SEGMENT_BITS).fill(FIRST_BUCKETS)
  private readonly initialWords: number
  /** Copy of a table while it is rebuilt. */
  private scratch = new Int32Array(1_024)
  private hasGrown = false

  constructor(largeCapacity: boolean) {
    this.initialWords = BUCKET_WORDS * (largeCapacity ? LARGE_CAPACITY : SMALL_CAPACITY)
    this.tableWords = this.initialWords
    this.words = allocateTables(this.tableWords)
  }

  /** Small tables count whole, larger ones by the pages ever written. */
  get bytes(): number {
    return this.usedCells.byteLength + this.usedBytes
  }

  get reserved(): number {
    return this.words.byteLength - this.usedBytes
  }

  private get usedBytes(): number {
    if (this.tableWords === BUCKET_WORDS * SMALL_CAPACITY) return this.words.byteLength
    return 4 * PAGE_WORDS * this.largestSizes.reduce((sum, size) => sum + pagesOf(size), 0)
  }

  /** Call before each change of a rule. Limits growth to one table per rule, as all tables fill at the same pace. */
  beginRule(): void {
    this.hasGrown = false
  }

  /** Prefetches the term's home bucket and the next one. */
  prefetch(high: number): void {
    const bucket = bucketOf(this.home(high >>> SEGMENT_SHIFT, homeBitsOf(high)))
    this.words[bucket + PREFETCH_WORD] = 0
    this.words[bucket + BUCKET_WORDS + PREFETCH_WORD] = 0
  }

  valueAt(slot: number): number {
    return this.words[valueIndex(slot)] ?? 0
  }

  setValue(slot: number, value: number): void {
    this.words[valueIndex(slot)] = value
  }

  guardAt(slot: number): number {
    return guardOf(this.words, slot)
  }

  /** Slots of the term, one after the other; -1 if there are no more. */
  first(high: number, low: number): number {
    return this.findFrom(this.home(high >>> SEGMENT_SHIFT, homeBitsOf(high)), high, low)
  }

  next(high: number, low: number, slot: number): number {
    return this.findFrom(this.slotAfter(high >>> SEGMENT_SHIFT, slot), high, low)
  }

  insert(high: number, low: number, guard: number, value: number): void {
    const table = high >>> SEGMENT_SHIFT
    const count = (this.counts[table] ?? 0) + 1
    const size = this.sizes[table] ?? 0
    // Grows at a load of 1/2, to 3/8: a compromise between probe length and memory.
    if (count * 2 > size * SLOTS && (!this.hasGrown || count * 4 > size * SLOTS * 3)) {
      this.resize(table, size + Math.ceil(size / 3))
      this.hasGrown = true
    }
    this.counts[table] = count
    this.store(table, tagOf(low), homeBitsOf(high), guard, value)
    setUsedBit(this.usedCells, high >>> CELL_SHIFT, true)
  }

  /** Moves later slots back into the hole if their home allows it, so that no search ends too early. */
  remove(high: number, removed: number): void {
    const table = high >>> SEGMENT_SHIFT
    const { words } = this
    const size = this.sizes[table] ?? 0
    let hole = removed
    for (let next = this.slotAfter(table, hole); tagAt(words, next) !== 0; next = this.slotAfter(table, next)) {
      if (isBetween(this.home(table, homeAt(words, next)), hole, next)) {
        setTag(words, hole, tagAt(words, next))
        setGuard(words, hole, guardOf(words, next))
        setHome(words, hole, homeAt(words, next))
        words[valueIndex(hole)] = words[valueIndex(next)] ?? 0
        hole = next
      }
    }
    setTag(words, hole, 0)
    words[bucketOf(hole)] = (words[bucketOf(hole)] ?? 0) & TAG_BITS
    const count = (this.counts[table] ?? 0) - 1
    this.counts[table] = count
    if (!this.isCellUsed(high)) setUsedBit(this.usedCells, high >>> CELL_SHIFT, false)
    if (size > FIRST_BUCKETS && count * 5 < size * SLOTS) this.shrink(table, Math.max(FIRST_BUCKETS, size >> 1))
  }

  private findFrom(start: number, high: number, low: number): number {
    const { words } = this
    const table = high >>> SEGMENT_SHIFT
    for (let slot = start; tagAt(words, slot) !== 0; slot = this.slotAfter(table, slot)) {
      if (tagAt(words, slot) === tagOf(low) && homeAt(words, slot) === homeBitsOf(high)) return slot
    }
    return -1
  }

  /** Whether the term's cell still has an anchor. */
  private isCellUsed(high: number): boolean {
    const { words } = this
    const table = high >>> SEGMENT_SHIFT
    const last = this.home(table, homeBitsOf(high | CELL_LOW_BITS))
    for (
      let home = this.home(table, homeBitsOf(high & ~CELL_LOW_BITS));
      home <= last;
      home += firstSlotOf(BUCKET_WORDS)
    ) {
      for (let slot = home; tagAt(words, slot) !== 0; slot = this.slotAfter(table, slot)) {
        if (isInCell(homeAt(words, slot), high)) return true
      }
    }
    return false
  }

  private home(table: number, bits: number): number {
    return firstSlotOf(table * this.tableWords + homeBucketOf(this.sizes[table] ?? 0, bits) * BUCKET_WORDS)
  }

  private slotAfter(table: number, slot: number): number {
    if (slot % SLOTS < SLOTS - 1) return slot + 1
    return firstSlotOf(bucketAfter(bucketOf(slot), table * this.tableWords, this.sizes[table] ?? 0))
  }

  private store(table: number, tag: number, home: number, guard: number, value: number): void {
    const { words } = this
    let slot = this.home(table, home)
    while (tagAt(words, slot) !== 0) {
      if (slot % SLOTS === SLOTS - 1) {
        words[bucketOf(slot)] = (words[bucketOf(slot)] ?? 0) | (OVERFLOW << overflowShift(tag))
      }
      slot = this.slotAfter(table, slot)
    }
    setTag(words, slot, tag)
    setGuard(words, slot, guard)
    setHome(words, slot, home)
    words[valueIndex(slot)] = value
  }

  private resize(table: number, size: number): void {
    if (size > MAX_CAPACITY) throw new Error("The engine is full: it cannot hold more than about ten million rules")
    if (size * BUCKET_WORDS > this.tableWords)
      this.reallocate(BUCKET_WORDS * (size > LARGE_CAPACITY ? MAX_CAPACITY : LARGE_CAPACITY))
    const { words } = this
    const start = table * this.tableWords
    const length = (this.sizes[table] ?? 0) * BUCKET_WORDS
    // Reused, to produce no garbage.
    if (this.scratch.length < length) this.scratch = new Int32Array(2 * length)
    const { scratch } = this
    scratch.set(words.subarray(start, start + length))
    words.fill(0, start, start + length)
    this.sizes[table] = size
    this.largestSizes[table] = Math.max(this.largestSizes[table] ?? 0, size)
    for (let bucket = 0; bucket < length; bucket += BUCKET_WORDS) {
      for (let slot = firstSlotOf(bucket); slot < firstSlotOf(bucket) + SLOTS; slot++) {
        const tag = tagAt(scratch, slot)
        if (tag !== 0)
          this.store(table, tag, homeAt(scratch, slot), guardOf(scratch, slot), scratch[valueIndex(slot)] ?? 0)
      }
    }
  }

  /** Returns memory to the system once all tables are small again. */
  private shrink(table: number, size: number): void {
    this.resize(table, size)
    const hadManyPages = pagesOf(this.largestSizes[table] ?? 0) >= MANY_PAGES
    if (hadManyPages && this.sizes.every((one) => 4 * one <= SMALL_CAPACITY)) this.reallocate(this.initialWords)
  }

  private reallocate(tableWords: number): void {
    const words = allocateTables(tableWords)
    for (const [table, size] of this.sizes.entries()) {
      const start = table * this.tableWords
      words.set(this.words.subarray(start, start + size * BUCKET_WORDS), table * tableWords)
    }
    this.words = words
    this.tableWords = tableWords
    this.largestSizes.set(this.sizes)
  }
}

/** Sets the top bit of each byte that equals the term's tag. */
const tagHits = (word: number, low: number): number => {
  const difference = (word & TAG_BITS) ^ Math.imul(tagOf(low), LOW_BITS)
  return ~(difference + TAG_BITS) & ~TAG_BITS
}

/** Whether the term may be in a later bucket than the one with this tag word. */
const hasOverflow = (word: number, low: number): boolean => ((word >>> overflowShift(tagOf(low))) & OVERFLOW) !== 0

/** Multiply-shift rather than a mask, because sizes are not powers of two. Up to 65,536 buckets. */
const homeBucketOf = (size: number, bits: number): number => Math.imul(bits, size) >>> HOME_BITS

const homeBitsOf = (high: number): number => (high << SEGMENT_BITS) >>> HOME_BITS

/** `first`, `size`: first bucket and number of buckets of the table. Wraps around. */
const bucketAfter = (bucket: number, first: number, size: number): number =>
  bucket + BUCKET_WORDS < first + size * BUCKET_WORDS ? bucket + BUCKET_WORDS : first

/** See `layout` in `code.ts`. */
export const layout = {
  SEGMENT_SHIFT,
  CELL_SHIFT,
  SLOTS,
  BUCKET_WORDS,
  PREFETCH_WORD,
  GUARDS,
  HOMES,
  VALUES,
  homeBitsOf,
  homeBucketOf,
  tagHits,
  hasOverflow,
  bucketAfter
} as const

// ---- helpers ----

const uint16Of = uint16At
const setUint16Of = setUint16At
const setUsedBit = setBit

/** Pages of a table that are worth returning. */
const MANY_PAGES = 3

/** One extra bucket, so that the one after the last can be prefetched. */
const allocateTables = (tableWords: number): Int32Array => new Int32Array((tableWords << SEGMENT_BITS) + BUCKET_WORDS)

const pagesOf = (buckets: number): number => Math.ceil((buckets * BUCKET_WORDS) / PAGE_WORDS)

/** Bits below those that select the cell. */
const CELL_LOW_BITS = (1 << CELL_SHIFT) - 1

/** For a slot of the same table, given its home bits. */
const isInCell = (home: number, high: number): boolean =>
  home >>> HOMES_OF_CELL_BITS === homeBitsOf(high) >>> HOMES_OF_CELL_BITS
const HOMES_OF_CELL_BITS = SEGMENT_BITS + HOME_BITS - CELL_BITS

/** Never 0. */
const tagOf = (low: number): number => {
  const bits = low >>> 25
  return bits + ((bits - 1) >>> 31)
}

/** Bit offset of the tag's overflow class. */
const overflowShift = (tag: number): number => (tag & 3) << 3

const bucketOf = (slot: number): number => slot >>> 2

const firstSlotOf = (bucket: number): number => bucket * SLOTS

/** Whether `slot` is in [one, other), in a circular table. */
const isBetween = (one: number, slot: number, other: number): boolean =>
  one <= other ? one <= slot && slot < other : one <= slot || slot < other

const tagAt = (words: Int32Array, slot: number): number => ((words[bucketOf(slot)] ?? 0) >>> ((slot & 3) << 3)) & 0x7f

const setTag = (words: Int32Array, slot: number, tag: number): void => {
  const shift = (slot & 3) << 3
  words[bucketOf(slot)] = ((words[bucketOf(slot)] ?? 0) & ~(0x7f << shift)) | (tag << shift)
}

const guardOf = (words: Int32Array, slot: number): number => uint16Of(words, bucketOf(slot) + GUARDS, slot & 3)

const setGuard = (words: Int32Array, slot: number, guard: number): void => {
  setUint16Of(words, bucketOf(slot) + GUARDS, slot & 3, guard)
}

const homeAt = (words: Int32Array, slot: number): number => uint16Of(words, bucketOf(slot) + HOMES, slot & 3)

const setHome = (words: Int32Array, slot: number, home: number): void => {
  setUint16Of(words, bucketOf(slot) + HOMES, slot & 3, home)
}

const valueIndex = (slot: number): number => bucketOf(slot) + VALUES + (slot & 3)
