/** The tree of a pattern in Lucene's regular-expression dialect. */

/** Characters are code points; ranges include both ends. */
export interface CharacterRange {
  readonly from: number
  readonly to: number
}

export type RegexNode =
  /** The empty string. */
  | { readonly _tag: "Empty" }
  /** `#`: no string at all. */
  | { readonly _tag: "None" }
  /** `@`: any string. */
  | { readonly _tag: "AnyString" }
  /** `.`: any one character. */
  | { readonly _tag: "AnyCharacter" }
  | { readonly _tag: "Literal"; readonly text: string }
  | { readonly _tag: "Class"; readonly negated: boolean; readonly ranges: ReadonlyArray<CharacterRange> }
  | { readonly _tag: "Concat"; readonly parts: ReadonlyArray<RegexNode> }
  | { readonly _tag: "Union"; readonly parts: ReadonlyArray<RegexNode> }
  /** `&`: fits every part. */
  | { readonly _tag: "Intersection"; readonly parts: ReadonlyArray<RegexNode> }
  /** `~`: any string that does not fit. */
  | { readonly _tag: "Complement"; readonly part: RegexNode }
  /** `max` is `undefined` when there is no upper bound. */
  | { readonly _tag: "Repeat"; readonly part: RegexNode; readonly min: number; readonly max: number | undefined }
  /** `<n-m>`: a whole number between the two; `digits` is its fixed width, 0 when the width is free. */
  | { readonly _tag: "Interval"; readonly from: number; readonly to: number; readonly digits: number }

/** A node with the number of automaton states that it unfolds to. */
export interface Sized {
  readonly node: RegexNode
  readonly size: number
}

/** What fits the empty string alone, or could not be read. */
export const nothing: Sized = { node: { _tag: "Empty" }, size: 0 }
