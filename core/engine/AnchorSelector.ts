/** Selects a rule's anchors: the cheapest set of terms such that every matching event has one of them. */
import { layout } from "./code.ts"
import type { Frequencies } from "./Frequencies.ts"
import { GRAM_WORDS } from "./grams.ts"
import { grown } from "./grown.ts"
import type { Predicates } from "./Predicates.ts"
import { isPrefixSpace } from "./spaces.ts"

const { TERM, PHRASE, TEST, AND, OR, ALWAYS } = layout
const { tagOf, isNegated, spaceOf, likelihoodOf, wordCountOf, gramOf, lengthOf, withAnchor, withGramAnchor } = layout

/** An anchor is [high, low, guard]. See `AnchorIndex` on guards. */
export const ANCHOR_WORDS = 3

export class AnchorSelector {
  /** The last selected anchors, up to `count`. */
  anchors = new Int32Array(ANCHOR_WORDS * 64)
  count = 0
  private readonly frequencies: Frequencies
  private readonly predicates: Predicates

  constructor(frequencies: Frequencies, predicates: Predicates) {
    this.frequencies = frequencies
    this.predicates = predicates
  }

  /** Whether the rule can be indexed. */
  hasAnchors(words: Int32Array, at: number): boolean {
    const word = words[at] ?? 0
    if (isNegated(word)) return false
    const end = at + lengthOf(words, at)
    switch (tagOf(word)) {
      case TEST:
        return this.predicates.gramsOf(words[at + 1] ?? 0).length > 0
      case AND:
        for (let child = at + 1; child < end; child += lengthOf(words, child)) {
          if (this.hasAnchors(words, child)) return true
        }
        return false
      case OR:
        for (let child = at + 1; child < end; child += lengthOf(words, child)) {
          if (!this.hasAnchors(words, child)) return false
        }
        return true
      default:
        return tagOf(word) !== ALWAYS
    }
  }

  /** Selects anchors and marks their leaves in the code. Requires `hasAnchors`. */
  select(words: Int32Array, at: number): void {
    this.count = 0
    this.collect(words, at, 0)
  }

  /**
   * Expected number of events, out of those counted by `Frequencies`, for which the rule is a candidate. Infinite
   * without anchors. The result is only exact below `limit`.
   */
  costOf(words: Int32Array, at: number, limit: number): number {
    const word = words[at] ?? 0
    if (isNegated(word)) return Number.POSITIVE_INFINITY
    switch (tagOf(word)) {
      case TERM:
        return this.costOfTerm(words, at)
      case PHRASE:
        return this.costOfPair(words, at + 1 + 3 * this.rarestWord(words, at, 0), priors[1] ?? 0)
      case TEST:
        return this.costOfTest(words[at + 1] ?? 0)
      case AND: {
        let least = Number.POSITIVE_INFINITY
        const end = at + lengthOf(words, at)
        for (let child = at + 1; child < end; child += lengthOf(words, child)) {
          least = Math.min(least, this.costOf(words, child, Math.min(least, limit)))
        }
        return least
      }
      case OR: {
        let sum = 0
        const end = at + lengthOf(words, at)
        for (let child = at + 1; child < end && sum < limit; child += lengthOf(words, child)) {
          sum += this.costOf(words, child, limit - sum)
        }
        return sum
      }
      case ALWAYS:
        return Number.POSITIVE_INFINITY
      default:
        return 0
    }
  }

  /** Cost of the current anchor. A phrase or test may be anchored on a part that is no longer its cheapest. */
  costOfAnchor(words: Int32Array, at: number): number {
    const word = words[at] ?? 0
    switch (tagOf(word)) {
      case PHRASE:
        return this.costOfPair(words, at + 1, priors[1] ?? 0)
      case TEST:
        return this.costOfGram(this.predicates.gramsOf(words[at + 1] ?? 0), gramOf(word))
      default:
        return this.costOfTerm(words, at)
    }
  }

  private collect(words: Int32Array, at: number, guard: number): void {
    const word = words[at] ?? 0
    switch (tagOf(word)) {
      case TERM:
        words[at] = withAnchor(word)
        this.push(words[at + 1] ?? 0, words[at + 2] ?? 0, guard)
        return
      case PHRASE:
        words[at] = withAnchor(word)
        swapWords(words, at, 0, this.rarestWord(words, at, 0))
        this.push(words[at + 1] ?? 0, words[at + 2] ?? 0, words[at + 1 + 3 * this.rarestWord(words, at, 1)] ?? 0)
        return
      case TEST: {
        const grams = this.predicates.gramsOf(words[at + 1] ?? 0)
        const gram = this.rarestGram(grams)
        words[at] = withGramAnchor(word, gram)
        this.push(grams[gram] ?? 0, grams[gram + 1] ?? 0, guard)
        return
      }
      case AND:
        this.collectCheapest(words, at, guard)
        return
      case OR: {
        const end = at + lengthOf(words, at)
        for (let child = at + 1; child < end; child += lengthOf(words, child)) this.collect(words, child, guard)
        return
      }
    }
  }

  /** Anchors on the cheapest clause, with the rarest term of the other clauses as guard. */
  private collectCheapest(words: Int32Array, at: number, outer: number): void {
    const end = at + lengthOf(words, at)
    let cheapest = at + 1
    let least = Number.POSITIVE_INFINITY
    for (let child = at + 1; child < end; child += lengthOf(words, child)) {
      const cost = this.costOf(words, child, least)
      if (cost < least) {
        cheapest = child
        least = cost
      }
    }
    let guard = outer
    least = Number.POSITIVE_INFINITY
    for (let child = at + 1; child < end; child += lengthOf(words, child)) {
      const word = words[child] ?? 0
      if (child === cheapest || isNegated(word) || tagOf(word) > PHRASE) continue
      const cost = this.costOf(words, child, least)
      if (cost < least) {
        guard = words[tagOf(word) === TERM ? child + 1 : child + 1 + 3 * this.rarestWord(words, child, 0)] ?? 0
        least = cost
      }
    }
    this.collect(words, cheapest, guard)
  }

  private costOfTerm(words: Int32Array, at: number): number {
    const word = words[at] ?? 0
    // Prefixes match many words, and are only counted once a rule uses them.
    const unseen = isPrefixSpace(spaceOf(word)) ? this.frequencies.expectedCount(0.005) : 0
    return unseen + this.costOfPair(words, at + 1, priors[likelihoodOf(word)] ?? 0)
  }

  private costOfPair(words: Int32Array, pair: number, prior: number): number {
    return prior + this.frequencies.countOf(words[pair] ?? 0, words[pair + 1] ?? 0)
  }

  private costOfTest(number: number): number {
    const grams = this.predicates.gramsOf(number)
    if (grams.length === 0) return Number.POSITIVE_INFINITY
    return this.costOfGram(grams, this.rarestGram(grams))
  }

  private costOfGram(grams: Int32Array, gram: number): number {
    // Extracting grams from every event has a cost too.
    return 1 + this.frequencies.expectedCount(0.02) + this.frequencies.countOf(grams[gram] ?? 0, grams[gram + 1] ?? 0)
  }

  private rarestGram(grams: Int32Array): number {
    let rarest = 0
    let least = Number.POSITIVE_INFINITY
    for (let gram = 0; gram < grams.length; gram += GRAM_WORDS) {
      const cost = this.frequencies.countOf(grams[gram] ?? 0, grams[gram + 1] ?? 0)
      if (cost < least) {
        rarest = gram
        least = cost
      }
    }
    return rarest
  }

  /** Index of the phrase's rarest word at or after `from`. */
  private rarestWord(words: Int32Array, at: number, from: number): number {
    const count = wordCountOf(words[at] ?? 0)
    let rarest = from
    let least = Number.POSITIVE_INFINITY
    for (let index = from; index < count; index++) {
      const cost = this.costOfPair(words, at + 1 + 3 * index, 0)
      if (cost < least) {
        rarest = index
        least = cost
      }
    }
    return rarest
  }

  private push(high: number, low: number, guard: number): void {
    const at = this.count * ANCHOR_WORDS
    if (at === this.anchors.length) this.anchors = grown(this.anchors, at)
    this.anchors[at] = high
    this.anchors[at + 1] = low
    this.anchors[at + 2] = guard
    this.count++
  }
}

// ---- helpers ----

/** Added to the observed count, by likelihood. Breaks ties while few events were observed. */
const priors = [0.1, 0.5, 2, 20]

const swapWords = (words: Int32Array, at: number, one: number, other: number): void => {
  for (let part = 0; part < 3; part++) {
    const first = at + 1 + 3 * one + part
    const second = at + 1 + 3 * other + part
    const kept = words[first] ?? 0
    words[first] = words[second] ?? 0
    words[second] = kept
  }
}
