/** Collects issues while a rule is read, and turns them into what the caller sees. */

import type { Fix, Issue } from "../issue.ts"
import { nearest } from "../nearest.ts"
import { limits } from "./operators.ts"

/** One replacement in the rule text. The edits of one mend do not overlap. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** How an issue can be mended, before anybody has seen whether the result is a better rule. */
export interface Mend {
  readonly message: string
  readonly edits: ReadonlyArray<Edit>
}

export interface Draft {
  readonly severity: "error" | "warning"
  readonly code: string
  readonly start: number
  readonly end: number
  readonly message: string
  readonly expected: ReadonlyArray<string> | undefined
  readonly mend: Mend | undefined
}

/** What goes with an issue beside its place and message. */
export interface Advice {
  readonly expected?: ReadonlyArray<string>
  readonly mend?: Mend
}

export class Report {
  readonly drafts: Array<Draft> = []
  errors = 0
  warnings = 0

  error(code: string, start: number, end: number, message: string, advice: Advice = none): void {
    if (this.errors++ < collected) {
      this.drafts.push({ severity: "error", code, start, end, message, expected: advice.expected, mend: advice.mend })
    }
  }

  warn(code: string, start: number, end: number, message: string, advice: Advice = none): void {
    if (this.warnings++ < collected) {
      this.drafts.push({ severity: "warning", code, start, end, message, expected: advice.expected, mend: advice.mend })
    }
  }

  /** The known word nearest to a misspelt one, as long as anybody will see the answer. */
  nearest(word: string, candidates: Iterable<string>): string | undefined {
    return this.errors < collected ? nearest(word, candidates) : undefined
  }

  /** Too many issues to tell whether a mend removes one. */
  get overflown(): boolean {
    return this.errors > collected || this.warnings > collected
  }
}

/**
 * The issues in the order of the text, errors first where not all can be kept. A fix is offered only if reading the
 * mended text again shows that this issue is gone and that no error is new.
 */
export const issuesOf = (text: string, report: Report, readAgain: (mended: string) => Report): ReadonlyArray<Issue> => {
  const kept = [...report.drafts].sort(byPlace)
  if (kept.length > limits.maxIssues) {
    kept.sort((a, b) => Number(b.severity === "error") - Number(a.severity === "error"))
    kept.length = limits.maxIssues
    kept.sort(byPlace)
  }
  const mendable = text.length <= longestMended && !report.overflown
  return kept.map((draft) => {
    const fix = mendable ? fixOf(text, draft, report, readAgain) : undefined
    return {
      severity: draft.severity,
      code: draft.code,
      span: { start: draft.start, end: draft.end },
      message: draft.message,
      ...(draft.expected !== undefined && { expected: draft.expected }),
      ...(fix !== undefined && { fix })
    }
  })
}

// ---- helpers ----

const none: Advice = {}

/** More than are shown, so that the count before and after a mend can be compared. */
const collected = 64

/** Beyond any platform limit, reading again for each fix is not worth its time. */
const longestMended = 4096

function byPlace(a: Draft, b: Draft): number {
  return a.start - b.start || a.end - b.end
}

function fixOf(text: string, draft: Draft, before: Report, readAgain: (mended: string) => Report): Fix | undefined {
  if (draft.mend === undefined) {
    return undefined
  }
  const mended = applyEdits(text, draft.mend.edits)
  const after = readAgain(mended)
  return improves(draft.code, before, after) ? { message: draft.mend.message, text: mended } : undefined
}

function improves(code: string, before: Report, after: Report): boolean {
  if (after.overflown || count(after, code) >= count(before, code)) {
    return false
  }
  return after.drafts.every(
    (draft) => draft.severity === "warning" || count(after, draft.code) <= count(before, draft.code)
  )
}

function count(report: Report, code: string): number {
  let found = 0
  for (const draft of report.drafts) {
    if (draft.code === code) {
      found++
    }
  }
  return found
}

function applyEdits(text: string, edits: ReadonlyArray<Edit>): string {
  let result = ""
  let at = 0
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}
