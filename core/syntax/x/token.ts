/** A token of an X rule. Offsets are in the rule text. */

export type TokenKind = "open" | "close" | "minus" | "or" | "word" | "phrase" | "operator" | "tag" | "end"

/** How the value of an operator is written. */
export type ValueForm = "none" | "bare" | "quoted" | "bracket"

export interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  /** Offset of an operator's colon, else -1. */
  readonly colon: number
  /** Content of a phrase, tag or value, without quotes, brackets and signs; the whole of a word. */
  readonly valueStart: number
  readonly valueEnd: number
  readonly form: ValueForm
  /** A word or bare value of ASCII letters and digits only. */
  readonly plain: boolean
  /** Offset of the first colon inside a bare value, else -1. */
  readonly innerColon: number
  /** The N of `"…"~N`, else -1. */
  readonly distance: number
}
