/** The AST of a rule: one node per clause, with its span. Parentheses are kept only as structure. */
import type { Span } from "../issues/issue.ts"
import type { Operator } from "./operators.ts"

export type XNode = OrNode | AndNode | NotNode | Leaf

export type Leaf = KeywordNode | PhraseNode | TagNode | OperatorNode

/** Two or more clauses; no `Or` directly inside. */
export interface OrNode {
  readonly _tag: "Or"
  readonly clauses: ReadonlyArray<XNode>
  readonly span: Span
}

/** Two or more clauses; no `And` directly inside. */
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
  /** Without the quotes, unescaped. */
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
  readonly operator: Operator
  /** Canonical name, never an alias. */
  readonly name: string
  /** As written, without quotes or brackets, unescaped. */
  readonly value: string
  readonly span: Span
  /** Excludes quotes and brackets. */
  readonly valueSpan: Span
}

export const isLeaf = (node: XNode): node is Leaf => node._tag !== "And" && node._tag !== "Or" && node._tag !== "Not"
