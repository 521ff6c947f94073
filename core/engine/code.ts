/**
 * Rules as flat code: the expression tree written out in words of 32 bits, parent before children, with every "not"
 * pushed down to the leaves. What is run, and what a rule's anchors are chosen from.
 *
 *   term       [tag, high, low]
 *   phrase     [tag, (high, low, offset)...]      words at fixed distances, in any order
 *   test       [tag, number]                      a predicate
 *   and, or    [tag], children                    the tag says how many words the whole node has
 *   always     [tag]
 *   never      [tag]
 */
import type { Expression, Predicate } from "../syntax/expression/expression.ts"
import { groupAt, writeWord } from "../syntax/words/wordRow.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { type Start, startOf } from "./grams.ts"
import { longer } from "./longer.ts"
import type { Predicates } from "./Predicates.ts"
import { EVERY_EVENT, isStartSpace, keywordSpace, PLACED_EVENT, startCell, startSpace, textSpace } from "./spaces.ts"

const TERM = 0
const PHRASE = 1
const TEST = 2
const AND = 3
const OR = 4
const ALWAYS = 5
const NEVER = 6

const tagOf = (word: number): number => word & 7
const isNegated = (word: number): boolean => (word & NEGATED) !== 0
/** Of terms and phrases. */
const spaceOf = (word: number): number => (word >>> 4) & 0xff
/** How common a term is likely to be while nothing is known of it, from 0 to 3. */
const likelihoodOf = (word: number): number => (word >>> 12) & 3
/** Of a phrase. */
const wordCountOf = (word: number): number => word >>> 16
/** Whether the rule hangs on this leaf: on the term, on the first word of the phrase, on a gram of the test. */
const isAnchor = (word: number): boolean => (word & ANCHORED) !== 0
const asAnchor = (word: number): number => word | ANCHORED
const asNoAnchor = (word: number): number => word & ~ANCHORED
/** Of a term that is a start: see `startCell`. */
const cellOf = (word: number): number => word >>> 16
/** Of a test that is an anchor. */
const gramOf = (word: number): number => word >>> 16
const asGramAnchor = (word: number, gram: number): number => (word & 0xffff) | ANCHORED | (gram << 16)

/** Words of the node that begins here. */
const lengthOf = (code: Int32Array, at: number): number => {
  const word = code[at] ?? 0
  switch (tagOf(word)) {
    case TERM:
      return 3
    case PHRASE:
      return 1 + 3 * wordCountOf(word)
    case TEST:
      return 2
    case AND:
    case OR:
      return word >>> 16
    default:
      return 1
  }
}

/** Like `lengthOf`, but goes into a node in place of over it: steps through all the leaves. */
const leafLengthOf = (code: Int32Array, at: number): number => {
  const tag = tagOf(code[at] ?? 0)
  return tag === AND || tag === OR ? 1 : lengthOf(code, at)
}

/** What is exported or imported by itself is looked up anew each time it is used: to be taken apart into constants of one's own. */
export const layout = {
  TERM,
  PHRASE,
  TEST,
  AND,
  OR,
  ALWAYS,
  tagOf,
  isNegated,
  spaceOf,
  likelihoodOf,
  wordCountOf,
  isAnchor,
  asAnchor,
  asNoAnchor,
  cellOf,
  gramOf,
  asGramAnchor,
  lengthOf,
  leafLengthOf
} as const

export class Compiler {
  /** The code compiled last, up to `length`. */
  code = new Int32Array(256)
  length = 0
  /** Of its terms that are starts, in bytes. */
  startLengths: Array<number> = []
  private readonly fingerprints: Fingerprints
  private readonly predicates: Predicates

  constructor(fingerprints: Fingerprints, predicates: Predicates) {
    this.fingerprints = fingerprints
    this.predicates = predicates
  }

  compile(expression: Expression): void {
    this.length = 0
    this.startLengths = []
    const outcome = this.emit(expression, false)
    if (outcome !== "node") this.push(outcome === "always" ? ALWAYS : NEVER)
  }

  /** For a rule that no term can be looked up for: adds the term that every event has. */
  requireEveryEvent(): void {
    const { length } = this
    const rest = this.code.slice(0, length)
    this.length = 0
    this.push(AND)
    this.emitTerm(EVERY_EVENT, "", 3, false)
    for (const word of rest) this.push(word)
    this.close(0)
  }

  private emit(expression: Expression, negated: boolean): Outcome {
    switch (expression._tag) {
      case "And":
        return this.emitAll(negated ? OR : AND, expression.clauses, negated)
      case "Or":
        return this.emitAll(negated ? AND : OR, expression.clauses, negated)
      case "Not":
        return this.emit(expression.clause, !negated)
      case "Everything":
        return negated ? "never" : "always"
      case "Nothing":
        return negated ? "always" : "never"
      default:
        return this.emitPredicate(expression, negated)
    }
  }

  /** A constant child decides the node or drops out of it; a node with one child is that child. */
  private emitAll(tag: typeof AND | typeof OR, clauses: ReadonlyArray<Expression>, negated: boolean): Outcome {
    const start = this.length
    this.push(tag)
    const decisive: Outcome = tag === AND ? "never" : "always"
    let children = 0
    for (const clause of clauses.length > 1 ? clauses.toSorted(tag === AND ? rarestFirst : cheapestFirst) : clauses) {
      const child = this.length
      const outcome = this.emit(clause, negated)
      if (outcome === decisive) {
        this.takeBack(start)
        return decisive
      }
      if (outcome === "node") children++
      // A node of the same kind gives its children to this one: more of them can be looked up by, or filter.
      if (outcome === "node" && tagOf(this.code[child] ?? 0) === tag) {
        this.code.copyWithin(child, child + 1, this.length)
        this.length--
        children++
      }
    }
    if (children === 0) {
      this.length = start
      return tag === AND ? "always" : "never"
    }
    if (children === 1) {
      this.code.copyWithin(start, start + 1, this.length)
      this.length--
    } else {
      this.close(start)
    }
    return "node"
  }

  private emitPredicate(predicate: Predicate, negated: boolean): Outcome {
    if (predicate._tag === "Equals") {
      this.emitTerm(keywordSpace(predicate.field), predicate.value, likelihoods[predicate.field] ?? 0, negated)
      return "node"
    }
    const start = startOf(predicate)
    if (start?.isAll) {
      const { space, text, likelihood } = startTerm(start)
      this.emitTerm(space, text, likelihood, negated)
      return "node"
    }
    if (predicate._tag !== "Phrase" || !isPlain(predicate)) {
      this.emitTest(predicate, negated)
      return "node"
    }
    const { words } = predicate
    const [first] = words
    const space = textSpace(predicate.field)
    if (words.length === 1 && first !== undefined) {
      this.emitTerm(space, first, likelihoodOfWord(first), negated)
    } else {
      this.emitPhrase(predicate, space, negated)
    }
    return "node"
  }

  private emitTerm(space: number, text: string, likelihood: number, negated: boolean): void {
    this.fingerprints.readText(space, text)
    const cell = isStartSpace(space) ? this.readStart(text) : 0
    this.push(TERM | (negated ? NEGATED : 0) | (space << 4) | (likelihood << 12) | (cell << 16))
    this.push(this.fingerprints.high)
    this.push(this.fingerprints.low)
  }

  /** Gives its cell. */
  private readStart(text: string): number {
    const end = writeWord(text)
    this.startLengths.push(end)
    return startCell(groupAt(0, end))
  }

  private emitPhrase({ words, offsets }: Predicate & { _tag: "Phrase" }, space: number, negated: boolean): void {
    this.push(PHRASE | (negated ? NEGATED : 0) | (space << 4) | (words.length << 16))
    words.forEach((word, index) => {
      this.fingerprints.readText(space, word)
      this.push(this.fingerprints.high)
      this.push(this.fingerprints.low)
      this.push(offsets?.[index] ?? index)
    })
  }

  /** With the terms that an event needs in order to pass: they can be looked up, and spare most events the test. */
  private emitTest(predicate: Predicate, negated: boolean): void {
    const start = this.length
    const needed = negated ? [] : termsNeededBy(predicate)
    if (needed.length > 0) this.push(AND)
    for (const { space, text, likelihood } of needed) this.emitTerm(space, text, likelihood, false)
    this.push(TEST | (negated ? NEGATED : 0))
    this.push(this.predicates.use(predicate))
    if (needed.length > 0) this.close(start)
  }

  /** The node that begins here is complete. */
  private close(start: number): void {
    this.code[start] = (this.code[start] ?? 0) | ((this.length - start) << 16)
  }

  private push(word: number): void {
    if (this.length === this.code.length) this.code = longer(this.code, this.length)
    this.code[this.length++] = word
  }

  /** Forgets the node that begins here, and that its tests were asked for. */
  private takeBack(start: number): void {
    for (let at = start + 1; at < this.length; at += leafLengthOf(this.code, at)) {
      const word = this.code[at] ?? 0
      if (tagOf(word) === TEST) this.predicates.release(this.code[at + 1] ?? 0)
    }
    this.length = start
  }
}

// ---- helpers ----

type Outcome = "node" | "always" | "never"

const NEGATED = 8
const ANCHORED = 1 << 14

/** Phrases of greater length would keep the values of events so far apart that a long event runs out of places. */
const MOST_REACH = 32

/** One word, or words at fixed distances that are not too far apart. */
const isPlain = ({ words, offsets, slop }: Predicate & { _tag: "Phrase" }): boolean =>
  words.length === 1 || (slop === 0 && Math.max(words.length, ...(offsets ?? [])) <= MOST_REACH)

interface Needed {
  readonly space: number
  readonly text: string
  readonly likelihood: number
}

const termsNeededBy = (predicate: Predicate): ReadonlyArray<Needed> => {
  switch (predicate._tag) {
    case "Phrase": {
      const space = textSpace(predicate.field)
      return [...new Set(predicate.words)].map((text) => ({ space, text, likelihood: likelihoodOfWord(text) }))
    }
    case "Radius":
    case "Box":
      return [{ space: PLACED_EVENT, text: "", likelihood: 3 }]
    default: {
      const start = startOf(predicate)
      return start === undefined ? [] : [startTerm(start)]
    }
  }
}

const startTerm = ({ space, text }: Start): Needed => ({
  space: startSpace(space),
  text,
  likelihood: text.length < 3 ? 3 : 2
})

const likelihoodOfWord = (word: string): number => (word.length >= 7 ? 0 : word.length >= 4 ? 1 : 2)

/** Fields of few values. */
const likelihoods: { readonly [field: string]: number } = {
  "x.lang": 3,
  "x.source": 3,
  "x.place_country": 3,
  "x.is": 3,
  "x.has": 3,
  "firehose.page_category": 3,
  "firehose.page_type": 3,
  "firehose.language": 3
}

/** Terms first, then what costs more to find out. */
const cheapestFirst = (one: Expression, other: Expression): number => effort(one) - effort(other)

/** The same, with the longest word before all: an event most likely lacks it, and the rest need not be found out. */
const rarestFirst = (one: Expression, other: Expression): number =>
  cheapestFirst(one, other) || lettersOf(other) - lettersOf(one)

const lettersOf = (expression: Expression): number =>
  expression._tag === "Phrase" ? (expression.words[0]?.length ?? 0) : 0

const effort = (expression: Expression): number => {
  switch (expression._tag) {
    case "Not":
      return effort(expression.clause) + 1
    case "Phrase":
      return expression.words.length > 1 ? 2_000 : 1_000
    case "Equals":
      return 1_001 + (likelihoods[expression.field] ?? 0)
    case "And":
    case "Or":
      return 3_000
    case "Wildcard":
    case "Contains":
    case "Fuzzy":
    case "Regex":
      return 5_000
    default:
      return 4_000
  }
}
