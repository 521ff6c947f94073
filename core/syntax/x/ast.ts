/** The rule as it was written: one node per clause, with its place in the text. Parentheses live on as structure only. */
import type { Span } from "../issue.ts"

export type XNode = OrNode | AndNode | NotNode | Leaf

export type Leaf = KeywordNode | PhraseNode | TagNode | OperatorNode

/** Two or more alternatives, none of them an `Or`. */
export interface OrNode {
  readonly _tag: "Or"
  readonly clauses: ReadonlyArray<XNode>
  readonly span: Span
}

/** Two or more clauses, none of them an `And`. */
export interface AndNode {
  readonly _tag: "And"
  readonly clauses: ReadonlyArray<XNode>
  readonly span: Span
}

export interface NotNode {
  readonly _tag: "Not"
  readonly clause: XNode
  readonly span: Span
}

export interface KeywordNode {
  readonly _tag: "Keyword"
  readonly text: string
  readonly span: Span
}

export interface PhraseNode {
  readonly _tag: "Phrase"
  /** Without the quotes, escapes undone. */
  readonly text: string
  /** The N of `"…"~N`. */
  readonly distance: number | undefined
  readonly span: Span
}

export interface TagNode {
  readonly _tag: "Tag"
  readonly sign: "#" | "@" | "$"
  /** Without the sign. */
  readonly text: string
  readonly span: Span
}

export interface OperatorNode {
  readonly _tag: "Operator"
  /** Canonical name, never an alias. */
  readonly name: string
  /** As written, without quotes or brackets, escapes undone. */
  readonly value: string
  readonly span: Span
  /** The value without its quotes or brackets. */
  readonly valueSpan: Span
}
