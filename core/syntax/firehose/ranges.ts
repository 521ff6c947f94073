/** Parses a range: two ends with TO between them, in brackets or braces. */
import type { Span } from "../issues/issue.ts"
import type { Report } from "../issues/Report.ts"
import type { FieldRef, RangeEnd } from "./ast.ts"
import { resolve } from "./escapes.ts"
import { isSpace } from "./lexer.ts"
import { unescapedEnd } from "./unescaped.ts"

export interface ParsedRange {
  /** `undefined` after an error. */
  readonly ends: { readonly from: RangeEnd | undefined; readonly to: RangeEnd | undefined } | undefined
  readonly includesFrom: boolean
  readonly includesTo: boolean
  /** Offset after the range. */
  readonly end: number
}

/** Range := ( "[" | "{" ) End "TO" End ( "]" | "}" ) */
export const readRange = (report: Report, ref: FieldRef | undefined, open: number): ParsedRange => {
  const { text } = report
  const from = rangeEnd(text, open + 1)
  const to = from === undefined ? undefined : rangeWord(text, from.end)
  const until = to === undefined || text.slice(to.start, to.end) !== "TO" ? undefined : rangeEnd(text, to.end)
  const close = until === undefined ? -1 : skipSpaces(text, until.end)
  const closeCode = close === -1 ? 0 : text.charCodeAt(close)
  if (from === undefined || until === undefined || (closeCode !== 0x5d && closeCode !== 0x7d)) {
    return { ends: undefined, includesFrom: true, includesTo: true, end: rejectRange(report, ref, open, until?.end) }
  }
  return {
    ends: { from: rangeValue(report, from), to: rangeValue(report, until) },
    includesFrom: text.charCodeAt(open) === 0x5b,
    includesTo: closeCode === 0x5d,
    end: close + 1
  }
}

// ---- helpers ----

const rejectRange = (report: Report, ref: FieldRef | undefined, open: number, complete: number | undefined): number => {
  const { text } = report
  const sign = text.charCodeAt(open) === 0x5b ? "]" : "}"
  const close = nearestClose(text, open + 1)
  if (close === -1) {
    const end = complete ?? unescapedEnd(text, open)
    report.error("unclosed-range", open, open + 1, `This "${text.charAt(open)}" opens a range that is never closed`, {
      expected: [sign],
      fix: complete === undefined ? undefined : report.fix("Close the range", complete, complete, sign)
    })
    return end
  }
  const inner = text.slice(open + 1, close).trim()
  const parts =
    /^([^\s]+)\s*(?:to|To|tO|-|\.\.|,|TO|AND|and)\s*([^\s]+)$/.exec(inner) ?? /^([^\s]+)\s+([^\s]+)$/.exec(inner)
  const fix =
    ref === undefined || parts === null
      ? undefined
      : report.fix("Write the two ends with TO between them", open + 1, close, `${parts[1]} TO ${parts[2]}`)
  report.error("bad-range", open, close + 1, 'A range is two values with an upper-case "TO" between them', {
    expected: ["[a TO b]", "{a TO b}", "[a TO *]"],
    fix
  })
  return close + 1
}

/** End := QUOTED | ( any but space, "]" and "}" )+ */
const rangeEnd = (text: string, from: number): Span | undefined => {
  const start = skipSpaces(text, from)
  if (text.charCodeAt(start) === 0x22) {
    let at = start + 1
    while (at < text.length && text.charCodeAt(at) !== 0x22) {
      at += text.charCodeAt(at) === 0x5c ? 2 : 1
    }
    if (at < text.length && at > start + 1) {
      return { start, end: at + 1 }
    }
  }
  return rangeWord(text, start)
}

const rangeWord = (text: string, from: number): Span | undefined => {
  const start = skipSpaces(text, from)
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isSpace(code) || code === 0x5d || code === 0x7d) break
    at++
  }
  return at === start ? undefined : { start, end: at }
}

const rangeValue = (report: Report, span: Span): RangeEnd | undefined => {
  const { start, end } = span
  if (report.text.charCodeAt(start) === 0x22 && report.text.charCodeAt(end - 1) === 0x22 && end - start > 2) {
    return { text: resolve(report, start + 1, end - 1, true), span }
  }
  const text = report.text.slice(start, end)
  return text === "*" ? undefined : { text: resolve(report, start, end, text.includes("\\")), span }
}

const skipSpaces = (text: string, from: number): number => {
  let at = from
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

/** The closing bracket of an invalid range; -1 if another bracket comes first. */
const nearestClose = (text: string, from: number): number => {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5d || code === 0x7d) return at
    if (code === 0x28 || code === 0x29 || code === 0x5b || code === 0x7b) return -1
  }
  return -1
}
