/** Lexer error recovery: characters that no clause begins with, mostly syntax of other search languages. */

import { codePointName } from "../../text/codePointName.ts"
import { truncated } from "../../text/truncated.ts"
import type { Report } from "../issues/Report.ts"
import {
  curlyQuotes,
  FULL_WIDTH_CLOSE,
  FULL_WIDTH_OPEN,
  isDigit,
  isInvisible,
  isOddSpace,
  isSpace,
  singleQuotes
} from "./characters.ts"
import { removal } from "./removal.ts"
import type { Token, TokenKind } from "./token.ts"

/** The parts of the lexer that error recovery uses. */
export interface LexerState {
  readonly text: string
  readonly report: Report
  readonly tokens: ReadonlyArray<Token>
  at: number
  readonly brackets: Array<{ text: string }>
  noSingleQuote: boolean
  readonly push: (kind: TokenKind, start: number, end: number, valueStart?: number, valueEnd?: number) => void
  readonly wordEnd: (from: number) => number
}

/** Reports the character, and continues as if the intended one were there. */
export const lexUnknown = (lexer: LexerState, start: number, code: number): void => {
  const { text, report } = lexer
  const char = text.charAt(start)
  if (singleQuotes.includes(char) || curlyQuotes.includes(char)) {
    const close = lexWrongQuotes(lexer, start)
    lexer.at = close < 0 ? start + 1 : close + 1
    if (close >= 0) {
      lexer.push("phrase", start, lexer.at, start + 1, close)
    }
  } else if (char === "[" || char === "{" || char === FULL_WIDTH_OPEN) {
    lexer.at = start + 1
    openBracket(lexer, start)
  } else if (char === "]" || char === "}" || char === FULL_WIDTH_CLOSE) {
    lexer.at = start + 1
    closeBracket(lexer, start)
  } else if (char === "&" || char === "|" || char === "!" || char === "+" || dashes.includes(char)) {
    symbol(lexer, start, char)
  } else if (code === 58) {
    strayColon(lexer, start)
  } else if (isOddSpace(code)) {
    lexer.at = start + 1
    report.error("odd-space", start, lexer.at, `X does not accept ${codePointName(code)} as a space`, {
      fix: report.fix("Replace it with a plain space", start, lexer.at, " ")
    })
  } else if (isInvisible(code)) {
    lexer.at = start + 1
    const message = `A clause cannot begin with the invisible character ${codePointName(code)}`
    report.error("invisible-start", start, lexer.at, message, {
      fix: report.fix("Remove the invisible character", start, lexer.at, "")
    })
  } else {
    needsQuotes(lexer, start)
  }
}

/** Reports single or typographic quotes. Returns the offset of the closing one, or -1. */
export const lexWrongQuotes = (lexer: LexerState, start: number): number => {
  const { text, report } = lexer
  const single = singleQuotes.includes(text.charAt(start))
  const close = single ? closingSingle(lexer, start) : closingCurly(lexer, start)
  const code = single ? "single-quotes" : "curly-quotes"
  const kind = single ? "Single quotes" : "Typographic quotes"
  const edits = [start, close].map((at) => ({ start: at, end: at + 1, text: '"' }))
  report.error(code, start, start + 1, `${kind} do not make a phrase: use straight double quotes`, {
    expected: ['"'],
    fix:
      close < 0
        ? report.fix("Remove the quote", start, start + 1, "")
        : report.fixAll("Use straight double quotes", edits)
  })
  return close
}

// ---- helpers ----

const dashes = "–—−"

/** A quote inside a word is an apostrophe and does not close. */
function closingSingle(lexer: LexerState, start: number): number {
  const { text } = lexer
  if (lexer.noSingleQuote) {
    return -1
  }
  for (let i = start + 2; i < text.length; i++) {
    if (singleQuotes.includes(text.charAt(i))) {
      const next = i + 1 < text.length ? text.charCodeAt(i + 1) : 32
      if (isSpace(next) || next === 41 || next === 40) {
        return i
      }
    }
  }
  lexer.noSingleQuote = true
  return -1
}

function closingCurly(lexer: LexerState, start: number): number {
  const { text } = lexer
  for (let i = start + 1; i < text.length; i++) {
    if (curlyQuotes.includes(text.charAt(i)) || text.charCodeAt(i) === 34) {
      return i
    }
  }
  return -1
}

function openBracket(lexer: LexerState, start: number): void {
  const char = lexer.text.charAt(start)
  const fix = lexer.report.fix("Use parentheses", start, start + 1, "(")
  lexer.brackets.push(fix)
  const [code, message] =
    char === FULL_WIDTH_OPEN
      ? ["full-width-parentheses", `"${char}" is a full-width character, which does not group clauses: use ( and )`]
      : ["square-brackets", `"${char}" does not group clauses: use parentheses`]
  lexer.report.error(code, start, start + 1, message, { expected: ["("], fix })
  lexer.push("open", start, start + 1)
}

function closeBracket(lexer: LexerState, start: number): void {
  const fix = lexer.brackets.pop()
  if (fix === undefined) {
    const char = lexer.text.charAt(start)
    lexer.report.error("stray-character", start, start + 1, `This "${char}" closes nothing`, {
      fix: removal(lexer.report, `Remove "${char}"`, start, start + 1)
    })
    return
  }
  fix.text = `${fix.text.slice(0, start)})${fix.text.slice(start + 1)}`
  lexer.push("close", start, start + 1)
}

/** AND, OR and NOT of other languages. */
function symbol(lexer: LexerState, start: number, char: string): void {
  const { text, report } = lexer
  let end = start + 1
  while (text.charAt(end) === char) {
    end++
  }
  lexer.at = end
  const sign = text.slice(start, Math.min(end, start + 8))
  if (char === "&") {
    report.error("symbol-and", start, end, `"${sign}" does not join clauses: a space does`, {
      fix: removal(report, `Remove "${sign}"`, start, end)
    })
  } else if (char === "|") {
    report.error("symbol-or", start, end, `"${sign}" does not mean OR: write OR in capitals`, {
      expected: ["OR"],
      fix: report.fix('Write "OR"', start, end, spaced(lexer, "OR", start, end))
    })
    lexer.push("or", start, end)
  } else if (char === "+") {
    report.error("symbol-plus", start, end, `"${sign}" has no meaning: every clause is required already`, {
      fix: report.fix(`Remove "${sign}"`, start, end, "")
    })
  } else {
    report.error("symbol-not", start, end, `"${sign}" does not negate: write "-" right before the clause`, {
      expected: ["-"],
      fix: report.fix('Write "-"', start, end, "-")
    })
    lexer.push("minus", start, end)
  }
}

function spaced({ text }: LexerState, word: string, start: number, end: number): string {
  const before = start > 0 && !isSpace(text.charCodeAt(start - 1)) ? " " : ""
  const after = end < text.length && !isSpace(text.charCodeAt(end)) ? " " : ""
  return before + word + after
}

function strayColon(lexer: LexerState, start: number): void {
  const { text, tokens, report } = lexer
  lexer.at = start + 1
  let to = lexer.at
  while (to < text.length && isSpace(text.charCodeAt(to))) {
    to++
  }
  const before = tokens[tokens.length - 1]
  const isDetached = before !== undefined && before.kind === "word" && before.end < start
  report.error("stray-colon", start, start + 1, 'A colon must directly follow the name of an operator: "from:nasa"', {
    fix: isDetached
      ? report.fix("Remove the space around the colon", before.end, to, ":")
      : report.fix("Remove the colon", start, start + 1, " ")
  })
}

/** Drops punctuation without a word. A word that begins with punctuation is read as if it were quoted. */
function needsQuotes(lexer: LexerState, start: number): void {
  const { text, report } = lexer
  const end = lexer.wordEnd(start + 1)
  lexer.at = end
  const word = text.slice(start, end)
  const shown = truncated(word, 40)
  const before = text.slice(0, start).trimEnd()
  if (word.startsWith("~") && isDigit(word.charCodeAt(1)) && before.endsWith('"')) {
    report.error("stray-character", start, end, 'The distance must directly follow the closing quote: "a b"~3', {
      fix: report.fix("Remove the space", before.length, start, "")
    })
  } else if (/^[!-/:-@[-`{-~…·•]+$/.test(word)) {
    report.error("stray-character", start, end, `"${shown}" is not a clause`, {
      fix: removal(report, `Remove "${shown}"`, start, end)
    })
  } else {
    const first = String.fromCodePoint(word.codePointAt(0) ?? 0)
    report.error("keyword-start", start, end, `A keyword cannot begin with "${first}": put it in quotes`, {
      expected: [`"${shown}"`],
      fix: report.fix("Put it in quotes", start, end, `"${word}"`)
    })
    lexer.push("phrase", start, end, start, end)
  }
}
