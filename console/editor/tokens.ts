/** Splits a filter into tokens to color. Never fails: what it does not know stays plain. */
import {
  AND,
  CARET,
  CLOSE,
  COLON,
  END,
  Lexer,
  MINUS,
  NOT,
  OPEN,
  OR,
  PLUS,
  QUOTED,
  RANGE,
  REGEX,
  STRAY,
  TERM,
  TILDE,
  UNCLOSED_QUOTE
} from "../../core/syntax/firehose/lexer.ts"

/** The style sheet has a color for each kind. */
export type TokenKind = "field" | "value" | "keyword" | "phrase" | "tag" | "sign"

/** A half-open range of the filter. */
export interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
}

/** Core's lexer of X carries the help of all operators, seven times the size of this. */
export const xTokens = (text: string): ReadonlyArray<Token> =>
  [...text.matchAll(X_TOKEN)].flatMap(({ index, groups = {} }) => {
    const [kind, found = ""] = Object.entries(groups).find(([, part]) => part !== undefined) ?? []
    if (kind === undefined) return []
    if (kind !== "field") return [{ kind: kind as TokenKind, start: index, end: index + found.length }]
    const colon = index + found.indexOf(":") + 1
    const field = { kind: "field" as const, start: index, end: colon }
    const end = index + found.length
    return end === colon ? [field] : [field, { kind: "value" as const, start: colon, end }]
  })

export const firehoseTokens = (text: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  const lexer = new Lexer(text)
  let hasField = false
  while (lexer.kind !== END) {
    const { kind, start } = lexer
    const end = kind === RANGE ? rangeEnd(text, lexer.end) : lexer.end
    lexer.moveTo(end)
    if (kind === TERM && lexer.kind === COLON && lexer.start === end) {
      tokens.push({ kind: "field", start, end: lexer.end })
      lexer.advance()
      hasField = true
      continue
    }
    const color = FIREHOSE_KINDS[kind] ?? (hasField ? "value" : undefined)
    if (color !== undefined) tokens.push({ kind: color, start, end })
    hasField = false
  }
  return tokens
}

// ---- helpers ----

/** In the order of precedence. The names of the groups are kinds. */
const X_TOKEN =
  /(?<phrase>"(?:\\"|[^"])*"?(?:~\d*)?)|(?<sign>[()]|(?<![^\s()])-)|(?<keyword>(?<![^\s()-])OR(?![^\s()]))|(?<field>(?<![^\s()-])[A-Za-z_]+:(?:"(?:\\"|[^"])*"?|\[[^\]]*\]?|[^\s()"]*))|(?<tag>(?<![^\s()-])[#@$][^\s()"#@$:]+)|[^\s()"]+/g

const FIREHOSE_KINDS: Readonly<Record<number, TokenKind>> = {
  [AND]: "keyword",
  [OR]: "keyword",
  [NOT]: "keyword",
  [PLUS]: "sign",
  [MINUS]: "sign",
  [OPEN]: "sign",
  [CLOSE]: "sign",
  [COLON]: "sign",
  [CARET]: "sign",
  [TILDE]: "sign",
  [STRAY]: "sign",
  [QUOTED]: "phrase",
  [UNCLOSED_QUOTE]: "phrase",
  [REGEX]: "value",
  [RANGE]: "value"
}

/** The lexer reads only the bracket that opens a range. */
const rangeEnd = (text: string, from: number): number => {
  const length = text.slice(from).search(/[\]}]/)
  return length === -1 ? text.length : from + length + 1
}
