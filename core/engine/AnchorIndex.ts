/** From a term to the programs that wait for it. */
import { AnchorTables, layout } from "./AnchorTables.ts"
import { isInUse } from "./Cells.ts"
import { entries, eventTrace, eventTraces, isEqual, MOST_TERMS, TRACE_BITS } from "./eventTerms.ts"
import { halfIn } from "./halves.ts"
import { longer } from "./longer.ts"
import type { Pool } from "./Pool.ts"
import { PostingLists } from "./PostingLists.ts"

/** Postings of one term that have places of their own; more than these share a list. */
const MOST_ALONE = 4

/**
 * A posting is the address of a program and a filter: bits of another term that the event must hold, or 0. The filter
 * spares most programs from being looked at. That an event passes one for no good reason does no harm, nor that a term is
 * taken for another: a program is run to find out whether it holds, however it was come by.
 *
 * A place holds a program, or ~ of the list of several programs.
 *
 * What is far away in memory is touched some time before it is read: a word of it that nobody needs is written. The
 * processor goes on while it is fetched, where it would wait for what it reads.
 */
export class AnchorIndex {
  /** What `gather` found last, and how many postings it went through. */
  programs = new Int32Array(1_024)
  looked = 0
  private readonly pool: Pool
  private readonly tables: AnchorTables
  private readonly lists: PostingLists
  /** How many programs were found in places of their own, and which lists. */
  private alone = 0
  private listed = 0
  private found = new Int32Array(1_024)

  constructor(pool: Pool, holdsMany: boolean) {
    this.pool = pool
    this.tables = new AnchorTables(holdsMany)
    this.lists = new PostingLists(pool)
  }

  /** Without the lists, which are in the pool. */
  get bytes(): number {
    return this.tables.bytes
  }

  get reserved(): number {
    return this.tables.reserved
  }

  /**
   * Finds the programs that wait for a term of the event at hand and whose filter the event passes, and gives their
   * number. Some may be among them twice. All of them are touched.
   */
  gather(count: number): number {
    this.alone = 0
    this.listed = 0
    let seen = this.pick(count)
    this.goHome(seen)
    while (seen > 0) {
      seen = this.look(seen)
      this.goOn(seen)
    }
    const { lists, pool, alone } = this
    const waiting = lists.open(this.found, this.listed)
    this.looked = alone + lists.looked
    if (alone + waiting > this.programs.length) this.programs = longer(this.programs, alone + waiting)
    lists.read(this.programs, alone)
    pool.touch(this.programs, alone, alone + waiting)
    return alone + waiting
  }

  /** To be called before what is added for one rule. */
  begin(): void {
    this.tables.begin()
  }

  /** To be called for all terms of a rule before something is added or removed for the first of them. */
  announce(high: number): void {
    this.tables.touch(high)
  }

  /** `other` is the first half of the term that is to be the filter, or 0. */
  add(high: number, low: number, program: number, other: number): void {
    const { tables, lists } = this
    const filter = other & TRACE_BITS
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
      if (held < 0) this.removeFrom(~held, high, low, place, program)
      else tables.empty(high, place)
      return
    }
  }

  /** Leaves the terms that something may hang on. */
  private pick(count: number): number {
    const { inUse } = this.tables
    let picked = 0
    for (let term = 1; term <= (count | 0); term++) {
      seenTerms[picked] = term
      picked += isIn(inUse, (terms[term << 2] ?? 0) >>> CELL_SHIFT)
    }
    return picked
  }

  /** To the buckets where the terms belong. They are touched, and so are those after them, which lie beside them. */
  private goHome(count: number): void {
    const { sizes, words } = this.tables
    const room = this.tables.room | 0
    for (let index = 0; index < (count | 0); index++) {
      const term = seenTerms[index] ?? 0
      const high = terms[term << 2] ?? 0
      const table = high >>> SEGMENT_SHIFT
      const at = table * room + homeOf(sizes[table] ?? 0, bitsOf(high)) * WORDS
      seenAt[index] = at
      words[at + TOUCHED] = 0
      words[at + WORDS + TOUCHED] = 0
    }
  }

  /** To the buckets after those that `look` left. */
  private goOn(count: number): void {
    const { sizes } = this.tables
    const room = this.tables.room | 0
    for (let index = 0; index < (count | 0); index++) {
      const table = (terms[(seenTerms[index] ?? 0) << 2] ?? 0) >>> SEGMENT_SHIFT
      seenAt[index] = after(seenAt[index] ?? 0, table * room, sizes[table] ?? 0)
    }
  }

  /** Finds what the buckets have for their terms; leaves those that were passed by, and gives their number. */
  private look(count: number): number {
    const { words } = this.tables
    const trace = traceNow() | 0
    let passed = 0
    for (let index = 0; index < (count | 0); index++) {
      const term = seenTerms[index] ?? 0
      const at = seenAt[index] ?? 0
      const tags = words[at] ?? 0
      const low = terms[(term << 2) + 1] ?? 0
      const hits = hitsIn(tags, low) & passesOf(words[at + FILTERS] ?? 0, words[at + FILTERS + 1] ?? 0, trace)
      if (hits !== 0) this.find(at, hits, bitsOf(terms[term << 2] ?? 0))
      if (!isPassed(tags, low)) continue
      seenTerms[passed] = term
      seenAt[passed] = at
      passed++
    }
    return passed
  }

  /** What the bucket has for the term in these places. */
  private find(bucket: number, hits: number, bits: number): void {
    const { words } = this.tables
    for (let place = 0; place < BUCKET; place++) {
      if (((hits >>> (8 * place + 7)) & 1) === 0 || halfOf(words, bucket + HOMES, place) !== bits) continue
      const held = words[bucket + HELD + place] ?? 0
      if (held < 0) {
        if (this.listed === this.found.length) this.found = longer(this.found, this.listed)
        this.found[this.listed++] = ~held
        this.pool.touchOne(~held)
      } else {
        if (this.alone === this.programs.length) this.programs = longer(this.programs, this.alone)
        this.programs[this.alone++] = held
        this.pool.touchOne(held)
      }
    }
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
const terms = entries
const traces = eventTraces
const traceNow = eventTrace
const isSame = isEqual
const halfOf = halfIn
const isIn = isInUse
const { SEGMENT_SHIFT, CELL_SHIFT, BUCKET, WORDS, TOUCHED, FILTERS, HOMES, HELD } = layout
const { bitsOf, homeOf, hitsIn, isPassed, after } = layout

/** Buckets that are looked at: for which term, and where they are. */
const seenTerms = new Int32Array(MOST_TERMS)
const seenAt = new Int32Array(MOST_TERMS)

/** The top bit of each byte whose place has a filter that the event passes, given two filters at a time. */
const passesOf = (firstTwo: number, lastTwo: number, trace: number): number =>
  (isSame(traces[firstTwo & 0xffff] ?? 0, trace) << 7) |
  (isSame(traces[firstTwo >>> 16] ?? 0, trace) << 15) |
  (isSame(traces[lastTwo & 0xffff] ?? 0, trace) << 23) |
  (isSame(traces[lastTwo >>> 16] ?? 0, trace) << 31)
