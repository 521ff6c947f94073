/** AST of a pattern in Lucene's regular-expression dialect. */

/** Code points, both ends inclusive. */
export interface CharacterRange {
  readonly from: number
  readonly to: number
}

export type RegexNode =
  /** The empty string. */
  | { readonly _tag: "Empty" }
  /** `#`: matches no string. */
  | { readonly _tag: "None" }
  /** `@`: any string. */
  | { readonly _tag: "AnyString" }
  /** `.`: any single character. */
  | { readonly _tag: "AnyCharacter" }
  | { readonly _tag: "Literal"; readonly text: string }
  | { readonly _tag: "Class"; readonly negated: boolean; readonly ranges: ReadonlyArray<CharacterRange> }
  | { readonly _tag: "Concat"; readonly parts: ReadonlyArray<RegexNode> }
  | { readonly _tag: "Union"; readonly parts: ReadonlyArray<RegexNode> }
  /** `&`: matches if every part matches. */
  | { readonly _tag: "Intersection"; readonly parts: ReadonlyArray<RegexNode> }
  /** `~`: any string that does not match. */
  | { readonly _tag: "Complement"; readonly part: RegexNode }
  /** `max` is `undefined` if there is no upper bound. */
  | { readonly _tag: "Repeat"; readonly part: RegexNode; readonly min: number; readonly max: number | undefined }
  /** `<n-m>`: an integer from `from` to `to`; `digits` is its fixed width, or 0. */
  | { readonly _tag: "Interval"; readonly from: number; readonly to: number; readonly digits: number }

/** A node and its number of automaton states. */
export interface Sized {
  readonly node: RegexNode
  readonly size: number
}

/** Matches only the empty string. Also the result of a failed parse. */
export const empty: Sized = { node: { _tag: "Empty" }, size: 0 }
