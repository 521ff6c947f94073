/** Where the lexer stands in the text: what both the straight road and the detours around mistakes need. */
import { isInvisible, isOddSpace, isSpace } from "./characters.ts"
import type { Edit, Report } from "./report.ts"

export type TokenKind = "open" | "close" | "minus" | "or" | "word" | "phrase" | "operator" | "tag" | "end"

/** How the value of an operator was written. */
export type ValueForm = "none" | "bare" | "quoted" | "bracket"

export interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  /** Place of an operator's colon, else -1. */
  readonly colon: number
  /** Content of a phrase, a tag or a value, without its signs; of a word the whole. */
  readonly valueStart: number
  readonly valueEnd: number
  readonly form: ValueForm
  /** A word or bare value that holds more than ASCII letters and digits. */
  readonly plain: boolean
  /** Place of a further colon inside a bare value, else -1. */
  readonly innerColon: number
  /** The N of a proximity, -1 without one. */
  readonly distance: number
}

/** Deletes a stretch together with the white space that would be left over. */
export const removal = (text: string, start: number, end: number): Edit => {
  let from = start
  let to = end
  while (to < text.length && isSpace(text.charCodeAt(to))) {
    to++
  }
  if (to === text.length || text[to] === ")") {
    while (from > 0 && isSpace(text.charCodeAt(from - 1))) {
      from--
    }
  }
  return { start: from, end: to, text: "" }
}

/** Quotes that users and word processors put where X wants a straight double one. */
export const curlyQuotes = "“”„‟«»″＂"
export const singleQuotes = "'‘’‚`′"

export class Scanner {
  readonly text: string
  readonly report: Report
  readonly tokens: Array<Token> = []
  at = 0
  /** Square or curly brackets that stand for parentheses and still wait for their partner: each with its mend. */
  readonly brackets: Array<{ readonly start: number; readonly edits: Array<Edit> }> = []
  /** Whether a search for a closing single quote or bracket has failed: a later one will too. */
  noSingleQuote = false
  noBracket = false

  constructor(text: string, report: Report) {
    this.text = text
    this.report = report
  }

  push(
    kind: TokenKind,
    start: number,
    end: number,
    valueStart = start,
    valueEnd = end,
    colon = -1,
    form: ValueForm = "none",
    plain = false,
    innerColon = -1,
    distance = -1
  ): void {
    this.tokens.push({ kind, start, end, colon, valueStart, valueEnd, form, plain, innerColon, distance })
  }

  /** White space, parentheses, quotes, and a bracket that closes one opened before. */
  endsWord(code: number): boolean {
    if (code < 128) {
      return (
        isSpace(code) ||
        code === 40 ||
        code === 41 ||
        code === 34 ||
        (this.brackets.length > 0 && (code === 93 || code === 125))
      )
    }
    return isOddSpace(code)
  }

  bareEnd(from: number): number {
    let end = from
    while (end < this.text.length && !this.endsWord(this.text.charCodeAt(end))) {
      end++
    }
    return end
  }

  /** Place of the quote that closes the one at `start`, or -1. A backslash before a quote makes it part of the text. */
  closingQuote(start: number): number {
    const { text } = this
    let close = text.indexOf('"', start + 1)
    while (close > start + 1 && text.charCodeAt(close - 1) === 92) {
      close = text.indexOf('"', close + 1)
    }
    return close
  }

  noticeInvisible(code: number, at: number): void {
    if (code > 127 && isInvisible(code)) {
      this.report.warn(
        "invisible-character",
        at,
        at + 1,
        `The invisible character ${codePointName(code)} is part of this word`,
        {
          mend: { message: "Remove the invisible character", edits: [{ start: at, end: at + 1, text: "" }] }
        }
      )
    }
  }
}

/** A code point as Unicode writes it. */
export const codePointName = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`

export const isDigit = (code: number): boolean => code >= 48 && code <= 57
