/** Posting lists of terms that have many postings: one list per term, in the pool. */
import { currentMark, eventPresence, isSameByte, PRESENCE_MASK } from "./eventTerms.ts"
import { grown } from "./grown.ts"
import type { Pool } from "./Pool.ts"
import { setUint16At, uint16At } from "./uint16.ts"

/** A list is [seen mark, count, capacity, guards..., programs...] with two guards per word. */
const HEADER_WORDS = 3

/** Capacities are this times a power of two. */
const MIN_CAPACITY = 8

/** A list is identified by its address. `append` and `remove` return the address, which may have changed. */
export class PostingLists {
  private readonly pool: Pool
  /** Number of postings that the last `scan` read. */
  scanned = 0
  /** Addresses of the program words whose guard passed, up to `passed`. */
  private passing = new Int32Array(1_024)
  private passed = 0

  constructor(pool: Pool) {
    this.pool = pool
  }

  create(): number {
    return this.allocate(MIN_CAPACITY)
  }

  countOf(list: number): number {
    return this.pool.chunkOf(list)[this.pool.offsetOf(list) + 1] ?? 0
  }

  programOf(list: number, posting: number): number {
    const words = this.pool.chunkOf(list)
    return words[programsAt(words, this.pool.offsetOf(list)) + posting] ?? 0
  }

  guardOf(list: number, posting: number): number {
    return uint16At(this.pool.chunkOf(list), this.pool.offsetOf(list) + HEADER_WORDS, posting)
  }

  append(list: number, program: number, guard: number): number {
    const count = this.countOf(list)
    const target = count === this.capacityOf(list) ? this.resized(list, 2 * count) : list
    const words = this.pool.chunkOf(target)
    words[this.pool.offsetOf(target) + 1] = count + 1
    this.set(target, count, program, guard)
    return target
  }

  remove(list: number, program: number): number {
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    const count = words[at + 1] ?? 0
    const first = programsAt(words, at)
    const found = words.subarray(first, first + count).indexOf(program)
    if (found < 0) return list
    this.set(list, found, this.programOf(list, count - 1), this.guardOf(list, count - 1))
    words[at + 1] = count - 1
    const capacity = this.capacityOf(list)
    return capacity > MIN_CAPACITY && count - 1 <= capacity >> 2 ? this.resized(list, capacity >> 1) : list
  }

  free(list: number): void {
    this.pool.free(list, wordsOf(this.capacityOf(list)))
  }

  /** Scans the first `count` lists, each once. Returns how many programs pass: `copyTo` copies them. */
  scan(lists: Int32Array, count: number): number {
    const { pool } = this
    let passed = 0
    this.scanned = 0
    for (let index = 0; index < count; index++) {
      const list = lists[index] ?? 0
      // An event may contain the term several times.
      if (pool.markSeen(list)) continue
      const postings = this.countOf(list)
      this.scanned += postings
      if (passed + postings >= this.passing.length) this.passing = grown(this.passing, passed + postings)
      passed = this.scanList(list, postings, passed)
    }
    this.passed = passed
    return passed
  }

  /** Writes the programs that `scan` found to `programs`, starting at `from`. */
  copyTo(programs: Int32Array, from: number): void {
    this.pool.readAll(this.passing, this.passed, programs, from)
  }

  private scanList(list: number, count: number, before: number): number {
    const { passing } = this
    const words = this.pool.chunkOf(list)
    const guards = this.pool.offsetOf(list) + HEADER_WORDS
    const programs = list + HEADER_WORDS + ((words[guards - 1] ?? 0) >> 1)
    const mark = markNow() | 0
    let passed = before | 0
    // Two guards per word. The last word may hold only one.
    for (let posting = 0; posting < (count | 0); posting += 2) {
      const two = words[guards + (posting >> 1)] ?? 0
      passing[passed] = programs + posting
      passed += isSame(presence[two & presenceMask] ?? 0, mark)
      passing[passed] = programs + posting + 1
      passed += isSame(presence[(two >>> 16) & presenceMask] ?? 0, mark) & ((posting + 1 - count) >>> 31)
    }
    return passed
  }

  private capacityOf(list: number): number {
    return this.pool.chunkOf(list)[this.pool.offsetOf(list) + 2] ?? 0
  }

  private set(list: number, posting: number, program: number, guard: number): void {
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    words[programsAt(words, at) + posting] = program
    setUint16At(words, at + HEADER_WORDS, posting, guard)
  }

  private allocate(capacity: number): number {
    const list = this.pool.allocate(wordsOf(capacity))
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    words[at + 1] = 0
    words[at + 2] = capacity
    return list
  }

  private resized(list: number, capacity: number): number {
    const target = this.allocate(capacity)
    const old = this.pool.chunkOf(list)
    const from = this.pool.offsetOf(list)
    const words = this.pool.chunkOf(target)
    const to = this.pool.offsetOf(target)
    const count = old[from + 1] ?? 0
    words[to + 1] = count
    // Bulk copies: a list may be long, and this runs between events.
    words.set(old.subarray(from + HEADER_WORDS, from + HEADER_WORDS + ((count + 1) >> 1)), to + HEADER_WORDS)
    const programs = programsAt(old, from)
    words.set(old.subarray(programs, programs + count), programsAt(words, to))
    this.free(list)
    return target
  }
}

// ---- helpers ----

// See `verify.ts` on copies of imports.
const presence = eventPresence
const markNow = currentMark
const isSame = isSameByte
const presenceMask = PRESENCE_MASK

const wordsOf = (capacity: number): number => HEADER_WORDS + capacity + (capacity >> 1)

const programsAt = (words: Int32Array, at: number): number => at + HEADER_WORDS + ((words[at + 2] ?? 0) >> 1)
