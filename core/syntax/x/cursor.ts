/** The parser's cursor over the tokens of a rule. */

import type { Report } from "../issues/Report.ts"
import type { Dialect } from "./Dialect.ts"
import { lex } from "./lexer.ts"
import type { Token } from "./token.ts"

export class Cursor {
  readonly text: string
  readonly report: Report
  readonly dialect: Dialect
  readonly tokens: ReadonlyArray<Token>
  at = 0
  private readonly last: Token

  constructor(report: Report, dialect: Dialect) {
    this.text = report.text
    this.report = report
    this.dialect = dialect
    this.tokens = lex(report)
    this.last = this.tokens[this.tokens.length - 1] ?? endToken
  }

  peek(): Token {
    return this.tokens[this.at] ?? this.last
  }

  take(): Token {
    const token = this.peek()
    this.at++
    return token
  }

  /** The token `back` positions before the next one. */
  before(back: number): Token | undefined {
    return this.tokens[this.at - back]
  }

  /** End offset of the last token taken. */
  consumed(): number {
    return this.tokens[this.at - 1]?.end ?? 0
  }

  slice(token: Token): string {
    return this.text.slice(token.start, token.end)
  }

  /** Content of a phrase, tag or value, unescaped. */
  content(token: Token): string {
    const text = this.text.slice(token.valueStart, token.valueEnd)
    return text.includes('\\"') ? text.replaceAll('\\"', '"') : text
  }

  /** Ignores the case of the token; `word` must be in lower case. */
  isWord(token: Token, word: string): boolean {
    return token.end - token.start === word.length && this.slice(token).toLowerCase() === word
  }
}

// ---- helpers ----

const endToken: Token = {
  kind: "end",
  start: 0,
  end: 0,
  colon: -1,
  valueStart: 0,
  valueEnd: 0,
  form: "none",
  plain: false,
  innerColon: -1,
  distance: -1
}
