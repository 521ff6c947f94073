/**
 * Where a rule is looked up: the cheapest set of terms of which every event that meets the rule has at least one.
 * A conjunction needs any one of its clauses, so its cheapest; an alternative needs all of them.
 */
import {
  ALWAYS,
  AND,
  isNegated,
  lengthOf,
  likelihoodOf,
  NEVER,
  OR,
  PHRASE,
  spaceOf,
  TERM,
  TEST,
  tagOf,
  wordCountOf
} from "./code.ts"
import type { Frequencies } from "./Frequencies.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { GRAM_WORDS } from "./grams.ts"
import type { Predicates } from "./Predicates.ts"
import { EVERY_EVENT } from "./spaces.ts"

/** An anchor is [high, low, space, filter]; see `AnchorIndex` on the filter. */
export const ANCHOR = 4

export class Cover {
  /** The anchors chosen last, up to `count` of them. */
  anchors = new Int32Array(ANCHOR * 64)
  count = 0
  private readonly frequencies: Frequencies
  private readonly predicates: Predicates

  constructor(frequencies: Frequencies, predicates: Predicates) {
    this.frequencies = frequencies
    this.predicates = predicates
  }

  /** False if some events can meet the rule without any term that could be looked up. */
  choose(code: Int32Array, at: number): boolean {
    this.count = 0
    if (tagOf(code[at] ?? 0) === NEVER) return true
    if (this.costOf(code, at) === Number.POSITIVE_INFINITY) return false
    this.collect(code, at, 0)
    return true
  }

  /** The term of every event in place of anchors. */
  everyEvent(fingerprints: Fingerprints): void {
    fingerprints.read(EVERY_EVENT, "", 0, 0)
    this.count = 0
    this.push(fingerprints.high, fingerprints.low, EVERY_EVENT, 0)
  }

  /** How many postings' worth of looking an event costs, in events counted by `Frequencies`. */
  costOf(code: Int32Array, at: number): number {
    const word = code[at] ?? 0
    if (isNegated(word)) return Number.POSITIVE_INFINITY
    switch (tagOf(word)) {
      case TERM:
        return this.costOfTerm(code, at)
      case PHRASE:
        return this.costOfPair(code, at + 1 + 3 * this.rarestWord(code, at, -1), priors[1] ?? 0)
      case TEST:
        return this.costOfTest(code[at + 1] ?? 0)
      case AND: {
        let least = Number.POSITIVE_INFINITY
        const end = at + lengthOf(code, at)
        for (let child = at + 2; child < end; child += lengthOf(code, child)) {
          least = Math.min(least, this.costOf(code, child))
        }
        return least
      }
      case OR: {
        let sum = 0
        const end = at + lengthOf(code, at)
        for (let child = at + 2; child < end && sum < Number.POSITIVE_INFINITY; child += lengthOf(code, child)) {
          sum += this.costOf(code, child)
        }
        return sum
      }
      case ALWAYS:
        return Number.POSITIVE_INFINITY
      default:
        return 0
    }
  }

  private collect(code: Int32Array, at: number, filter: number): void {
    const word = code[at] ?? 0
    switch (tagOf(word)) {
      case TERM:
        this.push(code[at + 1] ?? 0, code[at + 2] ?? 0, spaceOf(word), filter)
        return
      case PHRASE: {
        const rarest = this.rarestWord(code, at, -1)
        const second = this.rarestWord(code, at, rarest)
        const pair = at + 1 + 3 * rarest
        this.push(code[pair] ?? 0, code[pair + 1] ?? 0, spaceOf(word), code[at + 1 + 3 * second] ?? 0)
        return
      }
      case TEST: {
        const grams = this.predicates.gramsOf(code[at + 1] ?? 0)
        const gram = this.rarestGram(grams)
        this.push(grams[gram] ?? 0, grams[gram + 1] ?? 0, grams[gram + 2] ?? 0, filter)
        return
      }
      case AND:
        this.collectCheapest(code, at, filter)
        return
      case OR: {
        const end = at + lengthOf(code, at)
        for (let child = at + 2; child < end; child += lengthOf(code, child)) this.collect(code, child, filter)
        return
      }
    }
  }

  /** The clause that is looked up, and the rarest term of the others as its filter. */
  private collectCheapest(code: Int32Array, at: number, outer: number): void {
    const end = at + lengthOf(code, at)
    let cheapest = at + 2
    let least = Number.POSITIVE_INFINITY
    for (let child = at + 2; child < end; child += lengthOf(code, child)) {
      const cost = this.costOf(code, child)
      if (cost < least) {
        cheapest = child
        least = cost
      }
    }
    let filter = outer
    least = Number.POSITIVE_INFINITY
    for (let child = at + 2; child < end; child += lengthOf(code, child)) {
      const word = code[child] ?? 0
      if (child === cheapest || isNegated(word) || tagOf(word) > PHRASE) continue
      const cost = this.costOf(code, child)
      if (cost < least) {
        filter = code[tagOf(word) === TERM ? child + 1 : child + 1 + 3 * this.rarestWord(code, child, -1)] ?? 0
        least = cost
      }
    }
    this.collect(code, cheapest, filter)
  }

  private costOfTerm(code: Int32Array, at: number): number {
    return this.costOfPair(code, at + 1, priors[likelihoodOf(code[at] ?? 0)] ?? 0)
  }

  private costOfPair(code: Int32Array, pair: number, prior: number): number {
    return prior + this.frequencies.of(code[pair] ?? 0, code[pair + 1] ?? 0)
  }

  private costOfTest(number: number): number {
    const grams = this.predicates.gramsOf(number)
    if (grams.length === 0) return Number.POSITIVE_INFINITY
    const gram = this.rarestGram(grams)
    // Cutting up the values of every event is work too.
    return 1 + this.frequencies.share(0.02) + this.frequencies.of(grams[gram] ?? 0, grams[gram + 1] ?? 0)
  }

  private rarestGram(grams: Int32Array): number {
    let rarest = 0
    let least = Number.POSITIVE_INFINITY
    for (let gram = 0; gram < grams.length; gram += GRAM_WORDS) {
      const cost = this.frequencies.of(grams[gram] ?? 0, grams[gram + 1] ?? 0)
      if (cost < least) {
        rarest = gram
        least = cost
      }
    }
    return rarest
  }

  /** Of a phrase, by number, `without` left out. */
  private rarestWord(code: Int32Array, at: number, without: number): number {
    const count = wordCountOf(code[at] ?? 0)
    let rarest = 0
    let least = Number.POSITIVE_INFINITY
    for (let index = 0; index < count; index++) {
      const cost = this.costOfPair(code, at + 1 + 3 * index, 0)
      if (index !== without && cost < least) {
        rarest = index
        least = cost
      }
    }
    return rarest
  }

  private push(high: number, low: number, space: number, filter: number): void {
    const at = this.count * ANCHOR
    if (at === this.anchors.length) {
      const longer = new Int32Array(2 * at)
      longer.set(this.anchors)
      this.anchors = longer
    }
    this.anchors[at] = high
    this.anchors[at + 1] = low
    this.anchors[at + 2] = space
    this.anchors[at + 3] = filter
    this.count++
  }
}

// ---- helpers ----

/** What a term counts for beyond what was seen of it, by how common it is likely to be. Settles ties while little was seen. */
const priors = [0.1, 0.5, 2, 20]
