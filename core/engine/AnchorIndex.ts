/** From a term to the programs that wait for it. */
import {
  AnchorTables,
  after,
  BUCKET,
  FILTERS,
  HALVES,
  HELD,
  halfOf,
  hitsIn,
  homeOf,
  isPassed,
  SEGMENT_SHIFT,
  WORDS
} from "./AnchorTables.ts"
import { Cells, isInUse } from "./Cells.ts"
import { eventTrace, eventTraces, isEqual, isMetLast, MOST_TERMS, pairs, TRACE_BITS } from "./eventTerms.ts"
import { halfIn } from "./halves.ts"
import type { Pool } from "./Pool.ts"
import { PostingLists } from "./PostingLists.ts"

/** Enough for most of them to be free at a hundred thousand rules, few enough to stay near. */
const CELL_BITS = 20

/** Terms of an event that something may hang on: more than almost any has. */
const MANY = 4_096

/** Postings of one term that have places of their own; more than these share a list. */
const MOST_ALONE = 4

/**
 * A posting is the address of a program and a filter: bits of another term that the event must hold, or 0. The filter
 * spares most programs from being looked at. That an event passes one for no good reason does no harm, nor that a term is
 * taken for another: a program is run to find out whether it holds, however it was come by.
 *
 * A place holds a program, or ~ of the list of several programs.
 */
export class AnchorIndex {
  /** What `gather` found last, and how many postings it went through. */
  programs = new Int32Array(1_024)
  looked = 0
  private readonly tables: AnchorTables
  /** Terms that something hangs on, by their first bits. */
  private readonly anchored = new Cells(CELL_BITS)
  private readonly lists: PostingLists
  /** How many buckets the step before left in `openAt`. */
  private open = 0
  /** How many programs `check` found in places of their own. */
  private alone = 0
  /** The place of what looks right, and for which term; then what is there; then the lists among it. */
  private likely = new Int32Array(1_024)
  private likelyTerms = new Int32Array(1_024)

  constructor(pool: Pool, holdsMany: boolean) {
    this.tables = new AnchorTables(holdsMany)
    this.lists = new PostingLists(pool)
  }

  /** Without the lists, which are in the pool. */
  get bytes(): number {
    return this.tables.bytes + this.anchored.bytes
  }

  get reserved(): number {
    return this.tables.reserved
  }

  /**
   * Finds the programs that wait for a term of the event at hand and whose filter the event passes, and gives their
   * number. Some may be among them twice.
   */
  gather(count: number): number {
    const listed = this.check(this.search(count))
    const { lists, alone, likely } = this
    this.looked = alone + lists.open(likely, listed)
    if (this.looked > this.programs.length) this.programs = longer(this.programs, this.looked)
    return lists.gather(likely, listed, this.programs, alone)
  }

  /** To be called before what is added for one rule. */
  begin(): void {
    this.tables.begin()
  }

  /** `other` is the first half of the term that is to be the filter, or 0. */
  add(high: number, low: number, program: number, other: number): void {
    const { tables, lists } = this
    const filter = other & TRACE_BITS
    this.anchored.count(high >>> cellShift, 1)
    let alone = 0
    for (let place = tables.first(high, low); place >= 0; place = tables.next(high, low, place)) {
      const held = tables.heldAt(place)
      if (held < 0) {
        tables.hold(place, ~lists.append(~held, program, filter))
        return
      }
      alone++
    }
    if (alone < MOST_ALONE) tables.insert(high, low, filter, program)
    else this.share(high, low, program, filter)
  }

  remove(high: number, low: number, program: number): void {
    const { tables } = this
    for (let place = tables.first(high, low); place >= 0; place = tables.next(high, low, place)) {
      const held = tables.heldAt(place)
      if (held >= 0 && held !== program) continue
      this.anchored.count(high >>> cellShift, -1)
      if (held < 0) this.removeFrom(~held, high, low, place, program)
      else tables.empty(high, place)
      return
    }
  }

  /**
   * Writes to `likely` where the places are that look like a term of the event with a filter that it passes, and gives
   * their number: looks at the home buckets of the terms, then at the buckets after those that were passed by, and so on.
   * Loops that fetch do hardly anything else, so that what is far away in memory is fetched side by side, and none has a
   * branch that nobody can foresee.
   */
  private search(all: number): number {
    const picked = this.pick(all)
    const count = this.goHome(picked < MANY ? picked : this.once(picked))
    this.fetchTags(count)
    let passed = this.look(count)
    let found = this.sift(0)
    while (passed > 0) {
      this.goOn(passed)
      this.fetchTags(passed)
      passed = this.look(passed)
      found = this.sift(found)
    }
    return found
  }

  /** Leaves the terms that something may hang on. */
  private pick(count: number): number {
    const { bits } = this.anchored
    let picked = 0
    for (let term = 1; term <= (count | 0); term++) {
      seenTerms[picked] = term
      picked += isIn(bits, (terms[term << 1] ?? 0) >>> cellShift)
    }
    return picked
  }

  /** Leaves the last of each term. Where there are many, `isMetLast` may have a long way to each of them. */
  private once(count: number): number {
    const lows = new Map<number, number>()
    let kept = count
    for (let index = count - 1; index >= 0; index--) {
      const term = seenTerms[index] ?? 0
      const high = terms[2 * term] ?? 0
      const low = terms[2 * term + 1] ?? 0
      if (lows.get(high) === low) continue
      lows.set(high, low)
      seenTerms[--kept] = term
    }
    seenTerms.copyWithin(0, kept, count)
    return count - kept
  }

  /** To the buckets where the terms belong, each once. */
  private goHome(count: number): number {
    const { sizes } = this.tables
    const roomBits = this.tables.roomBits | 0
    let kept = 0
    for (let index = 0; index < (count | 0); index++) {
      const term = seenTerms[index] ?? 0
      const high = terms[term << 1] ?? 0
      const low = terms[(term << 1) + 1] ?? 0
      if (!isLast(term, high, low)) continue
      seenTerms[kept] = term
      const table = high >>> shift
      seenAt[kept] = (table << roomBits) + home(sizes[table] ?? 0, half(low)) * words
      kept++
    }
    return kept
  }

  /** To the buckets after those that `look` left. */
  private goOn(count: number): void {
    const { sizes } = this.tables
    const roomBits = this.tables.roomBits | 0
    for (let index = 0; index < (count | 0); index++) {
      const at = seenAt[index] ?? 0
      seenAt[index] = next(at, roomBits, sizes[at >>> roomBits] ?? 0)
    }
  }

  private fetchTags(count: number): void {
    const memory = this.tables.words
    for (let index = 0; index < (count | 0); index++) seenTags[index] = memory[seenAt[index] ?? 0] ?? 0
  }

  /** Picks the buckets that seem to have what is looked for, leaves those that were passed by, and gives their number. */
  private look(count: number): number {
    let open = 0
    let passed = 0
    for (let index = 0; index < (count | 0); index++) {
      const term = seenTerms[index] ?? 0
      const at = seenAt[index] ?? 0
      const word = seenTags[index] ?? 0
      const high = terms[term << 1] ?? 0
      const hits = hitsOf(word, high)
      openTerms[open] = term
      openAt[open] = at
      openHits[open] = hits
      open += isAny(hits)
      seenTerms[passed] = term
      seenAt[passed] = at
      passed += isBeyond(word, high)
    }
    this.open = open
    return passed
  }

  /** What the open buckets have. */
  private sift(before: number): number {
    const memory = this.tables.words
    const open = this.open | 0
    const most = before + open * places
    if (most > this.likely.length) {
      this.likely = longer(this.likely, most)
      this.likelyTerms = longer(this.likelyTerms, most)
    }
    const { likely, likelyTerms } = this
    const trace = traceNow() | 0
    let found = before | 0
    for (let index = 0; index < open; index++) {
      const at = openAt[index] ?? 0
      const firstTwo = memory[at + filters] ?? 0
      const lastTwo = memory[at + filters + 1] ?? 0
      const place = at * places
      const hits = openHits[index] ?? 0
      const term = openTerms[index] ?? 0
      likely[found] = place
      likelyTerms[found] = term
      found += (hits >>> 7) & isSame(traces[firstTwo & 0xffff] ?? 0, trace)
      likely[found] = place + 1
      likelyTerms[found] = term
      found += (hits >>> 15) & isSame(traces[firstTwo >>> 16] ?? 0, trace)
      likely[found] = place + 2
      likelyTerms[found] = term
      found += (hits >>> 23) & isSame(traces[lastTwo & 0xffff] ?? 0, trace)
      likely[found] = place + 3
      likelyTerms[found] = term
      found += (hits >>> 31) & isSame(traces[lastTwo >>> 16] ?? 0, trace)
    }
    return found
  }

  /** Of the places in `likely`: writes the programs there that wait for the term, and to `likely` the lists instead. */
  private check(count: number): number {
    if (count > this.programs.length) this.programs = longer(this.programs, count)
    const memory = this.tables.words
    const { likely, likelyTerms, programs } = this
    let alone = 0
    let listed = 0
    for (let index = 0; index < (count | 0); index++) {
      const at = likely[index] ?? 0
      const bucket = at >>> 2
      const low = terms[((likelyTerms[index] ?? 0) << 1) + 1] ?? 0
      const isOther = isAny(halfOfPlace(memory, bucket + halves, at & 3) ^ half(low))
      const held = memory[bucket + heldAt + (at & 3)] ?? 0
      programs[alone] = held
      likely[listed] = ~held
      alone += (~held >>> 31) & ~isOther
      listed += (held >>> 31) & ~isOther
    }
    this.alone = alone
    return listed
  }

  /** All that have places of their own, and one more, into one list. */
  private share(high: number, low: number, program: number, filter: number): void {
    const { tables, lists } = this
    let list = lists.make()
    for (let place = tables.first(high, low); place >= 0; place = tables.first(high, low)) {
      list = lists.append(list, tables.heldAt(place), tables.filterAt(place))
      tables.empty(high, place)
    }
    tables.insert(high, low, 0, ~lists.append(list, program, filter))
  }

  private removeFrom(listed: number, high: number, low: number, place: number, program: number): void {
    const { tables, lists } = this
    const list = lists.remove(listed, program)
    const count = lists.countOf(list)
    if (count > MOST_ALONE >> 1) {
      tables.hold(place, ~list)
      return
    }
    tables.empty(high, place)
    for (let posting = 0; posting < count; posting++) {
      tables.insert(high, low, lists.filterOf(list, posting), lists.programOf(list, posting))
    }
    lists.giveBack(list)
  }
}

// ---- helpers ----

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not.
const terms = pairs
const traces = eventTraces
const traceNow = eventTrace
const isSame = isEqual
const isLast = isMetLast
const home = homeOf
const next = after
const hitsOf = hitsIn
const isBeyond = isPassed
const places = BUCKET
const words = WORDS
const filters = FILTERS
const halves = HALVES
const heldAt = HELD
const half = halfOf
const halfOfPlace = halfIn
const shift = SEGMENT_SHIFT
const isIn = isInUse
const cellShift = 32 - CELL_BITS

/** Buckets that are looked at: for which term, where they are, and their tags. */
const seenTerms = new Int32Array(MOST_TERMS)
const seenAt = new Int32Array(MOST_TERMS)
const seenTags = new Int32Array(MOST_TERMS)
/** Those that seem to have what is looked for: for which term, where they are, and in which places. */
const openTerms = new Int32Array(MOST_TERMS)
const openAt = new Int32Array(MOST_TERMS)
const openHits = new Int32Array(MOST_TERMS)

const longer = (array: Int32Array, least: number): Int32Array<ArrayBuffer> => {
  const copy = new Int32Array(2 * least)
  copy.set(array)
  return copy
}

/** 0 for 0, 1 for any other number. */
const isAny = (number: number): number => (number | -number) >>> 31
