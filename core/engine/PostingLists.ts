/** The postings of terms that have many of them, each term's in a list of its own. */
import { eventTrace, eventTraces, isEqual, TRACE_BITS } from "./eventTerms.ts"
import { halfIn, setHalfIn } from "./halves.ts"
import type { Pool } from "./Pool.ts"

/**
 * A list is [count, capacity, filters..., programs...], with two filters to a word: what all is gone through lies close
 * together.
 */
const HEAD = 2

/** The capacity of a new list; the others are this times a power of two. */
const LEAST = 8

/** Lists are known by their address, which may be another after each change. */
export class PostingLists {
  private readonly pool: Pool
  /** The first words of the lists that are gone through. */
  private counts = new Int32Array(1_024)
  /** Where the programs are whose filter the event passes. */
  private passing = new Int32Array(1_024)

  constructor(pool: Pool) {
    this.pool = pool
  }

  make(): number {
    return this.take(LEAST)
  }

  countOf(list: number): number {
    return this.pool.chunkOf(list)[this.pool.offsetOf(list)] ?? 0
  }

  programOf(list: number, posting: number): number {
    const words = this.pool.chunkOf(list)
    return words[programsAt(words, this.pool.offsetOf(list)) + posting] ?? 0
  }

  filterOf(list: number, posting: number): number {
    return halfIn(this.pool.chunkOf(list), this.pool.offsetOf(list) + HEAD, posting)
  }

  append(list: number, program: number, filter: number): number {
    const count = this.countOf(list)
    const place = count === this.capacityOf(list) ? this.moved(list, 2 * count) : list
    const words = this.pool.chunkOf(place)
    words[this.pool.offsetOf(place)] = count + 1
    this.set(place, count, program, filter)
    return place
  }

  remove(list: number, program: number): number {
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    const count = words[at] ?? 0
    const first = programsAt(words, at)
    const found = words.subarray(first, first + count).indexOf(program)
    if (found < 0) return list
    this.set(list, found, this.programOf(list, count - 1), this.filterOf(list, count - 1))
    words[at] = count - 1
    const capacity = this.capacityOf(list)
    return capacity > LEAST && count - 1 <= capacity >> 2 ? this.moved(list, capacity >> 1) : list
  }

  giveBack(list: number): void {
    this.pool.giveBack(list, wordsOf(this.capacityOf(list)))
  }

  /** How many postings there are in so many lists, which `gather` can go through now. */
  open(lists: Int32Array, count: number): number {
    if (count > this.counts.length) this.counts = new Int32Array(2 * count)
    const { counts } = this
    this.pool.fetch(lists, count, counts, 0)
    let postings = 0
    for (let index = 0; index < count; index++) postings += counts[index] ?? 0
    if (postings >= this.passing.length) this.passing = new Int32Array(2 * postings)
    return postings
  }

  /** Writes the programs in the open lists whose filter the event at hand passes, and gives where the next is to be written. */
  gather(lists: Int32Array, count: number, programs: Int32Array, from: number): number {
    let passed = 0
    for (let index = 0; index < count; index++) passed = this.pass(lists[index] ?? 0, this.counts[index] ?? 0, passed)
    this.pool.fetch(this.passing, passed, programs, from)
    return from + passed
  }

  private pass(list: number, count: number, before: number): number {
    const { passing } = this
    const words = this.pool.chunkOf(list)
    const filters = this.pool.offsetOf(list) + HEAD
    const programs = list + HEAD + ((words[filters - 1] ?? 0) >> 1)
    const trace = traceNow() | 0
    let passed = before | 0
    // Two filters at a time; the last may have none beside it.
    for (let posting = 0; posting < (count | 0); posting += 2) {
      const two = words[filters + (posting >> 1)] ?? 0
      passing[passed] = programs + posting
      passed += isSame(traces[two & bits] ?? 0, trace)
      passing[passed] = programs + posting + 1
      passed += isSame(traces[(two >>> 16) & bits] ?? 0, trace) & ((posting + 1 - count) >>> 31)
    }
    return passed
  }

  private capacityOf(list: number): number {
    return this.pool.chunkOf(list)[this.pool.offsetOf(list) + 1] ?? 0
  }

  private set(list: number, posting: number, program: number, filter: number): void {
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    words[programsAt(words, at) + posting] = program
    setHalfIn(words, at + HEAD, posting, filter)
  }

  private take(capacity: number): number {
    const list = this.pool.take(wordsOf(capacity))
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    words[at] = 0
    words[at + 1] = capacity
    return list
  }

  private moved(list: number, capacity: number): number {
    const place = this.take(capacity)
    const old = this.pool.chunkOf(list)
    const from = this.pool.offsetOf(list)
    const words = this.pool.chunkOf(place)
    const to = this.pool.offsetOf(place)
    const count = old[from] ?? 0
    words[to] = count
    // Whole, as a list may be long: an event waits for this.
    words.set(old.subarray(from + HEAD, from + HEAD + ((count + 1) >> 1)), to + HEAD)
    const programs = programsAt(old, from)
    words.set(old.subarray(programs, programs + count), programsAt(words, to))
    this.giveBack(list)
    return place
  }
}

// ---- helpers ----

// What is imported is looked up anew each time it is used; a constant of the module's own is not.
const traces = eventTraces
const traceNow = eventTrace
const isSame = isEqual
const bits = TRACE_BITS

const wordsOf = (capacity: number): number => HEAD + capacity + (capacity >> 1)

const programsAt = (words: Int32Array, at: number): number => at + HEAD + ((words[at + 1] ?? 0) >> 1)
