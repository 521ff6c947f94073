/**
 * The meaning of a rule, independent of its language: a Boolean tree over the fields of an event. The parsers lower to
 * it; the translator, the explainer and the engine read nothing else.
 */
import type { Span } from "../issues/issue.ts"

/** A field of an event, named by its platform: `x.text`. */
export type Field = string

/** What a pattern is compared with: each word of a text field, or each whole value of a keyword field. */
export type PatternTarget = "words" | "values"

/** One end of a range. */
export interface Bound<A> {
  readonly value: A
  readonly inclusive: boolean
}

/** A test on one event. `span`: its range in the rule's text. */
export type Predicate =
  /** The words in this order, within `slop` position moves. A single word is a phrase too. */
  | {
      readonly _tag: "Phrase"
      readonly field: Field
      readonly words: ReadonlyArray<string>
      /** Position of each word relative to the first, if stop words left gaps. Default: 0, 1, 2 and so on. */
      readonly offsets?: ReadonlyArray<number>
      readonly slop: number
      readonly span: Span
    }
  /** A token, or a whole keyword value, matches a pattern of literals, `?` (one character) and `*` (any string). */
  | {
      readonly _tag: "Wildcard"
      readonly field: Field
      readonly over: PatternTarget
      readonly parts: ReadonlyArray<string | WildcardSign>
      readonly span: Span
    }
  /** A token, or a whole keyword value, within `distance` edits of the word. */
  | {
      readonly _tag: "Fuzzy"
      readonly field: Field
      readonly over: PatternTarget
      readonly word: string
      readonly distance: 0 | 1 | 2
      readonly span: Span
    }
  /** A token or keyword value matches the whole pattern, in Lucene's regular-expression dialect. */
  | {
      readonly _tag: "Regex"
      readonly field: Field
      readonly over: PatternTarget
      readonly pattern: string
      readonly span: Span
    }
  | { readonly _tag: "Equals"; readonly field: Field; readonly value: string; readonly span: Span }
  /** A keyword value contains the text. */
  | { readonly _tag: "Contains"; readonly field: Field; readonly text: string; readonly span: Span }
  | {
      readonly _tag: "NumberRange"
      readonly field: Field
      readonly from: Bound<number> | undefined
      readonly to: Bound<number> | undefined
      readonly span: Span
    }
  /** Keywords are ordered by UTF-16 code units. */
  | {
      readonly _tag: "KeywordRange"
      readonly field: Field
      readonly from: Bound<string> | undefined
      readonly to: Bound<string> | undefined
      readonly span: Span
    }
  | {
      readonly _tag: "Radius"
      readonly longitude: number
      readonly latitude: number
      readonly kilometres: number
      readonly span: Span
    }
  | {
      readonly _tag: "Box"
      readonly west: number
      readonly south: number
      readonly east: number
      readonly north: number
      readonly span: Span
    }
  /** A stable share of all events, by a hash of the event's id. */
  | { readonly _tag: "Sample"; readonly percent: number; readonly span: Span }
  /** Published at most `hours` before it was matched. */
  | { readonly _tag: "Recent"; readonly hours: number; readonly span: Span }

export interface WildcardSign {
  readonly sign: "?" | "*"
}

export type Expression =
  | Predicate
  | { readonly _tag: "And"; readonly clauses: ReadonlyArray<Expression>; readonly span: Span }
  | { readonly _tag: "Or"; readonly clauses: ReadonlyArray<Expression>; readonly span: Span }
  | { readonly _tag: "Not"; readonly clause: Expression; readonly span: Span }
  /** Constants: an empty conjunction, and an empty disjunction. */
  | { readonly _tag: "Everything"; readonly span: Span }
  | { readonly _tag: "Nothing"; readonly span: Span }
