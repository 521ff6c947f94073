/** From a term to the programs that wait for it. */
import { eventTrace, eventTraces, isEqual, MOST_TERMS, pairs } from "./eventTerms.ts"
import { filterIn, setFilterIn } from "./filters.ts"
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

/** Words of a bucket: its tags, then two filters to a word. */
const WORDS = 3

/** Memory that a bucket takes. */
const BUCKET_BYTES = 4 * (WORDS + BUCKET * POSTING)

/** Postings of one term that have places of their own; more than these share a list. */
const MOST_ALONE = 4

/**
 * A posting is the address of a program and a filter: bits of another term that the event must hold, or 0. The filter
 * spares most programs from being looked at; that an event passes one for no good reason does no harm.
 *
 * A table is buckets of places. Each term has a home bucket, and goes to the next one that is not full; the places of a
 * bucket fill from the first. What is looked at most lies closest together: the tags (7 bits that go by the term, 0 for a
 * free place) and the filters of a bucket, with the postings elsewhere. Terms that share the tag and their second half are taken for one: a
 * program is run to find out whether it holds, however it was come by.
 */
export class AnchorIndex {
  /** What `gather` found last, and how many postings it went through. */
  programs = new Int32Array(1_024)
  looked = 0
  bytes = 0
  private readonly lists: PostingLists
  private readonly buckets: Array<Int32Array> = []
  private readonly postings: Array<Int32Array> = []
  /** How many buckets a segment has, and how many places are taken. */
  private readonly sizes = new Int32Array(1 << SEGMENT_BITS)
  private readonly counts = new Int32Array(1 << SEGMENT_BITS)
  /** How many buckets the step before left in `openAt`. */
  private open = 0
  /** How many programs `check` found in places of their own. */
  private alone = 0
  /** Segment and place of what looks right, and for which term; then what is there; then the lists among it. */
  private likely = new Int32Array(1_024)
  private likelyTerms = new Int32Array(1_024)
  private likelyLows = new Int32Array(1_024)

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
    const { lists, alone, likely } = this
    this.looked = alone + lists.open(likely, listed)
    if (this.looked > this.programs.length) this.programs = longer(this.programs, this.looked)
    return lists.gather(likely, listed, this.programs, alone)
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
    this.goHome(count)
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

  private goHome(count: number): void {
    const { sizes } = this
    for (let index = 0; index < (count | 0); index++) {
      const high = terms[(index << 1) + 2] ?? 0
      seenTerms[index] = index + 1
      seenAt[index] = (high & ~PLACE_BITS) | homeOf(sizes[high >>> SEGMENT_SHIFT] ?? 0, terms[(index << 1) + 3] ?? 0)
    }
  }

  /** To the buckets after those that `look` left. */
  private goOn(count: number): void {
    const { sizes } = this
    for (let index = 0; index < (count | 0); index++) {
      const at = seenAt[index] ?? 0
      seenAt[index] = (at & ~PLACE_BITS) | after(at & PLACE_BITS, sizes[at >>> SEGMENT_SHIFT] ?? 0)
    }
  }

  private fetchTags(count: number): void {
    const { buckets } = this
    for (let index = 0; index < (count | 0); index++) {
      const at = seenAt[index] ?? 0
      seenTags[index] = (buckets[at >>> SEGMENT_SHIFT] ?? nothing)[(at & PLACE_BITS) * WORDS] ?? 0
    }
  }

  /** Picks the buckets that seem to have what is looked for, leaves those that were passed by, and gives their number. */
  private look(count: number): number {
    let open = 0
    let passed = 0
    for (let index = 0; index < (count | 0); index++) {
      const term = seenTerms[index] ?? 0
      const at = seenAt[index] ?? 0
      const word = seenTags[index] ?? 0
      const hits = hitsIn(word, terms[term << 1] ?? 0)
      openTerms[open] = term
      openAt[open] = at
      openHits[open] = hits
      open += isAny(hits)
      seenTerms[passed] = term
      seenAt[passed] = at
      passed += word >>> 31
    }
    this.open = open
    return passed
  }

  /** What the open buckets have. */
  private sift(before: number): number {
    const { buckets } = this
    const open = this.open | 0
    const most = before + open * BUCKET
    if (most > this.likely.length) {
      this.likely = longer(this.likely, most)
      this.likelyTerms = longer(this.likelyTerms, most)
      this.likelyLows = longer(this.likelyLows, most)
    }
    const { likely, likelyTerms } = this
    const trace = traceNow() | 0
    let found = before | 0
    for (let index = 0; index < open; index++) {
      const at = openAt[index] ?? 0
      const table = buckets[at >>> SEGMENT_SHIFT] ?? nothing
      const firstTwo = table[(at & PLACE_BITS) * WORDS + 1] ?? 0
      const lastTwo = table[(at & PLACE_BITS) * WORDS + 2] ?? 0
      const place = (at & ~PLACE_BITS) | ((at & PLACE_BITS) * BUCKET)
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
    this.fetchPostings(count)
    const { likely, likelyTerms, likelyLows, programs } = this
    let alone = 0
    let listed = 0
    for (let index = 0; index < (count | 0); index++) {
      const isOther = isAny((likelyLows[index] ?? 0) ^ (terms[((likelyTerms[index] ?? 0) << 1) + 1] ?? 0))
      const held = likely[index] ?? 0
      programs[alone] = held
      likely[listed] = ~held
      alone += (~held >>> 31) & ~isOther
      listed += (held >>> 31) & ~isOther
    }
    this.alone = alone
    return listed
  }

  private fetchPostings(count: number): void {
    const { postings, likely, likelyLows } = this
    for (let index = 0; index < (count | 0); index++) {
      const at = likely[index] ?? 0
      const table = postings[at >>> SEGMENT_SHIFT] ?? nothing
      likely[index] = table[(at & PLACE_BITS) * POSTING] ?? 0
      likelyLows[index] = table[(at & PLACE_BITS) * POSTING + 1] ?? 0
    }
  }

  /** All that have places of their own, and one more, into one list. */
  private share(high: number, low: number, program: number, filter: number): void {
    const number = high >>> SEGMENT_SHIFT
    let list = this.lists.make()
    for (let place = this.first(high, low); place >= 0; place = this.first(high, low)) {
      const held = this.postings[number]?.[place * POSTING] ?? 0
      list = this.lists.append(list, held, filterAt(this.buckets[number] ?? nothing, place))
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
    return this.placeFrom(homeOf(this.sizes[high >>> SEGMENT_SHIFT] ?? 0, low) * BUCKET, high, low)
  }

  private next(high: number, low: number, place: number): number {
    return this.placeFrom(after(place, this.places(high >>> SEGMENT_SHIFT)), high, low)
  }

  private placeFrom(start: number, high: number, low: number): number {
    const number = high >>> SEGMENT_SHIFT
    const table = this.buckets[number] ?? nothing
    const postings = this.postings[number] ?? nothing
    const places = this.places(number)
    for (let place = start; tagAt(table, place) !== 0; place = after(place, places)) {
      if (tagAt(table, place) === tagOf(high) && postings[place * POSTING + 1] === low) return place
    }
    return -1
  }

  private places(number: number): number {
    return (this.sizes[number] ?? 0) * BUCKET
  }

  private insert(high: number, low: number, filter: number, held: number): void {
    const number = high >>> SEGMENT_SHIFT
    const count = (this.counts[number] ?? 0) + 1
    this.counts[number] = count
    const size = this.sizes[number] ?? 0
    // One in two at most, three in eight after that: buckets that are passed by cost time, places that are free memory.
    if (count * 2 > size * BUCKET) this.resize(number, size + Math.ceil(size / 3))
    this.put(number, tagOf(high), low, filter, held)
  }

  private put(number: number, tag: number, low: number, filter: number, held: number): void {
    const table = this.buckets[number] ?? nothing
    const postings = this.postings[number] ?? nothing
    const places = this.places(number)
    let place = homeOf(this.sizes[number] ?? 0, low) * BUCKET
    while (tagAt(table, place) !== 0) {
      if (place % BUCKET === BUCKET - 1) table[tagsOf(place)] = (table[tagsOf(place)] ?? 0) | PASSED
      place = after(place, places)
    }
    setTag(table, place, tag)
    setFilter(table, place, filter)
    postings[place * POSTING] = held
    postings[place * POSTING + 1] = low
  }

  /** Those behind the free place that would rather be there move up, so that no search ends too early. */
  private empty(number: number, emptied: number): void {
    const table = this.buckets[number] ?? nothing
    const postings = this.postings[number] ?? nothing
    const size = this.sizes[number] ?? 0
    const places = this.places(number)
    let hole = emptied
    for (let next = after(hole, places); tagAt(table, next) !== 0; next = after(next, places)) {
      const home = homeOf(size, postings[next * POSTING + 1] ?? 0) * BUCKET
      if ((next - home + places) % places >= (next - hole + places) % places) {
        setTag(table, hole, tagAt(table, next))
        setFilter(table, hole, filterAt(table, next))
        postings.copyWithin(hole * POSTING, next * POSTING, (next + 1) * POSTING)
        hole = next
      }
    }
    setTag(table, hole, 0)
    table[tagsOf(hole)] = (table[tagsOf(hole)] ?? 0) & ~PASSED
    const count = (this.counts[number] ?? 0) - 1
    this.counts[number] = count
    if (size > FIRST_BUCKETS && count * 5 < places) this.resize(number, Math.max(FIRST_BUCKETS, size >> 1))
  }

  private resize(number: number, size: number): void {
    const table = this.buckets[number] ?? nothing
    const postings = this.postings[number] ?? nothing
    const places = this.places(number)
    this.bytes -= (this.sizes[number] ?? 0) * BUCKET_BYTES
    this.makeTable(number, size)
    for (let place = 0; place < places; place++) {
      const tag = tagAt(table, place)
      if (tag === 0) continue
      const at = place * POSTING
      this.put(number, tag, postings[at + 1] ?? 0, filterAt(table, place), postings[at] ?? 0)
    }
  }

  private makeTable(number: number, size: number): void {
    this.bytes += size * BUCKET_BYTES
    this.sizes[number] = size
    this.buckets[number] = new Int32Array(size * WORDS)
    this.postings[number] = new Int32Array(size * BUCKET * POSTING)
  }
}

// ---- helpers ----

const nothing = new Int32Array(0)

// What is imported or exported is looked up anew each time it is used; a constant of the module's own is not.
const terms = pairs
const traces = eventTraces
const traceNow = eventTrace
const isSame = isEqual

/** Buckets that are looked at: for which term, their segment and number, and their tags. */
const seenTerms = new Int32Array(MOST_TERMS)
const seenAt = new Int32Array(MOST_TERMS)
const seenTags = new Int32Array(MOST_TERMS)
/** Those that seem to have what is looked for: for which term, their segment and number, and in which places. */
const openTerms = new Int32Array(MOST_TERMS)
const openAt = new Int32Array(MOST_TERMS)
const openHits = new Int32Array(MOST_TERMS)

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

/** Where in its table the tags of a place are. */
const tagsOf = (place: number): number => (place >> 2) * WORDS

const tagAt = (table: Int32Array, place: number): number => ((table[tagsOf(place)] ?? 0) >>> ((place & 3) << 3)) & 0x7f

const setTag = (table: Int32Array, place: number, tag: number): void => {
  const shift = (place & 3) << 3
  table[tagsOf(place)] = ((table[tagsOf(place)] ?? 0) & ~(0x7f << shift)) | (tag << shift)
}

const filterAt = (table: Int32Array, place: number): number => filterIn(table, tagsOf(place) + 1, place & 3)

const setFilter = (table: Int32Array, place: number, filter: number): void => {
  setFilterIn(table, tagsOf(place) + 1, place & 3, filter)
}

/** The top bit of each byte that is the tag of the term. */
const hitsIn = (word: number, high: number): number => {
  const difference = (word & TAG_BITS) ^ Math.imul(tagOf(high), LAST_BITS)
  return ~(difference + TAG_BITS) & ~TAG_BITS
}

/** 0 for 0, 1 for any other number. */
const isAny = (number: number): number => (number | -number) >>> 31

/** Not by a mask: tables grow by a third, a power of two would leave more places empty. Of up to 65,536 buckets. */
const homeOf = (size: number, low: number): number => Math.imul(low >>> 16, size) >>> 16

/** Of places or buckets, of which there are so many. */
const after = (one: number, count: number): number => (one + 1 < count ? one + 1 : 0)
