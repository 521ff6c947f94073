/** Inverted index: term to the rules anchored on it. */
import { AnchorTables, layout } from "./AnchorTables.ts"
import { bitAt } from "./CountingBitset.ts"
import { currentMark, eventPresence, isSameByte, MAX_TERMS, PRESENCE_MASK, termEntries } from "./eventTerms.ts"
import { grown } from "./grown.ts"
import type { Pool } from "./Pool.ts"
import { PostingLists } from "./PostingLists.ts"
import { uint16At } from "./uint16.ts"

/** Up to this many postings of a term are stored in table slots, more in a posting list. */
const MAX_INLINE = 4

/**
 * A posting is the address of a program and a guard: bits of a second term that the event must contain, or 0. Guards
 * spare most candidates. False positives are harmless, both of guards and of anchor lookups: every candidate is
 * verified.
 *
 * A slot holds the address of a program, or ~ of the address of a posting list.
 *
 * Distant memory is prefetched by writing to an unused word of it, some time before it is read: the CPU does not wait
 * for a store.
 */
export class AnchorIndex {
  /** Result of the last `findCandidates`, and how many postings it read. */
  candidates = new Int32Array(1_024)
  scanned = 0
  private readonly pool: Pool
  private readonly tables: AnchorTables
  private readonly lists: PostingLists
  /** Candidates found in slots, and lists found. */
  private inlineCount = 0
  private listCount = 0
  private foundLists = new Int32Array(1_024)

  constructor(pool: Pool, largeCapacity: boolean) {
    this.pool = pool
    this.tables = new AnchorTables(largeCapacity)
    this.lists = new PostingLists(pool)
  }

  /** Excludes the posting lists, which are in the pool. */
  get bytes(): number {
    return this.tables.bytes
  }

  get reserved(): number {
    return this.tables.reserved
  }

  /**
   * Finds the programs anchored on a term of the current event whose guard passes. Returns their number; duplicates are
   * possible. All candidates are prefetched. `count`: terms of the event.
   */
  findCandidates(count: number): number {
    this.inlineCount = 0
    this.listCount = 0
    let probes = this.pickTerms(count)
    this.startAtHomes(probes)
    while (probes > 0) {
      probes = this.probe(probes)
      this.moveToNextBuckets(probes)
    }
    const { lists, pool, inlineCount } = this
    const fromLists = lists.scan(this.foundLists, this.listCount)
    this.scanned = inlineCount + lists.scanned
    if (inlineCount + fromLists > this.candidates.length)
      this.candidates = grown(this.candidates, inlineCount + fromLists)
    lists.copyTo(this.candidates, inlineCount)
    pool.prefetchAll(this.candidates, inlineCount, inlineCount + fromLists)
    return inlineCount + fromLists
  }

  /** Call before the first `add` for a rule. */
  beginRule(): void {
    this.tables.beginRule()
  }

  /** Call for all anchors of a rule before the first `add` or `remove`. */
  prefetch(high: number): void {
    this.tables.prefetch(high)
  }

  /** `guardTerm`: high half of the guard's term, or 0. */
  add(high: number, low: number, program: number, guardTerm: number): void {
    const { tables, lists } = this
    const guard = guardTerm & PRESENCE_MASK
    let inlineCount = 0
    for (let slot = tables.first(high, low); slot >= 0; slot = tables.next(high, low, slot)) {
      const value = tables.valueAt(slot)
      if (value < 0) {
        tables.setValue(slot, ~lists.append(~value, program, guard))
        return
      }
      inlineCount++
    }
    if (inlineCount < MAX_INLINE) tables.insert(high, low, guard, program)
    else this.moveToList(high, low, program, guard)
  }

  remove(high: number, low: number, program: number): void {
    const { tables } = this
    for (let slot = tables.first(high, low); slot >= 0; slot = tables.next(high, low, slot)) {
      const value = tables.valueAt(slot)
      if (value >= 0 && value !== program) continue
      if (value < 0) this.removeFromList(~value, high, low, slot, program)
      else tables.remove(high, slot)
      return
    }
  }

  /** Keeps the terms whose cell has an anchor. */
  private pickTerms(count: number): number {
    const { usedCells } = this.tables
    let picked = 0
    for (let term = 1; term <= (count | 0); term++) {
      probeTerms[picked] = term
      picked += bitOf(usedCells, (terms[term << 2] ?? 0) >>> CELL_SHIFT)
    }
    return picked
  }

  /** Positions the probes on their home buckets. Prefetches these and the adjacent ones. */
  private startAtHomes(count: number): void {
    const { sizes, words } = this.tables
    const tableWords = this.tables.tableWords | 0
    for (let index = 0; index < (count | 0); index++) {
      const term = probeTerms[index] ?? 0
      const high = terms[term << 2] ?? 0
      const table = high >>> SEGMENT_SHIFT
      const at = table * tableWords + homeBucketOf(sizes[table] ?? 0, homeBitsOf(high)) * BUCKET_WORDS
      probeAt[index] = at
      words[at + PREFETCH_WORD] = 0
      words[at + BUCKET_WORDS + PREFETCH_WORD] = 0
    }
  }

  private moveToNextBuckets(count: number): void {
    const { sizes } = this.tables
    const tableWords = this.tables.tableWords | 0
    for (let index = 0; index < (count | 0); index++) {
      const table = (terms[(probeTerms[index] ?? 0) << 2] ?? 0) >>> SEGMENT_SHIFT
      probeAt[index] = bucketAfter(probeAt[index] ?? 0, table * tableWords, sizes[table] ?? 0)
    }
  }

  /** Collects the hits of each probe's bucket. Keeps the probes whose bucket overflowed, and returns their number. */
  private probe(count: number): number {
    const { words } = this.tables
    const mark = markNow() | 0
    let overflowed = 0
    for (let index = 0; index < (count | 0); index++) {
      const term = probeTerms[index] ?? 0
      const at = probeAt[index] ?? 0
      const tags = words[at] ?? 0
      const low = terms[(term << 2) + 1] ?? 0
      const hits = tagHits(tags, low) & passedGuards(words[at + GUARDS] ?? 0, words[at + GUARDS + 1] ?? 0, mark)
      if (hits !== 0) this.collect(at, hits, homeBitsOf(terms[term << 2] ?? 0))
      if (!hasOverflow(tags, low)) continue
      probeTerms[overflowed] = term
      probeAt[overflowed] = at
      overflowed++
    }
    return overflowed
  }

  /** Collects the slots in `hits` that belong to the term. */
  private collect(bucket: number, hits: number, bits: number): void {
    const { words } = this.tables
    for (let slot = 0; slot < SLOTS; slot++) {
      if (((hits >>> (8 * slot + 7)) & 1) === 0 || uint16Of(words, bucket + HOMES, slot) !== bits) continue
      const value = words[bucket + VALUES + slot] ?? 0
      if (value < 0) {
        if (this.listCount === this.foundLists.length) this.foundLists = grown(this.foundLists, this.listCount)
        this.foundLists[this.listCount++] = ~value
        this.pool.prefetch(~value)
      } else {
        if (this.inlineCount === this.candidates.length) this.candidates = grown(this.candidates, this.inlineCount)
        this.candidates[this.inlineCount++] = value
        this.pool.prefetch(value)
      }
    }
  }

  /** Moves the term's postings from slots to a new list, and adds one. */
  private moveToList(high: number, low: number, program: number, guard: number): void {
    const { tables, lists } = this
    let list = lists.create()
    for (let slot = tables.first(high, low); slot >= 0; slot = tables.first(high, low)) {
      list = lists.append(list, tables.valueAt(slot), tables.guardAt(slot))
      tables.remove(high, slot)
    }
    tables.insert(high, low, 0, ~lists.append(list, program, guard))
  }

  private removeFromList(oldList: number, high: number, low: number, slot: number, program: number): void {
    const { tables, lists } = this
    const list = lists.remove(oldList, program)
    const count = lists.countOf(list)
    if (count > MAX_INLINE >> 1) {
      tables.setValue(slot, ~list)
      return
    }
    tables.remove(high, slot)
    for (let posting = 0; posting < count; posting++) {
      tables.insert(high, low, lists.guardOf(list, posting), lists.programOf(list, posting))
    }
    lists.free(list)
  }
}

// ---- helpers ----

// See `verify.ts` on copies of imports.
const terms = termEntries
const presence = eventPresence
const markNow = currentMark
const isSame = isSameByte
const uint16Of = uint16At
const bitOf = bitAt
const { SEGMENT_SHIFT, CELL_SHIFT, SLOTS, BUCKET_WORDS, PREFETCH_WORD, GUARDS, HOMES, VALUES } = layout
const { homeBitsOf, homeBucketOf, tagHits, hasOverflow, bucketAfter } = layout

/** Probes: the term, and the bucket it is at. */
const probeTerms = new Int32Array(MAX_TERMS)
const probeAt = new Int32Array(MAX_TERMS)

/** Sets the top bit of each byte whose slot's guard passes. Each argument holds two guards. */
const passedGuards = (firstTwo: number, lastTwo: number, mark: number): number =>
  (isSame(presence[firstTwo & 0xffff] ?? 0, mark) << 7) |
  (isSame(presence[firstTwo >>> 16] ?? 0, mark) << 15) |
  (isSame(presence[lastTwo & 0xffff] ?? 0, mark) << 23) |
  (isSame(presence[lastTwo >>> 16] ?? 0, mark) << 31)
