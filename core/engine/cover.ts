/**
 * Where a rule is looked up: the cheapest set of terms of which every event that meets the rule has at least one.
 * A conjunction needs any one of its clauses, so its cheapest; an alternative needs all of them.
 */
import { layout } from "./code.ts"
import type { Frequencies } from "./Frequencies.ts"
import { GRAM_WORDS } from "./grams.ts"
import { longer } from "./longer.ts"
import type { Predicates } from "./Predicates.ts"
import { isStartSpace } from "./spaces.ts"

const { TERM, PHRASE, TEST, AND, OR, ALWAYS } = layout
const { tagOf, isNegated, spaceOf, likelihoodOf, wordCountOf, gramOf, lengthOf, asAnchor, asGramAnchor } = layout

/** An anchor is [high, low, filter]; see `AnchorIndex` on the filter. */
export const ANCHOR = 3

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

  /** Whether every event that meets the rule has a term to look it up by. */
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

  /** Marks the leaves that the rule is to hang on. It must have anchors. */
  choose(words: Int32Array, at: number): void {
    this.count = 0
    this.collect(words, at, 0)
  }

  /**
   * Events that lead to the rule, out of those counted by `Frequencies`. Infinite if it has no anchors. Costs of `most` and
   * more are told apart no further.
   */
  costOf(words: Int32Array, at: number, most: number): number {
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
          least = Math.min(least, this.costOf(words, child, Math.min(least, most)))
        }
        return least
      }
      case OR: {
        let sum = 0
        const end = at + lengthOf(words, at)
        for (let child = at + 1; child < end && sum < most; child += lengthOf(words, child)) {
          sum += this.costOf(words, child, most - sum)
        }
        return sum
      }
      case ALWAYS:
        return Number.POSITIVE_INFINITY
      default:
        return 0
    }
  }

  /** Of a leaf that the rule hangs on: a phrase and a test may hang on a part that is not the cheapest any more. */
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

  private collect(words: Int32Array, at: number, filter: number): void {
    const word = words[at] ?? 0
    switch (tagOf(word)) {
      case TERM:
        words[at] = asAnchor(word)
        this.push(words[at + 1] ?? 0, words[at + 2] ?? 0, filter)
        return
      case PHRASE:
        words[at] = asAnchor(word)
        swapWords(words, at, 0, this.rarestWord(words, at, 0))
        this.push(words[at + 1] ?? 0, words[at + 2] ?? 0, words[at + 1 + 3 * this.rarestWord(words, at, 1)] ?? 0)
        return
      case TEST: {
        const grams = this.predicates.gramsOf(words[at + 1] ?? 0)
        const gram = this.rarestGram(grams)
        words[at] = asGramAnchor(word, gram)
        this.push(grams[gram] ?? 0, grams[gram + 1] ?? 0, filter)
        return
      }
      case AND:
        this.collectCheapest(words, at, filter)
        return
      case OR: {
        const end = at + lengthOf(words, at)
        for (let child = at + 1; child < end; child += lengthOf(words, child)) this.collect(words, child, filter)
        return
      }
    }
  }

  /** The clause that is looked up, and the rarest term of the others as its filter. */
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
    let filter = outer
    least = Number.POSITIVE_INFINITY
    for (let child = at + 1; child < end; child += lengthOf(words, child)) {
      const word = words[child] ?? 0
      if (child === cheapest || isNegated(word) || tagOf(word) > PHRASE) continue
      const cost = this.costOf(words, child, least)
      if (cost < least) {
        filter = words[tagOf(word) === TERM ? child + 1 : child + 1 + 3 * this.rarestWord(words, child, 0)] ?? 0
        least = cost
      }
    }
    this.collect(words, cheapest, filter)
  }

  private costOfTerm(words: Int32Array, at: number): number {
    const word = words[at] ?? 0
    // Many words have the same start, and it is counted only since some rule asked for it.
    const unseen = isStartSpace(spaceOf(word)) ? this.frequencies.share(0.005) : 0
    return unseen + this.costOfPair(words, at + 1, priors[likelihoodOf(word)] ?? 0)
  }

  private costOfPair(words: Int32Array, pair: number, prior: number): number {
    return prior + this.frequencies.of(words[pair] ?? 0, words[pair + 1] ?? 0)
  }

  private costOfTest(number: number): number {
    const grams = this.predicates.gramsOf(number)
    if (grams.length === 0) return Number.POSITIVE_INFINITY
    return this.costOfGram(grams, this.rarestGram(grams))
  }

  private costOfGram(grams: Int32Array, gram: number): number {
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

  /** Of a phrase, by number, beginning with the word `from`. */
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

  private push(high: number, low: number, filter: number): void {
    const at = this.count * ANCHOR
    if (at === this.anchors.length) this.anchors = longer(this.anchors, at)
    this.anchors[at] = high
    this.anchors[at + 1] = low
    this.anchors[at + 2] = filter
    this.count++
  }
}

// ---- helpers ----

/** What a term counts for beyond what was seen of it, by how common it is likely to be. Settles ties while little was seen. */
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
