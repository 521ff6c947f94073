/** Draws issues for a terminal: the message, the line of the rule with the place underlined, what was expected, the fix. */

import type { Issue } from "../core/syntax/issue.ts"
import { type Cell, cellsOf, visible, widthOf } from "./terminal.ts"

/** One drawing per issue, an empty line between them, no colours. Nothing of the rule can act on the terminal. */
export const draw = (text: string, issues: ReadonlyArray<Issue>): string =>
  issues.map((issue) => drawIssue(text, issue)).join("\n\n")

// ---- helpers ----

/** Columns for the text of a rule, beside the gutter. */
const columns = 76
/** How much of a cut line is shown before the place. */
const lead = 24
/** Names of what was expected that are listed before the rest is counted. */
const listed = 5

const ellipsis = "…"

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
    drawing.push(`${blank} = fix: ${visible(issue.fix.message)}`, `${blank} |   ${mended(text, issue.fix.text)}`)
  }
  return drawing.join("\n")
}

interface Line {
  readonly start: number
  readonly end: number
  /** Counted from 1; absent when the rule has one line only. */
  readonly number: number | undefined
}

function lineAt(text: string, place: number): Line {
  const start = place === 0 ? 0 : text.lastIndexOf("\n", place - 1) + 1
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
  // A line may be as long as the text: no more of it is looked at than a drawing can show.
  const from = onBoundary(text, Math.max(line.start, start - 2 * columns))
  const cells = cellsOf(text, from, Math.min(line.end, start + 4 * columns))
  const lastCell = cells.at(-1)
  const isWhole = from === line.start && (lastCell?.end ?? line.end) === line.end
  const fits = isWhole && widthOf(cells) <= columns
  const before = cells.filter((cell) => cell.end <= start)
  const cutBefore = fits ? 0 : firstShown(before)
  const isCutBefore = cutBefore > 0 || from > line.start
  let width = isCutBefore ? 1 : 0
  let shown = isCutBefore ? ellipsis : ""
  let padding = width
  let marked = 0
  let isCutAfter = false
  for (const cell of cells.slice(cutBefore)) {
    if (!fits && width + cell.width > columns - 1) {
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
    shown += ellipsis
  }
  return { shown, underline: " ".repeat(padding) + "^".repeat(Math.max(1, marked)) }
}

/** Index of the first cell that is shown of those before the place. */
function firstShown(before: ReadonlyArray<Cell>): number {
  let width = 0
  for (let index = before.length - 1; index >= 0; index--) {
    width += before[index]?.width ?? 0
    if (width > lead) {
      return index + 1
    }
  }
  return 0
}

/** The mended rule on one line, cut around the first change. */
function mended(before: string, after: string): string {
  let same = 0
  while (same < before.length && same < after.length && before.charCodeAt(same) === after.charCodeAt(same)) {
    same++
  }
  const flat = after.replace(/\r?\n/g, " ")
  const place = Math.min(same, flat.length)
  return underlined(flat, { start: 0, end: flat.length, number: undefined }, place, place).shown
}

function list(expected: ReadonlyArray<string>): string {
  const named = expected.slice(0, listed)
  const more = expected.length - named.length
  if (more > 0) {
    return `${named.join(", ")} and ${more} more`
  }
  return named.join(", ")
}

function onBoundary(text: string, place: number): number {
  const code = text.charCodeAt(place)
  return code >= 0xdc00 && code <= 0xdfff ? place + 1 : place
}
