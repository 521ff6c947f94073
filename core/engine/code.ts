/**
 * Compiles a rule to flat code: the expression tree as 32-bit words, in prefix order, with negation pushed down to the
 * leaves. The code is evaluated by `verify.ts`, and `AnchorSelector` selects anchors from it.
 *
 *   term       [tag, high, low]
 *   phrase     [tag, (high, low, offset)...]      words at fixed offsets, in any order
 *   test       [tag, number]                      a predicate
 *   and, or    [tag], children                    the tag holds the length of the whole node, in words
 *   always     [tag]
 *   never      [tag]
 */
import type { Expression, Field, Predicate } from "../syntax/expression/expression.ts"
import { isShort } from "../syntax/words/phrase.ts"
import { groupAt, writeWord } from "../syntax/words/wordBuffer.ts"
import type { Fingerprints } from "./fingerprints.ts"
import { type Prefix, prefixOf } from "./grams.ts"
import { grown } from "./grown.ts"
import type { Predicates } from "./Predicates.ts"
import { EVERY_EVENT, GEO_EVENT, isPrefixSpace, prefixCell, prefixSpace, type Spaces } from "./spaces.ts"

const TERM = 0
const PHRASE = 1
const TEST = 2
const AND = 3
const OR = 4
const ALWAYS = 5
const NEVER = 6

const tagOf = (word: number): number => word & 7
const isNegated = (word: number): boolean => (word & NEGATED) !== 0
/** For terms and phrases. */
const spaceOf = (word: number): number => (word >>> 4) & 0xff
/** Prior guess of how common the term is, from 0 (rare) to 3, for terms not seen yet. */
const likelihoodOf = (word: number): number => (word >>> 12) & 3
/** For phrases. */
const wordCountOf = (word: number): number => word >>> 16
/** Whether the rule is anchored on this leaf: the term, the first word of the phrase, or a gram of the test. */
const isAnchor = (word: number): boolean => (word & ANCHORED) !== 0
const withAnchor = (word: number): number => word | ANCHORED
const withoutAnchor = (word: number): number => word & ~ANCHORED
/** For prefix terms: see `prefixCell`. */
const prefixCellOf = (word: number): number => word >>> 16
/** For tests that are anchors: the gram's index. */
const gramOf = (word: number): number => word >>> 16
const withGramAnchor = (word: number, gram: number): number => (word & 0xffff) | ANCHORED | (gram << 16)

/** Length of the node at `at`, in words. */
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

/** Like `lengthOf`, but steps into `and` and `or` nodes, to visit every leaf. */
const leafStep = (code: Int32Array, at: number): number => {
  const tag = tagOf(code[at] ?? 0)
  return tag === AND || tag === OR ? 1 : lengthOf(code, at)
}

/** One object, for hot code to destructure into constants of its own module: see `verify.ts`. */
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
  withAnchor,
  withoutAnchor,
  prefixCellOf,
  gramOf,
  withGramAnchor,
  lengthOf,
  leafStep
} as const

export class Compiler {
  /** The last compiled code, up to `length`. */
  code = new Int32Array(256)
  length = 0
  /** Lengths of its prefix terms, in bytes. */
  prefixLengths: Array<number> = []
  private readonly fingerprints: Fingerprints
  private readonly predicates: Predicates
  private readonly spaces: Spaces
  private readonly coarseFields: ReadonlySet<Field>

  constructor(options: {
    readonly fingerprints: Fingerprints
    readonly predicates: Predicates
    readonly spaces: Spaces
    readonly coarseFields: ReadonlySet<Field>
  }) {
    this.fingerprints = options.fingerprints
    this.predicates = options.predicates
    this.spaces = options.spaces
    this.coarseFields = options.coarseFields
  }

  compile(expression: Expression): void {
    this.length = 0
    this.prefixLengths = []
    const outcome = this.emit(expression, false)
    if (outcome !== "node") this.push(outcome === "always" ? ALWAYS : NEVER)
  }

  /** For a rule without an anchor: adds the term that every event has. */
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
        return this.emitGroup(negated ? OR : AND, expression.clauses, negated)
      case "Or":
        return this.emitGroup(negated ? AND : OR, expression.clauses, negated)
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

  /** Folds constant children. A node with one child becomes that child. */
  private emitGroup(tag: typeof AND | typeof OR, clauses: ReadonlyArray<Expression>, negated: boolean): Outcome {
    const start = this.length
    this.push(tag)
    const decisive: Outcome = tag === AND ? "never" : "always"
    let children = 0
    for (const clause of this.ordered(tag, clauses)) {
      const child = this.length
      const outcome = this.emit(clause, negated)
      if (outcome === decisive) {
        this.rollBack(start)
        return decisive
      }
      if (outcome === "node") children++
      // Flattens a child of the same kind, so that more terms can be anchors or guards.
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

  /** Cheapest check first. In an `and`, then the longest word: it is the most likely to be absent, which ends the check. */
  private ordered(tag: typeof AND | typeof OR, clauses: ReadonlyArray<Expression>): ReadonlyArray<Expression> {
    if (clauses.length < 2) return clauses
    const { coarseFields } = this
    return clauses.toSorted(
      (one, other) =>
        costOf(one, coarseFields) - costOf(other, coarseFields) ||
        (tag === AND ? firstWordLength(other) - firstWordLength(one) : 0)
    )
  }

  private emitPredicate(predicate: Predicate, negated: boolean): Outcome {
    if (predicate._tag === "Equals") {
      this.emitTerm(
        this.spaces.keywordSpace(predicate.field),
        predicate.value,
        this.coarseFields.has(predicate.field) ? 3 : 0,
        negated
      )
      return "node"
    }
    const prefix = prefixOf(predicate, this.spaces)
    if (prefix?.isExact) {
      const { space, text, likelihood } = prefixTerm(prefix)
      this.emitTerm(space, text, likelihood, negated)
      return "node"
    }
    if (predicate._tag !== "Phrase" || !isShort(predicate)) {
      this.emitTest(predicate, negated)
      return "node"
    }
    const { words } = predicate
    const [first] = words
    const space = this.spaces.textSpace(predicate.field)
    if (words.length === 1 && first !== undefined) {
      this.emitTerm(space, first, likelihoodOfWord(first), negated)
    } else {
      this.emitPhrase(predicate, space, negated)
    }
    return "node"
  }

  private emitTerm(space: number, text: string, likelihood: number, negated: boolean): void {
    this.fingerprints.hashText(space, text)
    const cell = isPrefixSpace(space) ? this.addPrefix(text) : 0
    this.push(TERM | (negated ? NEGATED : 0) | (space << 4) | (likelihood << 12) | (cell << 16))
    this.push(this.fingerprints.high)
    this.push(this.fingerprints.low)
  }

  /** Returns the prefix's cell. */
  private addPrefix(text: string): number {
    const end = writeWord(text)
    this.prefixLengths.push(end)
    return prefixCell(groupAt(0, end))
  }

  private emitPhrase({ words, offsets }: Predicate & { _tag: "Phrase" }, space: number, negated: boolean): void {
    this.push(PHRASE | (negated ? NEGATED : 0) | (space << 4) | (words.length << 16))
    words.forEach((word, index) => {
      this.fingerprints.hashText(space, word)
      this.push(this.fingerprints.high)
      this.push(this.fingerprints.low)
      this.push(offsets?.[index] ?? index)
    })
  }

  /** Adds the terms that the predicate requires: they can be anchors, and they rule out most events cheaply. */
  private emitTest(predicate: Predicate, negated: boolean): void {
    const start = this.length
    const required = negated ? [] : requiredTerms(predicate, this.spaces)
    if (required.length > 0) this.push(AND)
    for (const { space, text, likelihood } of required) this.emitTerm(space, text, likelihood, false)
    this.push(TEST | (negated ? NEGATED : 0))
    this.push(this.predicates.acquire(predicate))
    if (required.length > 0) this.close(start)
  }

  /** Writes the node's length into its tag. */
  private close(start: number): void {
    this.code[start] = (this.code[start] ?? 0) | ((this.length - start) << 16)
  }

  private push(word: number): void {
    if (this.length === this.code.length) this.code = grown(this.code, this.length)
    this.code[this.length++] = word
  }

  /** Drops the node and releases its predicates. */
  private rollBack(start: number): void {
    for (let at = start + 1; at < this.length; at += leafStep(this.code, at)) {
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

interface RequiredTerm {
  readonly space: number
  readonly text: string
  readonly likelihood: number
}

const requiredTerms = (predicate: Predicate, spaces: Spaces): ReadonlyArray<RequiredTerm> => {
  switch (predicate._tag) {
    case "Phrase": {
      const space = spaces.textSpace(predicate.field)
      return [...new Set(predicate.words)].map((text) => ({ space, text, likelihood: likelihoodOfWord(text) }))
    }
    case "Radius":
    case "Box":
      return [{ space: GEO_EVENT, text: "", likelihood: 3 }]
    default: {
      const start = prefixOf(predicate, spaces)
      return start === undefined ? [] : [prefixTerm(start)]
    }
  }
}

const prefixTerm = ({ space, text }: Prefix): RequiredTerm => ({
  space: prefixSpace(space),
  text,
  likelihood: text.length < 3 ? 3 : 2
})

const likelihoodOfWord = (word: string): number => (word.length >= 7 ? 0 : word.length >= 4 ? 1 : 2)

const firstWordLength = (expression: Expression): number =>
  expression._tag === "Phrase" ? (expression.words[0]?.length ?? 0) : 0

const costOf = (expression: Expression, coarseFields: ReadonlySet<Field>): number => {
  switch (expression._tag) {
    case "Not":
      return costOf(expression.clause, coarseFields) + 1
    case "Phrase":
      return expression.words.length > 1 ? 2_000 : 1_000
    case "Equals":
      return coarseFields.has(expression.field) ? 1_004 : 1_001
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
