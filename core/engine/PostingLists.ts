/** The postings of terms that have many of them, each term's in a list of its own. */
import { eventTrace, eventTraces, isEqual, TRACE_BITS } from "./eventTerms.ts"
import { halfIn, setHalfIn } from "./halves.ts"
import { longer } from "./longer.ts"
import type { Pool } from "./Pool.ts"

/**
 * A list is [touched, count, capacity, filters..., programs...], with two filters to a word: what all is gone through lies
 * close together.
 */
const HEAD = 3

/** The capacity of a new list; the others are this times a power of two. */
const LEAST = 8

/** Lists are known by their address, which may be another after each change. */
export class PostingLists {
  private readonly pool: Pool
  /** How many postings `open` went through last. */
  looked = 0
  /** Where the programs are whose filter the event passes, and how many they are. */
  private passing = new Int32Array(1_024)
  private passed = 0

  constructor(pool: Pool) {
    this.pool = pool
  }

  make(): number {
    return this.take(LEAST)
  }

  countOf(list: number): number {
    return this.pool.chunkOf(list)[this.pool.offsetOf(list) + 1] ?? 0
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
    words[this.pool.offsetOf(place) + 1] = count + 1
    this.set(place, count, program, filter)
    return place
  }

  remove(list: number, program: number): number {
    const words = this.pool.chunkOf(list)
    const at = this.pool.offsetOf(list)
    const count = words[at + 1] ?? 0
    const first = programsAt(words, at)
    const found = words.subarray(first, first + count).indexOf(program)
    if (found < 0) return list
    this.set(list, found, this.programOf(list, count - 1), this.filterOf(list, count - 1))
    words[at + 1] = count - 1
    const capacity = this.capacityOf(list)
    return capacity > LEAST && count - 1 <= capacity >> 2 ? this.moved(list, capacity >> 1) : list
  }

  giveBack(list: number): void {
    this.pool.giveBack(list, wordsOf(this.capacityOf(list)))
  }

  /** Goes through so many lists, each once, and gives how many programs the event passes the filters of: see `read`. */
  open(lists: Int32Array, count: number): number {
    const { pool } = this
    let passed = 0
    this.looked = 0
    for (let index = 0; index < count; index++) {
      const list = lists[index] ?? 0
      // An event may have its term many times.
      if (pool.isDone(list)) continue
      const postings = this.countOf(list)
      this.looked += postings
      if (passed + postings >= this.passing.length) this.passing = longer(this.passing, passed + postings)
      passed = this.pass(list, postings, passed)
    }
    this.passed = passed
    return passed
  }

  /** Writes what `open` found, from a place on. */
  read(programs: Int32Array, from: number): void {
    this.pool.fetch(this.passing, this.passed, programs, from)
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
    return this.pool.chunkOf(list)[this.pool.offsetOf(list) + 2] ?? 0
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
    words[at + 1] = 0
    words[at + 2] = capacity
    return list
  }

  private moved(list: number, capacity: number): number {
    const place = this.take(capacity)
    const old = this.pool.chunkOf(list)
    const from = this.pool.offsetOf(list)
    const words = this.pool.chunkOf(place)
    const to = this.pool.offsetOf(place)
    const count = old[from + 1] ?? 0
    words[to + 1] = count
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

const programsAt = (words: Int32Array, at: number): number => at + HEAD + ((words[at + 2] ?? 0) >> 1)
