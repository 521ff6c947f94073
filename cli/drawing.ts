/** Draws issues for a terminal: message, underlined span, expected tokens and fix. */
import type { Issue } from "../core/syntax/issues/issue.ts"
import { type Cell, cellsOf, ELLIPSIS, visible, widthOf } from "./terminal.ts"

/** Without colours. Control characters of the filter are made visible. */
export const draw = (text: string, issues: ReadonlyArray<Issue>): string =>
  issues.map((issue) => drawIssue(text, issue)).join("\n\n")

// ---- helpers ----

/** For the text of a filter, without the gutter. */
const MAX_COLUMNS = 76
/** Columns shown before the span in a truncated line. */
const MAX_COLUMNS_BEFORE = 24
const MAX_EXPECTED = 5

function drawIssue(text: string, issue: Issue): string {
  const line = lineAt(text, issue.span.start)
  const gutter = line.number === undefined ? " " : String(line.number)
  const blank = " ".repeat(gutter.length)
  const { shown, underline } = underlined(text, line, issue.span.start, issue.span.end)
  const drawing = [
    `${issue.severity}: ${visible(issue.message)}`,
    `${blank} |`,
    `${gutter} | ${shown}`.trimEnd(),
    `${blank} | ${underline}`
  ]
  if (issue.expected !== undefined && issue.expected.length > 0) {
    drawing.push(`${blank} = expected: ${visible(list(issue.expected))}`)
  }
  if (issue.fix !== undefined) {
    drawing.push(`${blank} = fix: ${visible(issue.fix.message)}`, `${blank} |   ${firstChange(text, issue.fix.text)}`)
  }
  return drawing.join("\n")
}

interface Line {
  readonly start: number
  readonly end: number
  /** Counted from 1; undefined if the filter has only one line. */
  readonly number: number | undefined
}

function lineAt(text: string, offset: number): Line {
  const start = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1
  const next = text.indexOf("\n", start)
  const end = next < 0 ? text.length : next
  if (start === 0 && next < 0) {
    return { start, end, number: undefined }
  }
  let number = 1
  for (let at = text.indexOf("\n"); at >= 0 && at < start; at = text.indexOf("\n", at + 1)) {
    number++
  }
  return { start, end, number }
}

function underlined(text: string, line: Line, start: number, end: number) {
  // Bounds the work for a very long line.
  const from = onBoundary(text, Math.max(line.start, start - 2 * MAX_COLUMNS))
  const cells = cellsOf(text, from, Math.min(line.end, start + 4 * MAX_COLUMNS))
  const lastCell = cells.at(-1)
  const isWhole = from === line.start && (lastCell?.end ?? line.end) === line.end
  const fits = isWhole && widthOf(cells) <= MAX_COLUMNS
  const before = cells.filter((cell) => cell.end <= start)
  const cutBefore = fits ? 0 : firstShown(before)
  const isCutBefore = cutBefore > 0 || from > line.start
  let width = isCutBefore ? 1 : 0
  let shown = isCutBefore ? ELLIPSIS : ""
  let padding = width
  let marked = 0
  let isCutAfter = false
  for (const cell of cells.slice(cutBefore)) {
    if (!fits && width + cell.width > MAX_COLUMNS - 1) {
      isCutAfter = true
      break
    }
    shown += cell.shown
    width += cell.width
    if (cell.end <= start) {
      padding += cell.width
    } else if (cell.start < end) {
      marked += cell.width
    }
  }
  if (isCutAfter || (lastCell !== undefined && lastCell.end < line.end)) {
    shown += ELLIPSIS
  }
  return { shown, underline: " ".repeat(padding) + "^".repeat(Math.max(1, marked)) }
}

/** Index of the first cell to show before the span. */
function firstShown(before: ReadonlyArray<Cell>): number {
  let width = 0
  for (let index = before.length - 1; index >= 0; index--) {
    width += before[index]?.width ?? 0
    if (width > MAX_COLUMNS_BEFORE) {
      return index + 1
    }
  }
  return 0
}

/** The fixed filter on one line, truncated around the first change. */
function firstChange(before: string, after: string): string {
  let same = 0
  while (same < before.length && same < after.length && before.charCodeAt(same) === after.charCodeAt(same)) {
    same++
  }
  const flat = after.replace(/\r?\n/g, " ")
  const offset = Math.min(same, flat.length)
  return underlined(flat, { start: 0, end: flat.length, number: undefined }, offset, offset).shown
}

function list(expected: ReadonlyArray<string>): string {
  const listed = expected.slice(0, MAX_EXPECTED).join(", ")
  return expected.length > MAX_EXPECTED ? `${listed} and ${expected.length - MAX_EXPECTED} more` : listed
}

/** Skips the second half of a surrogate pair. */
function onBoundary(text: string, offset: number): number {
  const code = text.charCodeAt(offset)
  return code >= 0xdc00 && code <= 0xdfff ? offset + 1 : offset
}
