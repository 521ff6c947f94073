/** Lexer for Firehose rules, with the token rules of Lucene's classic query parser. */

export const END = 0
export const AND = 1
export const OR = 2
export const NOT = 3
export const PLUS = 4
export const MINUS = 5
/** `+`, `-` or `!` before a space: a word in Lucene. */
export const BARE_OPERATOR = 6
export const OPEN = 7
export const CLOSE = 8
export const COLON = 9
export const CARET = 10
export const TERM = 11
export const WILDCARD = 12
export const QUOTED = 13
export const REGEX = 14
export const TILDE = 15
export const RANGE = 16
export const STRAY = 17
export const UNCLOSED_QUOTE = 18
export const UNCLOSED_REGEX = 19

/** Holds the current token; `advance` moves to the next one. */
export class Lexer {
  readonly text: string
  kind = END
  start = 0
  end = 0
  /** The token contains a backslash. */
  escaped = false
  /** The token ends with a backslash at the end of the text. */
  dangling = false

  constructor(text: string) {
    this.text = text
    this.advance()
  }

  advance(): void {
    this.moveTo(this.end)
  }

  /** Reads the token at or after `position`. */
  moveTo(position: number): void {
    const text = this.text
    let at = position
    while (at < text.length && isSpace(text.charCodeAt(at))) at++
    this.start = at
    this.escaped = false
    this.dangling = false
    if (at >= text.length) {
      this.kind = END
      this.end = at
      return
    }
    const code = text.charCodeAt(at)
    switch (code) {
      case 0x28:
        this.single(OPEN)
        return
      case 0x29:
        this.single(CLOSE)
        return
      case 0x3a:
        this.single(COLON)
        return
      case 0x5e:
        this.single(CARET)
        return
      case 0x5b:
      case 0x7b:
        this.single(RANGE)
        return
      case 0x5d:
      case 0x7d:
        this.single(STRAY)
        return
      case 0x2b:
      case 0x2d:
      case 0x21:
        if (at + 1 < text.length && isSpace(text.charCodeAt(at + 1))) {
          this.single(BARE_OPERATOR)
        } else {
          this.single(code === 0x2b ? PLUS : code === 0x2d ? MINUS : NOT)
        }
        return
      case 0x22:
        this.quoted()
        return
      case 0x2f:
        this.regex()
        return
      case 0x7e:
        this.kind = TILDE
        this.end = this.termEnd(at + 1, false)
        return
      default:
        this.kind = TERM
        this.end = this.termEnd(at, true)
        if (!this.escaped && this.kind === TERM && this.end - at <= 3) {
          this.kind = wordKind(text, at, this.end)
        }
    }
  }

  private single(kind: number): void {
    this.kind = kind
    this.end = this.start + 1
  }

  /** TermChar := any character but space ! ( ) : ^ [ ] " { } ~ / | "\" any. A `*` or `?` makes it a wildcard. */
  private termEnd(from: number, wildcards: boolean): number {
    const text = this.text
    let at = from
    while (at < text.length) {
      const code = text.charCodeAt(at)
      const kind = code < 128 ? characterKinds[code] : code === 0x3000 ? SPACE : IN_TERM
      if (kind === IN_TERM) {
        at++
      } else if (kind === BACKSLASH) {
        this.escaped = true
        if (at + 1 >= text.length) {
          this.dangling = true
          return at + 1
        }
        at += 2
      } else if (kind === SIGN && wildcards) {
        this.kind = WILDCARD
        at++
      } else {
        break
      }
    }
    return at
  }

  /** Quoted := `"` ( any but `"` and `\` | "\" any )* `"` */
  private quoted(): void {
    const text = this.text
    let at = this.start + 1
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code === 0x22) {
        this.kind = QUOTED
        this.end = at + 1
        return
      }
      if (code === 0x5c) {
        this.escaped = true
        at++
      }
      at++
    }
    this.kind = UNCLOSED_QUOTE
    this.end = text.length
    this.dangling = at > text.length
  }

  /** Regex := `/` ( any but `/` | `\/` )* `/`, the longest match: a slash after a backslash does not close it. */
  private regex(): void {
    const text = this.text
    let close = text.indexOf("/", this.start + 1)
    let fallback = -1
    while (close !== -1 && text.charCodeAt(close - 1) === 0x5c) {
      let slashes = 1
      while (close - slashes > this.start + 1 && text.charCodeAt(close - 1 - slashes) === 0x5c) slashes++
      if (slashes % 2 === 0) {
        fallback = close
      }
      close = text.indexOf("/", close + 1)
    }
    if (close === -1) {
      if (fallback === -1) {
        this.kind = UNCLOSED_REGEX
        this.end = this.start + 1
        return
      }
      close = fallback
    }
    this.kind = REGEX
    this.end = close + 1
  }
}

/** Whitespace between tokens. Other Unicode spaces are part of words. */
export const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d || code === 0x3000

/** `from` moved back over whitespace. */
export const trimEnd = (text: string, from: number): number => {
  let at = Math.min(from, text.length)
  while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--
  return at
}

/** Characters that begin or end a token unless escaped. */
export const isSpecial = (code: number): boolean => code < 128 && (characterKinds[code] ?? IN_TERM) !== IN_TERM

// ---- helpers ----

const IN_TERM = 0
const SPACE = 1
const BACKSLASH = 2
const SIGN = 3
const SPECIAL = 4

const characterKinds = new Uint8Array(128)
for (const character of '!():^[]"{}~/') characterKinds[character.charCodeAt(0)] = SPECIAL
for (const character of " \t\n\r") characterKinds[character.charCodeAt(0)] = SPACE
characterKinds[0x5c] = BACKSLASH
characterKinds[0x2a] = SIGN
characterKinds[0x3f] = SIGN

const wordKind = (text: string, start: number, end: number): number => {
  const code = text.charCodeAt(start)
  if (end - start === 3) {
    if (code === 0x41 && text.charCodeAt(start + 1) === 0x4e && text.charCodeAt(start + 2) === 0x44) return AND
    if (code === 0x4e && text.charCodeAt(start + 1) === 0x4f && text.charCodeAt(start + 2) === 0x54) return NOT
    return TERM
  }
  if (end - start === 2) {
    const second = text.charCodeAt(start + 1)
    if ((code === 0x4f && second === 0x52) || (code === 0x7c && second === 0x7c)) return OR
    if (code === 0x26 && second === 0x26) return AND
  }
  return TERM
}
