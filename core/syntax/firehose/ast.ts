/** AST of a Firehose rule. Every node has its span in the text. */
import type { WildcardSign } from "../expression/expression.ts"
import type { Span } from "../issues/issue.ts"

/** Lucene has no operator precedence: each clause of a group is required, optional or prohibited. */
export type Occur = "must" | "should" | "must_not"

/** How the operators were written. Trees that differ only in this are equivalent. */
export interface Spelling {
  readonly conjunction: "and" | "or" | undefined
  readonly modifier: "not" | "plus" | undefined
  /** Empty, before the clause, if there is no conjunction. */
  readonly conjunctionSpan: Span
}

export interface Clause {
  readonly occur: Occur
  readonly query: Query
  readonly spelling: Spelling
  /** Includes the modifier, not the conjunction. */
  readonly span: Span
}

export interface FieldRef {
  readonly name: string
  readonly span: Span
}

interface Leaf {
  readonly field: FieldRef | undefined
  /** Span of the value, without the field and the `~` or `^` suffix. */
  readonly value: Span
  readonly span: Span
}

/** A parenthesized group, or the whole rule. */
export interface Group {
  readonly _tag: "Group"
  readonly field: FieldRef | undefined
  readonly clauses: ReadonlyArray<Clause>
  /** Clauses of stop words or punctuation only: text analysis leaves no words in them, so they have no meaning. */
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
  /** `undefined` for an open end. */
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
