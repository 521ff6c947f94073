/** The surface tree of a Firehose rule: what was written, clause by clause, each with its place in the text. */
import type { WildcardSign } from "../expression/expression.ts"
import type { Span } from "../issue.ts"

/** Lucene has no precedence: each clause of a level ends up required, optional or prohibited. */
export type Occur = "must" | "should" | "must_not"

/** How the clause was joined. Spelling only: two trees that differ in nothing else mean the same. */
export interface Spelling {
  readonly conjunction: "and" | "or" | undefined
  readonly modifier: "not" | "plus" | undefined
  /** Place of the conjunction; empty, before the clause, when there is none. */
  readonly joint: Span
}

export interface Clause {
  readonly occur: Occur
  readonly query: Query
  readonly spelling: Spelling
  /** With its modifier, without its conjunction. */
  readonly span: Span
}

export interface FieldRef {
  readonly name: string
  readonly span: Span
}

interface Leaf {
  readonly field: FieldRef | undefined
  /** Place of the value, without the field before it and the `~` or `^` after it. */
  readonly value: Span
  readonly span: Span
}

/** Clauses on one level, with or without parentheses around. */
export interface Group {
  readonly _tag: "Group"
  readonly field: FieldRef | undefined
  readonly clauses: ReadonlyArray<Clause>
  /** Clauses that hold nothing but stop words or punctuation: the analysis leaves nothing of them. Spelling only. */
  readonly dropped: ReadonlyArray<Clause>
  readonly span: Span
}

export interface Term extends Leaf {
  readonly _tag: "Term"
  readonly text: string
}

export interface Phrase extends Leaf {
  readonly _tag: "Phrase"
  readonly text: string
  readonly slop: number
}

export interface Wildcard extends Leaf {
  readonly _tag: "Wildcard"
  readonly parts: ReadonlyArray<string | WildcardSign>
}

export interface Fuzzy extends Leaf {
  readonly _tag: "Fuzzy"
  readonly text: string
  readonly distance: 0 | 1 | 2
}

export interface Regex extends Leaf {
  readonly _tag: "Regex"
  /** Between the slashes, as written. */
  readonly pattern: string
}

export interface RangeEnd {
  readonly text: string
  readonly span: Span
}

export interface Range extends Leaf {
  readonly _tag: "Range"
  /** `undefined` is an open end. */
  readonly from: RangeEnd | undefined
  readonly to: RangeEnd | undefined
  readonly includesFrom: boolean
  readonly includesTo: boolean
}

/** `*:*` */
export interface Everything extends Leaf {
  readonly _tag: "Everything"
}

export interface Recent extends Leaf {
  readonly _tag: "Recent"
  readonly amount: number
  readonly unit: "h" | "d" | "mo"
}

export type Query = Group | Term | Phrase | Wildcard | Fuzzy | Regex | Range | Everything | Recent
