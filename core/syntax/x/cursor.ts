/** The parser's place among the tokens of a rule. */
import { lex } from "./lexer.ts"
import type { Report } from "./report.ts"
import type { Token } from "./scanner.ts"

export class Cursor {
  readonly text: string
  readonly report: Report
  readonly tokens: ReadonlyArray<Token>
  /** The token that the lexer puts last. */
  private readonly last: Token
  at = 0

  constructor(text: string, report: Report) {
    this.text = text
    this.report = report
    this.tokens = lex(text, report)
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

  /** The token `back` places before the next one. */
  before(back: number): Token | undefined {
    return this.tokens[this.at - back]
  }

  /** End of what has been read so far. */
  consumed(): number {
    return this.tokens[this.at - 1]?.end ?? 0
  }

  slice(token: Token): string {
    return this.text.slice(token.start, token.end)
  }

  /** What a phrase, tag or value holds, without its signs and with escapes undone. */
  content(token: Token): string {
    const text = this.text.slice(token.valueStart, token.valueEnd)
    return text.includes('\\"') ? text.replaceAll('\\"', '"') : text
  }

  /** Whether the token is this word, given in lower case, in any case. */
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
