/** Splits a rule into tokens in one pass. An unknown character becomes an issue, and lexing continues after it. */

import { codePointName } from "../../text/codePointName.ts"
import type { Report } from "../issues/Report.ts"
import {
  curlyQuotes,
  FULL_WIDTH_CLOSE,
  isAsciiAlphanumeric,
  isDigit,
  isInvisible,
  isOddSpace,
  isSpace,
  singleQuotes,
  startsKeyword
} from "./characters.ts"
import { limits } from "./operators.ts"
import { lexUnknown, lexWrongQuotes } from "./recovery.ts"
import { removal } from "./removal.ts"
import type { Token, TokenKind, ValueForm } from "./token.ts"

/** The last token always has the kind `end`. */
export const lex = (report: Report): ReadonlyArray<Token> => new Lexer(report).rule()

export class Lexer {
  readonly text: string
  readonly report: Report
  readonly tokens: Array<Token> = []
  at = 0
  /** The fixes of square and curly brackets that are not yet closed: closing a bracket extends its fix. */
  readonly brackets: Array<{ text: string }> = []
  /** A search for a closing single quote or bracket has failed, so later ones will too. This keeps lexing linear. */
  noSingleQuote = false
  private noBracket = false

  constructor(report: Report) {
    this.text = report.text
    this.report = report
  }

  rule(): ReadonlyArray<Token> {
    const { length } = this.text
    while (this.at < length) {
      const code = this.text.charCodeAt(this.at)
      if (isSpace(code)) {
        this.at++
        continue
      }
      if (this.tokens.length >= limits.maxTokens) {
        const message = `A rule has at most ${limits.maxTokens} words and signs`
        this.report.error("too-many-clauses", this.at, length, message)
        break
      }
      this.token(code)
    }
    this.push("end", length, length)
    return this.tokens
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

  /** The end of a word or bare value that continues at `from`. */
  wordEnd(from: number): number {
    let end = from
    while (end < this.text.length && !this.endsWord(this.text.charCodeAt(end))) {
      end++
    }
    return end
  }

  private token(code: number): void {
    const start = this.at
    if (code === 40) {
      this.at++
      this.push("open", start, this.at)
    } else if (code === 41) {
      this.at++
      this.push("close", start, this.at)
    } else if (code === 34) {
      this.phrase(start)
    } else if (code === 45) {
      this.at++
      this.push("minus", start, this.at)
    } else if (code === 35 || code === 64 || code === 36) {
      this.tag(start)
    } else if (startsKeyword(code)) {
      this.word(start)
    } else if (code === FULL_WIDTH_HASH) {
      this.report.error("wide-sign", start, start + 1, 'A hashtag begins with a plain "#"', {
        fix: this.report.fix('Write "#"', start, start + 1, "#")
      })
      this.tag(start)
    } else {
      lexUnknown(this, start, code)
    }
  }

  // phrase := '"' ( '\"' | any character but '"' )* '"' [ "~" digits ]
  private phrase(start: number): void {
    const { text } = this
    const close = this.closingQuote(start)
    if (close < 0) {
      this.unclosedQuote(start)
      this.at = text.length
      this.push("phrase", start, this.at, start + 1, this.at)
      return
    }
    this.at = close + 1
    const distance = text.charCodeAt(this.at) === 126 ? this.distance() : -1
    this.push("phrase", start, this.at, start + 1, close, -1, "quoted", false, -1, distance)
  }

  private distance(): number {
    const { text, report } = this
    const tilde = this.at
    let end = tilde + 1
    while (end < text.length && isDigit(text.charCodeAt(end))) {
      end++
    }
    this.at = end
    const { min, max } = limits.proximity
    const expected = [`~${min} to ~${max}`]
    if (end === tilde + 1) {
      const message = `"~" needs a whole number from ${min} to ${max} right after it`
      report.error("proximity-number", tilde, end, message, {
        expected,
        fix: report.fix('Remove "~"', tilde, end, "")
      })
      return -1
    }
    const distance = Number(text.slice(tilde + 1, end))
    if (distance < min || distance > max) {
      const found = `"${text.slice(tilde, Math.min(end, tilde + 20))}"`
      report.error("proximity-range", tilde, end, `Words can be ${min} to ${max} positions apart, not ${found}`, {
        expected,
        fix:
          distance < min
            ? report.fix('Remove "~0": a plain phrase has no distance', tilde, end, "")
            : report.fix(`Use the largest distance, ~${max}`, tilde, end, `~${max}`)
      })
      return max
    }
    return distance
  }

  // tag := ( "#" | "@" | "$" ) word
  private tag(start: number): void {
    const { text } = this
    let end = start + 1
    while (end < text.length && !this.endsTag(text.charCodeAt(end))) {
      end++
    }
    this.at = end
    if (end === start + 1) {
      const sign = text.slice(start, end)
      this.report.error("lone-sign", start, end, `"${sign}" needs a name right after it, without a space`, {
        expected: [`${sign}name`],
        fix: removal(this.report, `Remove "${sign}"`, start, end)
      })
      return
    }
    this.push("tag", start, end, start + 1, end)
  }

  // word := start-character { any but white space ( ) " : } ; operator := word ":" [ value ]
  private word(start: number): void {
    const { text } = this
    let plain = true
    let end = start
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end)
      if (isAsciiAlphanumeric(code)) {
        continue
      }
      if (code === 58) {
        this.operator(start, end)
        return
      }
      if (this.endsWord(code)) {
        break
      }
      plain = false
      this.checkInvisible(code, end)
    }
    this.at = end
    if (end - start === 2 && text.charCodeAt(start) === 79 && text.charCodeAt(start + 1) === 82) {
      this.push("or", start, end)
    } else {
      this.push("word", start, end, start, end, -1, "none", plain)
    }
  }

  // value := quoted | "[" any but "]" "]" | { any but white space ( ) " }
  private operator(start: number, colon: number): void {
    const { text } = this
    const from = colon + 1
    const char = text.charAt(from)
    if (char === '"') {
      const close = this.closingQuote(from)
      if (close < 0) {
        this.unclosedQuote(from)
      }
      this.at = close < 0 ? text.length : close + 1
      this.push("operator", start, this.at, from + 1, close < 0 ? this.at : close, colon, "quoted")
    } else if (char === "[") {
      this.bracketValue(start, colon)
    } else if (char !== "" && (singleQuotes.includes(char) || curlyQuotes.includes(char))) {
      const close = lexWrongQuotes(this, from)
      this.at = close < 0 ? this.wordEnd(from + 1) : close + 1
      this.push("operator", start, this.at, from + 1, close < 0 ? this.at : close, colon, "quoted")
    } else {
      this.bareValue(start, colon)
    }
  }

  private bareValue(start: number, colon: number): void {
    const { text } = this
    const from = colon + 1
    let plain = true
    let innerColon = -1
    let end = from
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end)
      if (isAsciiAlphanumeric(code)) {
        continue
      }
      if (this.endsWord(code)) {
        break
      }
      if (code === 58 && innerColon < 0) {
        innerColon = end
      }
      plain = false
      this.checkInvisible(code, end)
    }
    this.at = end
    this.push("operator", start, end, from, end, colon, end === from ? "none" : "bare", plain, innerColon)
  }

  private bracketValue(start: number, colon: number): void {
    const { text } = this
    const from = colon + 2
    const close = this.noBracket ? -1 : text.indexOf("]", from)
    this.noBracket = close < 0
    if (close >= 0) {
      this.at = close + 1
      this.push("operator", start, this.at, from, close, colon, "bracket")
      return
    }
    let end = from
    while (end < text.length && !'()"['.includes(text.charAt(end))) {
      end++
    }
    end = from + text.slice(from, end).trimEnd().length
    this.at = end
    this.report.error("unclosed-bracket", colon + 1, end, 'This "[" is never closed', {
      expected: ["]"],
      fix: this.report.fix('Add the missing "]"', end, end, "]")
    })
    this.push("operator", start, end, from, end, colon, "bracket")
  }

  /** White space, a parenthesis, a quote, or a bracket that closes an open one. */
  private endsWord(code: number): boolean {
    if (code < 128) {
      return (
        isSpace(code) ||
        code === 40 ||
        code === 41 ||
        code === 34 ||
        (this.brackets.length > 0 && (code === 93 || code === 125))
      )
    }
    return isOddSpace(code) || (this.brackets.length > 0 && code === FULL_WIDTH_CLOSE.charCodeAt(0))
  }

  private endsTag(code: number): boolean {
    return code === 35 || code === 64 || code === 36 || code === 58 || this.endsWord(code)
  }

  /** Offset of the quote that closes the one at `start`, or -1. A backslash escapes a quote. */
  private closingQuote(start: number): number {
    const { text } = this
    let close = text.indexOf('"', start + 1)
    while (close > start + 1 && text.charCodeAt(close - 1) === 92) {
      close = text.indexOf('"', close + 1)
    }
    return close
  }

  private unclosedQuote(start: number): void {
    const { text, report } = this
    const rest = text.slice(start + 1)
    const curly = rest.search(/[“”„]/)
    const fix =
      rest.trim() === ""
        ? report.fix("Remove the quote", start, text.length, "")
        : curly > 0
          ? report.fix("Close the quote", start + 1 + curly, start + 2 + curly, '"')
          : report.fix("Close the quote", text.trimEnd().length, text.length, '"')
    report.error("unclosed-quote", start, text.length, "This quote is never closed", { expected: ['"'], fix })
  }

  private checkInvisible(code: number, at: number): void {
    if (code > 127 && isInvisible(code)) {
      const message = `The invisible character ${codePointName(code)} is part of this word`
      const fix = this.report.fix("Remove the invisible character", at, at + 1, "")
      this.report.warning("invisible-character", at, at + 1, message, { fix })
    }
  }
}

// ---- helpers ----

/** From East Asian keyboards. */
const FULL_WIDTH_HASH = 0xff03
