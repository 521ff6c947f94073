/** From a term to the programs that wait for it. */
import { eventTrace, eventTraces, isEqual, MOST_TERMS, pairs, TRACE_BITS } from "./eventTerms.ts"
import type { Pool } from "./Pool.ts"
import { PostingLists } from "./PostingLists.ts"

/** Independent tables, by the top bits of the term: one of them grows in microseconds, where one large table would stop the world. */
const SEGMENT_BITS = 6
const SEGMENT_SHIFT = 32 - SEGMENT_BITS
const PLACE_BITS = (1 << SEGMENT_SHIFT) - 1

/** Places of a bucket. Their tags are bytes of one word: all are looked at together. */
const BUCKET = 4
const FIRST_BUCKETS = 4
/** In each byte of a word the last bit, and the bits of a tag. */
const LAST_BITS = 0x01010101
const TAG_BITS = 0x7f7f7f7f
/** Of the word of a bucket: terms whose home it or one before it is are in buckets after it. It is full then. */
const PASSED = 0x80000000 | 0

/** A posting is [program, low] or [~list, low]. */
const POSTING = 2

/** Memory that a bucket takes. */
const BUCKET_BYTES = 4 + BUCKET * (2 + 4 * POSTING)

/** Postings of one term that have places of their own; more than these share a list. */
const MOST_ALONE = 4

/**
 * A posting is the address of a program and a filter: bits of another term that the event must hold, or 0. The filter
 * spares most programs from being looked at; that an event passes one for no good reason does no harm.
 *
 * A table is buckets of places. Each term has a home bucket, and goes to the next one that is not full; the places of a
 * bucket fill from the first. What is looked at most lies closest together: the tags (7 bits that go by the term, 0 for a
 * free place), then the filters, then the postings. Terms that share the tag and their second half are taken for one: a
 * program is run to find out whether it holds, however it was come by.
 */
export class AnchorIndex {
  /** What `gather` found last, and how many postings it went through. */
  programs = new Int32Array(1_024)
  looked = 0
  private readonly lists: PostingLists
  private readonly tags: Array<Int32Array> = []
  /** Two to a word. */
  private readonly filters: Array<Int32Array> = []
  private readonly postings: Array<Int32Array> = []
  private readonly counts = new Int32Array(1 << SEGMENT_BITS)
  /** How many buckets the step before left in `openAt`. */
  private open = 0
  /** How many programs `check` found in places of their own. */
  private alone = 0
  /** Segment and place of what looks right, and for which term; then the lists among it. */
  private likely = new Int32Array(1_024)
  private likelyTerms = new Int32Array(1_024)
  bytes = 0

  constructor(pool: Pool) {
    this.lists = new PostingLists(pool)
    for (let segment = 0; segment < 1 << SEGMENT_BITS; segment++) {
      this.makeTable(segment, FIRST_BUCKETS)
    }
  }

  /**
   * Finds the programs that wait for a term of the event at hand and whose filter the event passes, and gives their
   * number. Some may be among them twice.
   */
  gather(count: number): number {
    const listed = this.check(this.search(count))
    const { lists, likely } = this
    let most = this.alone
    for (let index = 0; index < listed; index++) most += lists.countOf(likely[index] ?? 0)
    this.looked = most
    if (most > this.programs.length) this.programs = longer(this.programs, most)
    const { programs } = this
    let written = this.alone
    for (let index = 0; index < listed; index++) written = lists.gather(likely[index] ?? 0, programs, written)
    return written
  }

  add(high: number, low: number, program: number, filter: number): void {
    const number = high >>> SEGMENT_SHIFT
    let alone = 0
    for (let place = this.first(high, low); place >= 0; place = this.next(high, low, place)) {
      const postings = this.postings[number] ?? nothing
      const held = postings[place * POSTING] ?? 0
      if (held < 0) {
        postings[place * POSTING] = ~this.lists.append(~held, program, filter)
        return
      }
      alone++
    }
    if (alone < MOST_ALONE) this.insert(high, low, filter, program)
    else this.share(high, low, program, filter)
  }

  remove(high: number, low: number, program: number): void {
    const number = high >>> SEGMENT_SHIFT
    for (let place = this.first(high, low); place >= 0; place = this.next(high, low, place)) {
      const held = this.postings[number]?.[place * POSTING] ?? 0
      if (held === program) {
        this.empty(number, place)
        return
      }
      if (held < 0) {
        this.removeFrom(~held, high, low, place, program)
        return
      }
    }
  }

  /**
   * Writes to `likely` where the places are that look like a term of the event with a filter that it passes, and gives
   * their number: looks at the home buckets of all terms, then at the buckets after those that were passed by, and so on.
   * Loops that fetch do hardly anything else, so that what is far away in memory is fetched side by side, and none of
   * them has a branch.
   */
  private search(count: number): number {
    this.fetchHomes(count)
    let passed = this.look(count)
    let found = this.sift(0)
    while (passed > 0) {
      this.fetchNext(passed)
      passed = this.look(passed)
      found = this.sift(found)
    }
    return found
  }

  private fetchHomes(count: number): void {
    const { tags } = this
    for (let index = 0; index < count; index++) {
      const table = tags[(terms[2 * index + 2] ?? 0) >>> SEGMENT_SHIFT] ?? nothing
      const bucket = homeOf(table, terms[2 * index + 3] ?? 0)
      seenTerms[index] = index + 1
      seenBuckets[index] = bucket
      seenTags[index] = table[bucket] ?? 0
    }
  }

  /** Of the buckets after those that `look` left. */
  private fetchNext(count: number): void {
    const { tags } = this
    for (let index = 0; index < count; index++) {
      const table = tags[(terms[2 * (seenTerms[index] ?? 0)] ?? 0) >>> SEGMENT_SHIFT] ?? nothing
      const bucket = bucketAfter(table, seenBuckets[index] ?? 0)
      seenBuckets[index] = bucket
      seenTags[index] = table[bucket] ?? 0
    }
  }

  /** Picks the buckets that seem to have what is looked for, leaves those that were passed by, and gives their number. */
  private look(count: number): number {
    let open = 0
    let passed = 0
    for (let index = 0; index < count; index++) {
      const term = seenTerms[index] ?? 0
      const bucket = seenBuckets[index] ?? 0
      const word = seenTags[index] ?? 0
      const high = terms[2 * term] ?? 0
      const hits = hitsIn(word, high)
      openTerms[open] = term
      openAt[open] = (high & ~PLACE_BITS) | bucket
      openHits[open] = hits
      open += isAny(hits)
      seenTerms[passed] = term
      seenBuckets[passed] = bucket
      passed += word >>> 31
    }
    this.open = open
    return passed
  }

  /** What the open buckets have. */
  private sift(before: number): number {
    const { open } = this
    this.fetchFilters(open)
    const most = before + open * BUCKET
    if (most > this.likely.length) {
      this.likely = longer(this.likely, most)
      this.likelyTerms = longer(this.likelyTerms, most)
    }
    const { likely, likelyTerms } = this
    const trace = traceNow()
    let found = before
    for (let index = 0; index < open; index++) {
      const at = openAt[index] ?? 0
      const place = (at & ~PLACE_BITS) | ((at & PLACE_BITS) * BUCKET)
      const hits = openHits[index] ?? 0
      const term = openTerms[index] ?? 0
      const firstTwo = openFilters[2 * index] ?? 0
      const lastTwo = openFilters[2 * index + 1] ?? 0
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

  private fetchFilters(count: number): void {
    const { filters } = this
    for (let index = 0; index < count; index++) {
      const at = openAt[index] ?? 0
      const table = filters[at >>> SEGMENT_SHIFT] ?? nothing
      openFilters[2 * index] = table[2 * (at & PLACE_BITS)] ?? 0
      openFilters[2 * index + 1] = table[2 * (at & PLACE_BITS) + 1] ?? 0
    }
  }

  /** Of the places in `likely`: writes the programs there that wait for the term, and to `likely` the lists instead. */
  private check(count: number): number {
    if (count > this.programs.length) this.programs = longer(this.programs, count)
    const { likely, likelyTerms, programs } = this
    let alone = 0
    let listed = 0
    for (let index = 0; index < count; index++) {
      const postings = this.postings[(likely[index] ?? 0) >>> SEGMENT_SHIFT] ?? nothing
      const at = ((likely[index] ?? 0) & PLACE_BITS) * POSTING
      const isOther = isAny((postings[at + 1] ?? 0) ^ (terms[2 * (likelyTerms[index] ?? 0) + 1] ?? 0))
      const held = postings[at] ?? 0
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
    const number = high >>> SEGMENT_SHIFT
    let list = this.lists.make()
    for (let place = this.first(high, low); place >= 0; place = this.first(high, low)) {
      const held = this.postings[number]?.[place * POSTING] ?? 0
      list = this.lists.append(list, held, filterAt(this.filters[number] ?? nothing, place))
      this.empty(number, place)
    }
    this.insert(high, low, 0, ~this.lists.append(list, program, filter))
  }

  private removeFrom(listed: number, high: number, low: number, place: number, program: number): void {
    const number = high >>> SEGMENT_SHIFT
    const list = this.lists.remove(listed, program)
    const count = this.lists.countOf(list)
    if (count > MOST_ALONE >> 1) {
      const postings = this.postings[number] ?? nothing
      postings[place * POSTING] = ~list
      return
    }
    this.empty(number, place)
    for (let posting = 0; posting < count; posting++) {
      this.insert(high, low, this.lists.filterOf(list, posting), this.lists.programOf(list, posting))
    }
    this.lists.giveBack(list)
  }

  /** The first place of the term in its segment, and the one after a place; -1 if there is none. */
  private first(high: number, low: number): number {
    return this.placeFrom(homeOf(this.tags[high >>> SEGMENT_SHIFT] ?? nothing, low) * BUCKET, high, low)
  }

  private next(high: number, low: number, place: number): number {
    return this.placeFrom(placeAfter(this.tags[high >>> SEGMENT_SHIFT] ?? nothing, place), high, low)
  }

  private placeFrom(start: number, high: number, low: number): number {
    const tags = this.tags[high >>> SEGMENT_SHIFT] ?? nothing
    const postings = this.postings[high >>> SEGMENT_SHIFT] ?? nothing
    for (let place = start; tagAt(tags, place) !== 0; place = placeAfter(tags, place)) {
      if (tagAt(tags, place) === tagOf(high) && postings[place * POSTING + 1] === low) return place
    }
    return -1
  }

  private insert(high: number, low: number, filter: number, held: number): void {
    const number = high >>> SEGMENT_SHIFT
    const count = (this.counts[number] ?? 0) + 1
    this.counts[number] = count
    const buckets = this.tags[number]?.length ?? 0
    // One in two at most, three in eight after that: buckets that are passed by cost time, places that are free memory.
    if (count * 2 > buckets * BUCKET) this.resize(number, buckets + Math.ceil(buckets / 3))
    this.put(number, tagOf(high), low, filter, held)
  }

  private put(number: number, tag: number, low: number, filter: number, held: number): void {
    const tags = this.tags[number] ?? nothing
    const filters = this.filters[number] ?? nothing
    const postings = this.postings[number] ?? nothing
    let place = homeOf(tags, low) * BUCKET
    while (tagAt(tags, place) !== 0) {
      if (place % BUCKET === BUCKET - 1) tags[place >> 2] = (tags[place >> 2] ?? 0) | PASSED
      place = placeAfter(tags, place)
    }
    setTag(tags, place, tag)
    setFilter(filters, place, filter & TRACE_BITS)
    postings[place * POSTING] = held
    postings[place * POSTING + 1] = low
  }

  /** Those behind the free place that would rather be there move up, so that no search ends too early. */
  private empty(number: number, emptied: number): void {
    const tags = this.tags[number] ?? nothing
    const filters = this.filters[number] ?? nothing
    const postings = this.postings[number] ?? nothing
    const places = tags.length * BUCKET
    let hole = emptied
    for (let next = placeAfter(tags, hole); tagAt(tags, next) !== 0; next = placeAfter(tags, next)) {
      const home = homeOf(tags, postings[next * POSTING + 1] ?? 0) * BUCKET
      if ((next - home + places) % places >= (next - hole + places) % places) {
        setTag(tags, hole, tagAt(tags, next))
        setFilter(filters, hole, filterAt(filters, next))
        postings.copyWithin(hole * POSTING, next * POSTING, (next + 1) * POSTING)
        hole = next
      }
    }
    setTag(tags, hole, 0)
    tags[hole >> 2] = (tags[hole >> 2] ?? 0) & ~PASSED
    const count = (this.counts[number] ?? 0) - 1
    this.counts[number] = count
    if (tags.length > FIRST_BUCKETS && count * 5 < places) {
      this.resize(number, Math.max(FIRST_BUCKETS, tags.length >> 1))
    }
  }

  private resize(number: number, buckets: number): void {
    const tags = this.tags[number] ?? nothing
    const filters = this.filters[number] ?? nothing
    const postings = this.postings[number] ?? nothing
    this.bytes -= tags.length * BUCKET_BYTES
    this.makeTable(number, buckets)
    for (let place = 0; place < tags.length * BUCKET; place++) {
      const tag = tagAt(tags, place)
      if (tag === 0) continue
      const at = place * POSTING
      this.put(number, tag, postings[at + 1] ?? 0, filterAt(filters, place), postings[at] ?? 0)
    }
  }

  private makeTable(number: number, buckets: number): void {
    this.bytes += buckets * BUCKET_BYTES
    this.tags[number] = new Int32Array(buckets)
    this.filters[number] = new Int32Array(buckets * 2)
    this.postings[number] = new Int32Array(buckets * BUCKET * POSTING)
  }
}

// ---- helpers ----

const nothing = new Int32Array(0)

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not.
const terms = pairs
const traces = eventTraces
const traceNow = eventTrace
const isSame = isEqual

/** Buckets that are looked at: for which term, their number, and their tags. */
const seenTerms = new Int32Array(MOST_TERMS)
const seenBuckets = new Int32Array(MOST_TERMS)
const seenTags = new Int32Array(MOST_TERMS)
/** Those that seem to have what is looked for: for which term, their segment and number, in which places, and filters. */
const openTerms = new Int32Array(MOST_TERMS)
const openAt = new Int32Array(MOST_TERMS)
const openHits = new Int32Array(MOST_TERMS)
const openFilters = new Int32Array(2 * MOST_TERMS)

const longer = (array: Int32Array, least: number): Int32Array<ArrayBuffer> => {
  const copy = new Int32Array(2 * least)
  copy.set(array)
  return copy
}

/** Never 0. */
const tagOf = (high: number): number => {
  const bits = (high >>> 14) & 0x7f
  return bits + ((bits - 1) >>> 31)
}

const tagAt = (tags: Int32Array, place: number): number => ((tags[place >> 2] ?? 0) >>> ((place & 3) << 3)) & 0x7f

const setTag = (tags: Int32Array, place: number, tag: number): void => {
  const shift = (place & 3) << 3
  tags[place >> 2] = ((tags[place >> 2] ?? 0) & ~(0x7f << shift)) | (tag << shift)
}

const filterAt = (filters: Int32Array, place: number): number =>
  ((filters[place >> 1] ?? 0) >>> ((place & 1) << 4)) & 0xffff

const setFilter = (filters: Int32Array, place: number, filter: number): void => {
  const shift = (place & 1) << 4
  filters[place >> 1] = ((filters[place >> 1] ?? 0) & ~(0xffff << shift)) | (filter << shift)
}

/** The top bit of each byte that is the tag of the term. */
const hitsIn = (word: number, high: number): number => {
  const difference = (word & TAG_BITS) ^ Math.imul(tagOf(high), LAST_BITS)
  return ~(difference + TAG_BITS) & ~TAG_BITS
}

/** 0 for 0, 1 for any other number. */
const isAny = (number: number): number => (number | -number) >>> 31

/** Not by a mask: tables grow by a third, a power of two would leave more places empty. Of up to 65,536 buckets. */
const homeOf = (tags: Int32Array, low: number): number => Math.imul(low >>> 16, tags.length) >>> 16

const placeAfter = (tags: Int32Array, place: number): number => (place + 1 < tags.length * BUCKET ? place + 1 : 0)

const bucketAfter = (tags: Int32Array, bucket: number): number => (bucket + 1 < tags.length ? bucket + 1 : 0)
