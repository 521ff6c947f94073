/** Parses the suffixes of a value: `~` with a number, and `^` with a boost. */
import type { Span } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import { limits } from "./fields.ts"
import { CARET, type Lexer, TILDE } from "./lexer.ts"
import { quoted } from "./quoted.ts"

export interface Suffix {
  /** The `~` with its number; `undefined` if there is none. */
  readonly tilde: Span | undefined
  readonly end: number
}

/** Suffix := "~" … [ "^" NUMBER ] | "^" NUMBER [ "~" … ] */
export const readSuffix = (lexer: Lexer, report: Report, valueEnd: number): Suffix => {
  if (lexer.kind !== TILDE && lexer.kind !== CARET) {
    return { tilde: undefined, end: valueEnd }
  }
  let tilde: Span | undefined
  let end = valueEnd
  let hasBoost = false
  for (;;) {
    if (lexer.kind === TILDE && tilde === undefined) {
      tilde = { start: lexer.start, end: lexer.end }
      end = lexer.end
      lexer.advance()
    } else if (lexer.kind === CARET && !hasBoost) {
      hasBoost = true
      end = readBoost(lexer, report)
    } else {
      return { tilde, end }
    }
  }
}

/** Warns of a `~` after a value that does not support it. */
export const ignoreTilde = (report: Report, suffix: Suffix): void => {
  if (suffix.tilde !== undefined) {
    const { start, end } = suffix.tilde
    report.warning(
      "ignored-suffix",
      start,
      end,
      `${quoted(report.text.slice(start, end))} has no effect here: it applies to a single word or a phrase`,
      { fix: report.fix("Remove it", start, end, "") }
    )
  }
}

/** Rejects a `~` after a range or a group. */
export const rejectTilde = (report: Report, suffix: Suffix): void => {
  if (suffix.tilde !== undefined) {
    const { start, end } = suffix.tilde
    report.error("misplaced-tilde", start, end, 'A "~" is only valid after a single word or a phrase', {
      fix: report.fix("Remove it", start, end, "")
    })
  }
}

/** 0, 1 or 2 edits. A fraction is Lucene's old similarity, which depends on the length of the word. */
export const distanceOf = (report: Report, tilde: Span, word: string): 0 | 1 | 2 => {
  const text = report.text.slice(tilde.start + 1, tilde.end)
  if (text === "" || text === "2") return 2
  if (text === "0" || text === "1") return text === "0" ? 0 : 1
  const value = /^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : Number.NaN
  if (value > 2 && Number.isInteger(value)) {
    report.warning(
      "fuzzy-distance",
      tilde.start,
      tilde.end,
      "A fuzzy word allows at most two edits: this is read as ~2",
      { expected: ["~1", "~2"], fix: report.fix("Write ~2", tilde.start, tilde.end, "~2") }
    )
    return 2
  }
  if (value >= 0 && value < 1) {
    const edits = value === 0 ? 0 : Math.min(2, Math.floor((1 - value) * [...word].length))
    report.warning(
      "fuzzy-distance",
      tilde.start,
      tilde.end,
      `A similarity below 1 is an old form: for this word it is read as ~${edits}`,
      { expected: ["~1", "~2"], fix: report.fix(`Write ~${edits}`, tilde.start, tilde.end, `~${edits}`) }
    )
    return edits === 0 ? 0 : edits === 1 ? 1 : 2
  }
  if (value === 1 || value === 2) return value
  report.error(
    "fuzzy-distance",
    tilde.start,
    tilde.end,
    `${quoted(report.text.slice(tilde.start, tilde.end))} is not a distance: a fuzzy word takes ~, ~1 or ~2`,
    { expected: ["~", "~1", "~2"], fix: report.fix("Write ~1", tilde.start, tilde.end, "~1") }
  )
  return 2
}

/** Number of positions that the words of a phrase may move. */
export const slopOf = (report: Report, tilde: Span): number => {
  const text = report.text.slice(tilde.start + 1, tilde.end)
  const value = /^[0-9]{1,9}(\.[0-9]+)?$/.test(text) ? Math.floor(Number(text)) : Number.NaN
  if (value >= 0 && value <= limits.maxSlop) return value
  report.error(
    "phrase-slop",
    tilde.start,
    tilde.end,
    `${quoted(report.text.slice(tilde.start, tilde.end))} is not a slop: a phrase takes ~ and a whole number up to ${limits.maxSlop}`,
    {
      expected: ["~5"],
      fix:
        value > limits.maxSlop
          ? report.fix("Write the largest slop", tilde.start, tilde.end, `~${limits.maxSlop}`)
          : report.fix("Remove the slop", tilde.start, tilde.end, "")
    }
  )
  return 0
}

// ---- helpers ----

/** Boost := "^" digits [ "." digits ] */
const readBoost = (lexer: Lexer, report: Report): number => {
  const { text } = report
  const caret = lexer.start
  let at = digitsEnd(text, caret + 1)
  if (at === caret + 1) {
    lexer.advance()
    report.error("bad-boost", caret, caret + 1, 'A "^" needs a number right after it, such as ^2', {
      expected: ["a number"],
      fix: report.fix('Remove "^"', caret, caret + 1, "")
    })
    return caret + 1
  }
  if (text.charCodeAt(at) === 0x2e && digitsEnd(text, at + 1) > at + 1) {
    at = digitsEnd(text, at + 1)
  }
  report.warning(
    "boost-ignored",
    caret,
    at,
    "A boost affects only sorting, and matches are not sorted: it has no effect",
    { fix: report.fix("Remove the boost", caret, at, "") }
  )
  lexer.moveTo(at)
  return at
}

const digitsEnd = (text: string, from: number): number => {
  let at = from
  while (at < text.length && text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at++
  return at
}
