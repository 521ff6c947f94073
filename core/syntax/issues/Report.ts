/** Collects the issues of one rule text, up to a limit, and verifies their fixes. Shared by both rule languages. */

import { nearest } from "../../text/nearest.ts"
import { describeOmitted, MAX_ISSUES } from "../../text/shownIssues.ts"
import type { Turns } from "../../work/turns.ts"
import { WorkBudget } from "../../work/WorkBudget.ts"
import type { Fix, Issue, Span } from "./issue.ts"

/** One replacement in the rule text. */
export interface Edit extends Span {
  readonly text: string
}

export interface Advice {
  readonly expected?: ReadonlyArray<string> | undefined
  readonly fix?: Fix | undefined
}

export interface ReportOptions {
  readonly maxPerSeverity?: number
  readonly hasSuggestions?: boolean
}

/** How much work the fixes of a check may take. */
export interface FixOptions {
  /** Which fixes are verified and kept. `first`: that of the first error, or else of the first warning, that has one. By default all. */
  readonly fixes?: "all" | "first" | "none"
  /** For verifying fixes: the text is checked once for each. By default 16,000 characters in all. */
  readonly budget?: WorkBudget
}

/** What is kept of an issue above the limit. */
export type Discarded = Pick<Issue, "severity" | "span">

export interface Limited {
  readonly issues: ReadonlyArray<Issue>
  /** How many others there are. Absent if there are none. */
  readonly omitted?: { readonly errors: number; readonly warnings: number }
}

export class Report {
  readonly text: string
  /** Issues above the limit. */
  readonly discarded: Array<Discarded> = []
  /** The counts include issues above the limit. */
  errors = 0
  warnings = 0
  /** The first ones of the text, in text order. */
  private readonly kept: Record<Issue["severity"], Array<Issue>> = { error: [], warning: [] }
  private readonly errorSpans = new SpanIndex()
  private readonly everywhere = new Map<string, Fix>()
  private readonly maxPerSeverity: number
  private suggestionsLeft: number

  /** Without suggestions, issues have the same codes and places. */
  constructor(text: string, { maxPerSeverity = MAX_ISSUES, hasSuggestions = true }: ReportOptions = {}) {
    this.text = text
    this.maxPerSeverity = maxPerSeverity
    this.suggestionsLeft = hasSuggestions ? 2 * maxPerSeverity : 0
  }

  /** Errors before warnings. Of each, those that come first in the text, in text order. */
  get found(): ReadonlyArray<Issue> {
    return [...this.kept.error, ...this.kept.warning]
  }

  error(code: string, start: number, end: number, message: string, advice?: Advice): void {
    const span = { start, end }
    this.keep(issueOf("error", code, span, message, advice))
    this.errorSpans.add(span)
    this.errors++
  }

  warning(code: string, start: number, end: number, message: string, advice?: Advice): void {
    this.keep(issueOf("warning", code, { start, end }, message, advice))
    this.warnings++
  }

  /** Some issues were discarded. */
  get overflowed(): boolean {
    return this.errors > this.maxPerSeverity || this.warnings > this.maxPerSeverity
  }

  hasErrorIn(start: number, end: number): boolean {
    return this.errorSpans.overlaps(start, end)
  }

  textOf({ start, end }: Span): string {
    return this.text.slice(start, end)
  }

  /** Replaces one range of the text. */
  fix(message: string, start: number, end: number, text: string): Fix {
    return this.fixAll(message, [{ start, end, text }])
  }

  /** The edits do not overlap. */
  fixAll(message: string, edits: ReadonlyArray<Edit>): Fix {
    let text = ""
    let at = 0
    for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
      text += this.text.slice(at, edit.start) + edit.text
      at = edit.end
    }
    return { message, text: text + this.text.slice(at) }
  }

  /** Replaces every occurrence. Made once per message: thousands of issues may share it. */
  fixEverywhere(message: string, pattern: RegExp, replacement: string | ((found: string) => string)): Fix {
    const replace = typeof replacement === "string" ? () => replacement : replacement
    const fix = this.everywhere.get(message) ?? { message, text: this.text.replace(pattern, replace) }
    this.everywhere.set(message, fix)
    return fix
  }

  /** The nearest known word. Not looked for after many others: each takes some work. */
  nearest(word: string, candidates: Iterable<string>): string | undefined {
    return this.suggestionsLeft-- > 0 ? nearest(word, candidates) : undefined
  }

  /** The parser and the checker each go through the text, so an issue may belong before those that are there. */
  private keep(issue: Issue): void {
    const kept = this.kept[issue.severity]
    kept.splice(kept.findLastIndex((other) => byPosition(other, issue) <= 0) + 1, 0, issue)
    const last = kept.length > this.maxPerSeverity ? kept.pop() : undefined
    if (last !== undefined) this.discarded.push({ severity: last.severity, span: last.span })
  }
}

/** At most `MAX_ISSUES` of those found, in text order. Errors take precedence over warnings. */
export const limited = (found: ReadonlyArray<Issue>, discarded: ReadonlyArray<Discarded>): Limited => {
  const shown = found.slice(0, MAX_ISSUES).sort(byPosition)
  const others = [...found.slice(MAX_ISSUES), ...discarded]
  if (others.length === 0) return { issues: shown }
  const errors = others.filter(isError).length
  return { issues: shown, omitted: { errors, warnings: others.length - errors } }
}

/** The issues as callers see them: the last one has the number of those that were left out. */
export const withOmitted = ({ issues, omitted }: Limited, text: string): ReadonlyArray<Issue> => {
  if (omitted === undefined) return issues
  const { errors, warnings } = omitted
  const span = { start: text.length, end: text.length }
  const severity = errors > 0 ? "error" : "warning"
  return [...issues, { severity, code: "more-issues", span, message: describeOmitted(errors + warnings) }]
}

export interface Verified {
  readonly issues: ReadonlyArray<Issue>
  /** Some fixes were dropped unverified. */
  readonly hasUnverifiedFixes?: true
}

/**
 * Drops each fix that does not remove an issue of its code, or that adds an error. `before` is compared with the issues
 * of the fixed text; if `checkAgain` cannot tell them, the fix is dropped unverified.
 */
export function* withValidFixesInTurns(
  { issues, before }: { readonly issues: ReadonlyArray<Issue>; readonly before: ReadonlyArray<Issue> },
  checkAgain: (fixed: string) => ReadonlyArray<Issue> | undefined,
  { fixes = "all", budget = new WorkBudget(MAX_VERIFIED) }: FixOptions
): Turns<Verified> {
  let isVerified = true
  const isValid = ({ fix, code }: Issue): boolean => {
    const after = fix !== undefined && budget.take(fix.text.length) ? checkAgain(fix.text) : undefined
    if (after === undefined) {
      isVerified = false
      return false
    }
    return (
      count(after, code) < count(before, code) &&
      after.every((issue) => issue.severity === "warning" || count(after, issue.code) <= count(before, issue.code))
    )
  }
  const fixable = fixes === "none" ? [] : errorsFirst(issues.filter(({ fix }) => fix !== undefined))
  const valid = new Set<Issue>()
  for (const issue of fixable) {
    yield
    if (isValid(issue)) valid.add(issue)
    if (fixes === "first" && valid.size > 0) break
  }
  const kept = issues.map((issue) => (valid.has(issue) ? issue : withoutFix(issue)))
  return isVerified ? { issues: kept } : { issues: kept, hasUnverifiedFixes: true }
}

/** In the order in which fixes are applied: the fix of a warning may no longer apply after that of an error. */
export const errorsFirst = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> => [
  ...issues.filter(isError),
  ...issues.filter((issue) => !isError(issue))
]

// ---- helpers ----

/** Finds overlaps without comparing all: there may be thousands of errors, and as many warnings in other places. */
class SpanIndex {
  /** The spans that touch a block of the text, or that one covers it. */
  private readonly blocks = new Map<number, Array<Span> | "covered">()

  /** Not in the blocks yet: a text that is far too long has one error, which covers most of it. */
  private readonly added: Array<Span> = []

  add(span: Span): void {
    this.added.push(span)
  }

  overlaps(start: number, end: number): boolean {
    for (const span of this.added.splice(0)) this.addToBlocks(span)
    const last = Math.max(start, end - 1) >> BLOCK_BITS
    for (let block = start >> BLOCK_BITS; block <= last; block++) {
      const spans = this.blocks.get(block) ?? []
      if (spans === "covered" || spans.some((span) => span.start < end && start < span.end)) return true
    }
    return false
  }

  private addToBlocks(span: Span): void {
    const last = Math.max(span.start, span.end - 1) >> BLOCK_BITS
    for (let block = span.start >> BLOCK_BITS; block <= last; block++) {
      const spans = this.blocks.get(block) ?? []
      if (spans === "covered") continue
      const isCovered = span.start <= block << BLOCK_BITS && span.end >= (block + 1) << BLOCK_BITS
      this.blocks.set(block, isCovered ? "covered" : [...spans, span])
    }
  }
}

/** Blocks of 64 characters. */
const BLOCK_BITS = 6

/** In characters, of all texts that are checked to verify the fixes of one. */
const MAX_VERIFIED = 16_000

const byPosition = (a: Issue, b: Issue): number => a.span.start - b.span.start || a.span.end - b.span.end

const isError = ({ severity }: Discarded): boolean => severity === "error"

const withoutFix = ({ fix: _, ...rest }: Issue): Issue => rest

const issueOf = (
  severity: "error" | "warning",
  code: string,
  span: Span,
  message: string,
  { expected, fix }: Advice = {}
): Issue => ({
  severity,
  code,
  span,
  message,
  ...(expected !== undefined && { expected }),
  ...(fix !== undefined && { fix })
})

const count = (issues: ReadonlyArray<Issue>, code: string): number =>
  issues.reduce((sum, issue) => sum + Number(issue.code === code), 0)
