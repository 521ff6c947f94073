/** X's operator language: check a rule text, read it, write it back in canonical form, and say what it means. */
import type { Issue, Span } from "../issue.ts"
import type { XNode } from "./ast.ts"
import { checkTree } from "./checker.ts"
import { limits } from "./operators.ts"
import { parseTokens } from "./parser.ts"
import { issuesOf, Report } from "./report.ts"

export { lower } from "./lower.ts"
export { print } from "./printer.ts"

/** A rule that X accepts. `print(ast)` is its canonical text, `lower(ast)` its meaning. */
export interface Rule {
  readonly text: string
  readonly ast: XNode
}

export interface Checked {
  readonly issues: ReadonlyArray<Issue>
  /** Present if and only if no issue is an error. */
  readonly rule: Rule | undefined
}

export interface Options {
  /** In UTF-16 code units; 1,024 unless the plan allows more. */
  readonly maxLength?: number
}

/** Reads the text and applies every rule of the language. Never throws. */
export const check = (text: string, options: Options = {}): Checked => {
  const maxLength = options.maxLength ?? limits.maxLength
  const { report, ast } = examine(text, maxLength, true)
  return conclude(text, maxLength, report, ast, true)
}

/** Reads the text without asking whether X would run it: only the shape of the clauses is looked at. */
export const parse = (text: string, options: Options = {}): Checked => {
  const maxLength = options.maxLength ?? limits.maxLength
  const { report, ast } = examine(text, maxLength, false)
  return conclude(text, maxLength, report, ast, false)
}

/** The place as X reports it: UTF-16 code units, counted from 1. */
export const position = (span: Span): number => span.start + 1

// ---- helpers ----

const noIssues: ReadonlyArray<Issue> = []

interface Examined {
  readonly report: Report
  readonly ast: XNode | undefined
}

function examine(text: string, maxLength: number, whole: boolean): Examined {
  const report = new Report()
  if (text.length > maxLength) {
    const message = `A rule has at most ${maxLength} characters, this one has ${text.length}: shorten it or split it into several rules`
    report.error("too-long", maxLength, text.length, message, { expected: [`at most ${maxLength} characters`] })
    return { report, ast: undefined }
  }
  if (suspicious.test(text)) {
    unsendable(text, report)
  }
  const ast = parseTokens(text, report)
  if (ast !== undefined && whole) {
    checkTree(text, ast, report)
  }
  return { report, ast }
}

function conclude(text: string, maxLength: number, report: Report, ast: XNode | undefined, whole: boolean): Checked {
  const rule = report.errors === 0 && ast !== undefined ? { text, ast } : undefined
  if (report.drafts.length === 0) {
    return { issues: noIssues, rule }
  }
  const issues = issuesOf(text, report, (mended) => examine(mended, maxLength, whole).report)
  return { issues, rule }
}

/** Control characters other than white space, and halves of surrogate pairs (whole pairs too: told apart later). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const suspicious = /[\0-\x08\x0e-\x1f\x7f\ud800-\udfff]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const unsendableCharacter = /[\0-\x08\x0e-\x1f\x7f]|\p{Surrogate}/gu

function unsendable(text: string, report: Report): void {
  for (const found of text.matchAll(unsendableCharacter)) {
    const start = found.index
    const end = start + 1
    const mend = { message: "Remove the character", edits: [{ start, end, text: "" }] }
    const code = text.charCodeAt(start)
    if (code >= 0xd800) {
      report.error("half-character", start, end, "Half of a surrogate pair: the character is broken", { mend })
    } else {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`
      report.error("control-character", start, end, `The control character ${name} cannot be part of a rule`, { mend })
    }
  }
}
